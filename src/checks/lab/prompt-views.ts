import { firstDivergence } from '#checks/compare/index.ts';
import { rightPromptIds, servedPromptIds } from '#checks/laws/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { PromptView } from './result.ts';

const SHOWN = 96;

/**
 * The prompt as the tokenizer makes ids of it, and beside it what the engine got where that is another thing: the ids that
 * were sent (raw), or those that this release is known to make on the route.
 */
export function promptViews(t: Transcript, tokenizer: Tokenizer, profile: ReleaseProfile): readonly PromptView[] {
  const { request, route } = t.case;
  const right = rightPromptIds(tokenizer, request);
  const given = t.promptIds ?? servedPromptIds(request, route, tokenizer, profile);
  const alone = [view('as the tokenizer makes it', right, tokenizer)];
  if (firstDivergence(right, given) < 0) return alone;
  return [...alone, view(t.promptIds === undefined ? `as ${route} makes it` : 'as it was sent', given, tokenizer)];
}

function view(name: string, ids: ArrayLike<number>, tokenizer: Tokenizer): PromptView {
  const shown = Array.from(ids).slice(0, SHOWN);
  return { name, ids: shown, tokens: shown.map((id) => spell(id, tokenizer)), total: ids.length };
}

function spell(id: number, tokenizer: Tokenizer): string {
  const text = tokenizer.tokenText(id);
  if (text === undefined) return `<${id}?>`;
  if (tokenizer.specialIds.has(id)) return text;
  const decoded = tokenizer.decode([id]);
  return decoded.includes('\ufffd') ? `<${Buffer.from(tokenizer.tokenBytes(id) ?? []).toString('hex')}>` : decoded;
}
