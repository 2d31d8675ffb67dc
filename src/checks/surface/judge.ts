/** What probes have in common when they look at replies. */
import { returnsPrompt } from '#checks/laws/index.ts';
import type { Given } from './reply.ts';
import type { Change } from './oracle.ts';
import type { Shown } from './probe.ts';

export function answerOf(r: Shown, name: string): Given | undefined {
  return r.replies[name]?.answers[0];
}

/** The text that the route serves for generated ids. */
export function servedText(
  { route, subject, tokenizer, profile }: Pick<Shown, 'route' | 'subject' | 'tokenizer' | 'profile'>,
  ids: readonly number[],
): string {
  return tokenizer.decode(returnsPrompt(route, profile) ? [...subject.ids, ...ids] : ids, { skipSpecialTokens: true });
}

/** The reply is the answer of these ids. */
export function gives(r: Shown, name: string, ids: readonly number[]): string | undefined {
  const given = answerOf(r, name);
  if (given === undefined) return `no answer came ${name} the parameter`;
  if (given.ids !== undefined) {
    if (!r.exact || given.ids.join() === ids.join()) return undefined;
    return `${name} the parameter the ids are [${given.ids.join(', ')}], expected [${ids.join(', ')}]`;
  }
  const text = servedText(r, ids);
  if (!r.exact || given.text === text) return undefined;
  return `${name} the parameter the text is ${JSON.stringify(given.text)}, expected ${JSON.stringify(text)}`;
}

export function ignored(r: Shown): boolean {
  const [before, after] = [answerOf(r, 'without'), answerOf(r, 'with')];
  return before !== undefined && after !== undefined && before.text === after.text && before.ids?.join() === after.ids?.join();
}

/**
 * The answer changes first where the oracle says, and to what it says. Ids are seen on raw; a text route must give the
 * text of what raw gave.
 */
export function changes(r: Shown, { at, id }: Change): string | undefined {
  if (ignored(r)) return IGNORED;
  if (!r.exact) return undefined;
  const ids = r.raw['with']?.answers[0]?.ids;
  if (ids === undefined) return undefined;
  if (r.route !== 'raw') return gives(r, 'with', ids);
  const { greedy } = r.subject;
  const same = greedy.slice(0, at).every((want, k) => ids[k] === want);
  const becomes = id === r.tokenizer.eosId ? ids.length === at : ids[at] === id;
  if (same && becomes) return undefined;
  return `the ids are [${ids.join(', ')}]; the parameter changes token ${at} of [${greedy.join(', ')}] to ${id}, and none before`;
}

export const IGNORED = 'the answer is the same with and without it';

/** A token of the answer that its own text stands for: written alone it is encoded to this one id. */
export function wordOf(id: number, { tokenizer }: Pick<Shown, 'tokenizer'>): string | undefined {
  if (tokenizer.specialIds.has(id)) return undefined;
  const word = tokenizer.decode([id], { skipSpecialTokens: true });
  const ids = tokenizer.encode(word, { addSpecialTokens: false });
  return ids.length === 1 && ids[0] === id ? word : undefined;
}
