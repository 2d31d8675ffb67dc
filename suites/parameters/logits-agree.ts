import type { Claim, Outcome } from '#checks/lab/claim.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { draw, flag, Found, MAX_TOKENS, noiseOf } from './found.ts';
import { logProbabilityOf, type RawReply, withRaw } from './raw-reply.ts';

const LAW_LOGITS = 'logits-agree';

/** Logits of the answer as it was generated against those of one pass over prompt and answer. */
export const logitsAgree: Claim = {
  id: 'logits-agree',
  suite: 'parameters',
  statement: 'The logits that each token was drawn from are those of one pass over prompt and answer.',
  routes: ['raw'],
  laws: [LAW_LOGITS],
  run: (lab) =>
    withRaw(lab, async (askRaw): Promise<Outcome> => {
      const found = new Found(lab, logitsAgree.id, LAW_LOGITS);
      let rows = 0;
      for (const { name, ids } of draw(lab, 'logits', 4)) {
        const [answer] = found.replies(await askRaw(ids, MAX_TOKENS, [flag('return_generation_logits')]), name) ?? [];
        const beam = answer?.ids[0];
        if (answer === undefined || beam === undefined) continue;
        const again = await askRaw([...ids, ...beam], 1, [flag('return_context_logits')]);
        const [whole] = found.replies(again, name) ?? [];
        if (whole === undefined) continue;
        found.cases++;
        const text = rowsFault(lab, ids.length, beam, answer, whole);
        if (text !== undefined) found.fail('rows-differ', `${name}: ${text}`);
        rows += beam.length;
      }
      found.notes.push(`${rows} rows`);
      return found.outcome('answers');
    }),
};

function rowsFault(lab: Lab, promptLength: number, ids: readonly number[], answer: RawReply, whole: RawReply): string | undefined {
  const { vocabSize } = lab.tokenizer;
  const { generationLogits: drawn, contextLogits: passed } = { ...answer, contextLogits: whole.contextLogits };
  if (passed.length !== promptLength + ids.length) return `${passed.length} context rows for ${promptLength + ids.length} tokens`;
  // The step that drew EOS has a row on some releases.
  if (drawn.length !== ids.length && drawn.length !== ids.length + 1) return `${drawn.length} generation rows for ${ids.length} ids`;
  for (const [i, id] of ids.entries()) {
    const [a, b] = [drawn[i]!, passed[promptLength + i - 1]!];
    if (a.length < vocabSize || a.length !== b.length)
      return `rows of ${a.length} and ${b.length} numbers, the vocabulary has ${vocabSize}`;
    const apart = Math.abs(logProbabilityOf(a, id) - logProbabilityOf(b, id));
    if (!(apart <= noiseOf(lab))) return `at token ${i} the two give its id log-probabilities that are ${apart} apart`;
  }
  return undefined;
}
