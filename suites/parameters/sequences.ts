/** Several answers to one request: beams, and sequences that are sampled apart; and the logits that they were drawn from. */
import type { Claim, Outcome } from '#checks/lab/claim.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { type PoolPrompt, requestOf } from '#checks/lab/plan.ts';
import { replayOf } from '#checks/lab/replay.ts';
import type { Failure } from '#checks/lab/result.ts';
import { settled } from '#checks/lab/settled.ts';
import { promptIds } from '#checks/routes/prompt.ts';
import { bool, int32 } from '../protocol/requests.ts';
import { fp32Tensor, uint64Tensor } from '#wire/protocol/tensors.ts';
import { type AskRaw, LACKING, logProbabilityOf, type RawAnswer, type RawReply, withRaw } from './raw-reply.ts';

const MAX_TOKENS = 12;
/** The largest change of a log-probability between honest runs that was measured: bf16 0.15, with cache reuse 0.16 (docs/determinism.md). */
const NUMERIC_NOISE = 0.2;
/** Float32 sums of a few hundred terms. */
const SUM_TOLERANCE = 1e-4;

/** Between float32 and anything finer (docs/observed.md#numerics), twice: both sides are served as float32. */
const EXACT_NOISE = 4e-5;
const noiseOf = (lab: Lab) => (lab.policy.id === 'exact' ? EXACT_NOISE : NUMERIC_NOISE);

const flag = (name: string) => bool(name, [1, 1], [true]);
const beamWidth = (width: number) => int32('beam_width', [1, 1], [width]);

interface Prompt {
  readonly name: string;
  readonly ids: readonly number[];
}

function draw(lab: Lab, label: string, count: number): Prompt[] {
  const asked = lab.plan.draw(label, lab.count(count), (p: PoolPrompt) => p.eosAtOnce !== true);
  return asked.map((p) => ({ name: p.name, ids: [...promptIds(requestOf(p, { maxTokens: MAX_TOKENS }).prompt, lab.tokenizer)] }));
}

/** Beams that the engine serves, at most four; below 2 there is nothing to ask. */
function widest(lab: Lab): number {
  return Math.min(4, Number(lab.parts.rawParameters['max_beam_width'] ?? 1));
}

const NO_BEAMS = 'max_beam_width of the engine is 1';

/** Collects what a claim finds; the first refusal by an engine that lacks the feature says that it is not served. */
class Found {
  readonly failures: Failure[] = [];
  readonly notes: string[] = [];
  cases = 0;
  lacking: string | undefined;
  readonly #lab: Lab;
  readonly #claim: string;
  readonly #law: string;

  constructor(lab: Lab, claim: string, law: string) {
    this.#lab = lab;
    this.#claim = claim;
    this.#law = law;
  }

  fail(code: string, text: string, law = this.#law): void {
    this.failures.push({ law, code, text, replay: replayOf(this.#lab, this.#claim) });
  }

  /** The replies, or undefined when there is nothing to judge. */
  replies({ replies, error }: RawAnswer, what: string): readonly RawReply[] | undefined {
    if (error === undefined && replies.length > 0) return replies;
    if (error !== undefined && LACKING.test(error)) this.lacking ??= error;
    else this.fail('no-answer', `${what}: ${error ?? 'no response with outputs'}`, 'answers-at-all');
    return undefined;
  }

  outcome(unit: string): Outcome {
    if (this.cases === 0 && this.failures.length === 0 && this.lacking !== undefined) return notServed(this.lacking);
    return structural(this.cases, unit, this.failures, { notes: this.notes });
  }
}

const LAW_BEAMS = 'beams-true';

/** Beams against what their own ids are worth: computed in one pass over prompt and beam, where no search takes part. */
const beamsTrue: Claim = {
  id: 'beams-true',
  suite: 'parameters',
  statement: 'Beams are distinct, best first, filled up with -1, and worth what their ids are worth when computed alone.',
  routes: ['raw'],
  laws: [LAW_BEAMS],
  run: (lab) =>
    withRaw(lab, async (askRaw): Promise<Outcome> => {
      const width = widest(lab);
      if (width < 2) return notServed(NO_BEAMS);
      const found = new Found(lab, beamsTrue.id, LAW_BEAMS);
      let rescored = 0;
      for (const { name, ids } of draw(lab, 'beams', 3)) {
        const answer = await askRaw(ids, MAX_TOKENS, [beamWidth(width), flag('return_log_probs')]);
        const [reply] = found.replies(answer, name) ?? [];
        if (reply === undefined) continue;
        found.cases++;
        const shape = shapeFault(reply, width);
        if (shape !== undefined) found.fail('shape', `${name}: ${shape}`);
        for (const [b, beam] of reply.ids.entries()) {
          const wrong = await worthFault(lab, askRaw, ids, reply, b);
          if (wrong === 'not served') continue;
          rescored += beam.length;
          if (wrong !== undefined) found.fail('worth', `${name}, beam ${b}: ${wrong}`);
        }
      }
      found.notes.push(rescored > 0 ? `${rescored} ids computed again` : 'context logits are not served, so no beam was computed again');
      return found.outcome(`searches of ${width} beams`);
    }),
};

function shapeFault({ ids, padded, lengths, cumLogProbs }: RawReply, width: number): string | undefined {
  if (ids.length !== width || lengths.length !== width) return `${ids.length} beams and ${lengths.length} lengths, expected ${width}`;
  const filled = padded.findIndex((row, b) => row.slice(lengths[b]).some((id) => id !== -1));
  if (filled >= 0) return `beam ${filled} has ids beyond its length`;
  if (new Set(ids.map(String)).size < width) return `only ${new Set(ids.map(String)).size} of ${width} beams are distinct`;
  // Without a length penalty, which is the default, the score is the cumulative log-probability.
  const rising = cumLogProbs.findIndex((value, b) => b > 0 && value > cumLogProbs[b - 1]!);
  return rising < 0 ? undefined : `beam ${rising} (${cumLogProbs[rising]}) is better than the one before it (${cumLogProbs[rising - 1]})`;
}

/** What is wrong with the log-probabilities of beam `b`, if anything. */
async function worthFault(lab: Lab, askRaw: AskRaw, prompt: readonly number[], reply: RawReply, b: number): Promise<string | undefined> {
  const beam = reply.ids[b]!;
  const { replies, error } = await askRaw([...prompt, ...beam], 1, [flag('return_context_logits')]);
  const rows = replies[0]?.contextLogits ?? [];
  if (error !== undefined || rows.length === 0) return 'not served';
  const eos = lab.tokenizer.eosId;
  const worth = beam.map((id, i) => logProbabilityOf(rows[prompt.length + i - 1]!, id));
  // A beam that is shorter than it might be was ended by EOS, which counts and is not told.
  const end = beam.length < MAX_TOKENS && eos !== undefined ? logProbabilityOf(rows.at(-1)!, eos) : 0;
  const served = reply.logProbs[b]!;
  const far = worth.findIndex((value, i) => !(Math.abs(value - (served[i] ?? NaN)) <= noiseOf(lab)));
  if (far >= 0) return `${served[far]} at token ${far}, where its ids give ${worth[far]}`;
  const sum = served.reduce((a, v) => a + v, 0) + end;
  const cum = reply.cumLogProbs[b]!;
  const tolerance = SUM_TOLERANCE * Math.max(1, Math.abs(sum)) + (end === 0 ? 0 : noiseOf(lab));
  return Math.abs(sum - cum) <= tolerance ? undefined : `the cumulative value is ${cum}, its log-probabilities add up to ${sum}`;
}

const LAW_AMID = 'beams-unchanged-amid-others';

/** Beams beside other beams and beside plain requests, which engines have mixed up or refused. */
const beamsAmidOthers: Claim = {
  id: 'beams-amid-others',
  suite: 'parameters',
  statement: 'Beams are as many and the same when other searches and plain requests run beside them, and so are the plain answers.',
  routes: ['raw'],
  laws: [LAW_AMID],
  run: (lab) =>
    withRaw(lab, async (askRaw): Promise<Outcome> => {
      const width = widest(lab);
      if (width < 2) return notServed(NO_BEAMS);
      const found = new Found(lab, beamsAmidOthers.id, LAW_AMID);
      const exact = lab.policy.id === 'exact';
      for (const { name, ids } of draw(lab, 'beams-amid', 3)) {
        const ask = (n: number) => askRaw(ids, MAX_TOKENS, [beamWidth(n)]);
        const widths = [width, 1, 2];
        const alone: RawAnswer[] = [];
        for (const n of widths) alone.push(await ask(n));
        const amid = await settled(widths.map(ask));
        for (const [i, n] of widths.entries()) {
          const [before] = found.replies(alone[i]!, `${name}, ${n} beams alone`) ?? [];
          const [after] = found.replies(amid[i]!, `${name}, ${n} beams beside others`) ?? [];
          if (before === undefined || after === undefined) continue;
          found.cases++;
          const count = (reply: RawReply) => new Set(reply.ids.map(String)).size;
          if (count(after) !== count(before))
            found.fail('fewer', `${name}: ${count(after)} distinct beams of ${n} beside others, ${count(before)} alone`);
          else if (exact && String(after.ids) !== String(before.ids))
            found.fail('others', `${name}: other beams of ${n} beside others than alone`);
        }
      }
      if (!exact) found.notes.push('ids are not compared, as they may flip here');
      return found.outcome('searches repeated amid others');
    }),
};

const SEQUENCES = 3;

/** num_return_sequences of a sampled request. */
const sequencesApart: Claim = {
  id: 'sequences-apart',
  suite: 'parameters',
  statement:
    'Several sequences of one request are sampled apart, repeat with its seed, and come each with its index, the flag on the last.',
  routes: ['raw'],
  laws: ['seed-decides', 'final-flag-once'],
  run: (lab) =>
    withRaw(lab, async (askRaw): Promise<Outcome> => {
      if (!lab.parts.decoupled) return notServed('several sequences are several responses, which needs the decoupled policy');
      const found = new Found(lab, sequencesApart.id, 'seed-decides');
      const prompts = draw(lab, 'sequences', 4);
      let distinct = 0;
      let repeated = 0;
      for (const { name, ids } of prompts) {
        const ask = () =>
          askRaw(ids, MAX_TOKENS, [
            int32('num_return_sequences', [1, 1], [SEQUENCES]),
            int32('runtime_top_k', [1, 1], [50]),
            fp32Tensor('temperature', [1, 1], [2]),
            uint64Tensor(lab.profile.models.seedTensor.value, [1, 1], [1000n]),
          ]);
        const runs = [found.replies(await ask(), name), found.replies(await ask(), name)];
        const sorted = runs.map((replies) => replies?.toSorted((a, b) => (a.sequenceIndex ?? -1) - (b.sequenceIndex ?? -1)));
        if (runs[0] === undefined || sorted[0] === undefined) continue;
        found.cases++;
        const indices = sorted[0].map((reply) => reply.sequenceIndex);
        if (String(indices) !== String(Array.from({ length: SEQUENCES }, (_, i) => i)))
          found.fail('indices', `${name}: sequence_index of the responses is ${indices.join()}`);
        const finals = runs[0].map((reply) => reply.final);
        if (finals.lastIndexOf(false) !== finals.length - 2)
          found.fail('count', `${name}: the flags of the responses are ${finals.join()}`, 'final-flag-once');
        distinct += new Set(sorted[0].map((reply) => String(reply.ids))).size;
        if (String(sorted[0].map((r) => r.ids)) === String(sorted[1]?.map((r) => r.ids))) repeated++;
      }
      if (found.cases > 0 && distinct <= found.cases) found.fail('seeds-ignored', `${SEQUENCES} sequences were one answer on every prompt`);
      // Near ties may turn on a noisy target, but not on every prompt.
      if (found.cases > 0 && repeated < (lab.policy.id === 'exact' ? found.cases : 1))
        found.fail('same-seed-differs', `only ${repeated} of ${found.cases} requests gave the same sequences a second time`);
      found.notes.push(`${distinct} distinct sequences`);
      return found.outcome(`requests of ${SEQUENCES} sequences`);
    }),
};

const LAW_LOGITS = 'logits-agree';

/** Logits of the answer as it was generated against those of one pass over prompt and answer. */
const logitsAgree: Claim = {
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

export const SEQUENCE_CLAIMS: readonly Claim[] = [beamsTrue, beamsAmidOthers, sequencesApart, logitsAgree];
