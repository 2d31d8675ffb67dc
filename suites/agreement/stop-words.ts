import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { type Judged, judged } from '#checks/lab/judged.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed } from '#checks/lab/outcome.ts';
import { type PoolPrompt, requestOf } from '#checks/lab/plan.ts';
import { law } from '#checks/laws/index.ts';
import type { Request, Sampling } from '#core/request/index.ts';
import { besideEnsemble, notBoth } from './bls-and-ensemble.ts';
import { BLS } from './requests.ts';

const MAX_TOKENS = 24;
/** A phrase that no answer has. */
const NEVER_SAID = 'zq zq zq';
/** So many seeds are tried until an answer spells something in other tokens than the tokenizer would. */
const SEEDS = 8;

/**
 * Requests whose stop words are met in every way there is: by their ids, in the text alone by whole chunks, alone and
 * beside another word, and in the middle of a token. Chosen from the answers that the engine gives without stop words.
 */
export async function stopWordRequests(lab: Lab, p: PoolPrompt): Promise<Request[]> {
  const out: Request[] = [];
  const greedy = await lab.truth(requestOf(p, { maxTokens: MAX_TOKENS }));
  const asked = (kind: string, stopWords: readonly string[], sampling?: Sampling, suffix = '') =>
    out.push(requestOf(p, { maxTokens: MAX_TOKENS, stopWords }, `-${kind}${suffix}`, sampling));
  const token = greedy.ids.map((id) => lab.tokenizer.decode([id])).find((text, k) => k > 0 && isClean(text));
  if (token !== undefined) asked('by-ids', [token]);
  const long = greedy.ids.map((id) => lab.tokenizer.decode([id])).find((text, k) => k > 0 && isClean(text) && text.length > 3);
  if (long !== undefined) asked('inside-a-token', [long.slice(1, -1)]);
  for (let seed = 0; seed < SEEDS; seed++) {
    const sampling: Sampling = { kind: 'sampled', seed: 900 + seed, temperature: 4, topK: 100, topP: 0.99 };
    const { ids } = await lab.truth(requestOf(p, { maxTokens: MAX_TOKENS }, `-spelt-${seed}`, sampling));
    const phrase = otherwiseSpelt(lab, ids);
    if (phrase === undefined) continue;
    asked('by-chunks', [phrase], sampling, `-${seed}`);
    asked('second-word', [NEVER_SAID, phrase], sampling, `-${seed}`);
    break;
  }
  return out;
}

/** The text of two neighbours that the tokenizer would spell with other tokens. */
function otherwiseSpelt(lab: Lab, ids: readonly number[]): string | undefined {
  for (let k = 0; k + 1 < ids.length; k++) {
    const pair = ids.slice(k, k + 2);
    const text = lab.tokenizer.decode(pair);
    const canonical = lab.tokenizer.encode(text, { addSpecialTokens: false });
    if (isClean(text) && pair.every((id) => isClean(lab.tokenizer.decode([id]))) && canonical.join() !== pair.join()) return text;
  }
  return undefined;
}

const isClean = (text: string): boolean => text !== '' && !text.includes('\ufffd');

/** docs/observed.md#bls: the BLS looks for stop words in the text as well, in one way for streams and in another for the rest. */
export const stopWordsAlike: Claim = {
  id: 'stop-words-alike',
  suite: 'agreement',
  statement: 'Stop words end an answer in the same place through ensemble and BLS, streamed and not, however the answer spells them.',
  routes: [...BLS, 'ensemble'],
  laws: ['ends-alike', 'answers-at-all'],
  async run(lab): Promise<Outcome> {
    const why = notBoth(lab);
    if (why !== undefined) return notServed(why);
    const prompts = lab.plan.draw('stop-words', lab.count(3), (p) => p.eosAtOnce !== true && p.kind !== 'silence' && p.split !== true);
    const requests = (await inParallel(prompts, 2, (p) => stopWordRequests(lab, p))).flat();
    const asked = requests.flatMap((request) => lab.served(BLS).flatMap((route) => lab.modes.map((mode) => ({ request, route, mode }))));
    const cases: Judged[] = await inParallel(asked, 4, ({ request, route, mode }) => besideEnsemble(lab, request, route, mode));
    const spelt = requests.filter((r) => r.id.includes('-by-chunks')).length;
    const outcome = judged(lab, stopWordsAlike.id, cases, [law('ends-alike'), law('answers-at-all')], 'endings');
    const vacuum =
      spelt === 0 && lab.parts.only === undefined
        ? [
            {
              law: 'ends-alike',
              code: 'not-exercised',
              text: `no answer to ${prompts.length} prompts spells anything in other tokens than the tokenizer`,
            },
          ]
        : [];
    return {
      ...outcome,
      failures: [...outcome.failures, ...vacuum],
      notes: [...(outcome.notes ?? []), `${spelt} of ${requests.length} requests with a word that the answer spells in other tokens`],
    };
  },
};
