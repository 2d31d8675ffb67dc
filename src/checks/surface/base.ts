import type { ProbeContext } from './probe.ts';
import { spellings } from './spellings.ts';
import type { RouteId } from '#core/request/index.ts';
import type { Words } from './words.ts';

/** What every question on a route says, so that answers end at EOS and begin after the prompt as far as the route can say so. */
export function baseOf(route: RouteId, { tokenizer, profile }: ProbeContext): Words {
  switch (route) {
    case 'raw':
      return tokenizer.eosId === undefined ? { excludeInput: true } : { endId: tokenizer.eosId, excludeInput: true };
    case 'ensemble':
    case 'bls':
    case 'bls-accumulate':
    case 'generate':
      return profile.models.ensembleExcludeInput.value ? { excludeInput: true } : {};
    case 'llmapi':
      return { excludeInput: true };
    case 'openai-completions':
    case 'openai-chat':
      return {};
  }
}

/** Greedy, where saying nothing is not (docs/determinism.md#greedy). */
export function greedyOn(route: RouteId): Words {
  return route.startsWith('openai') ? { temperature: 0, topP: 0 } : {};
}

/** The words as far as tensorrt_llm has them. */
export function rawPart(words: Words, { profile }: ProbeContext): Words {
  const all = spellings(profile.models);
  return Object.fromEntries(Object.entries(words).filter(([word]) => all[word as keyof Words].names.tensorrt_llm !== undefined));
}
