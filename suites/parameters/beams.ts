/** Beams: what they are worth, and that others beside them change none. */
import type { Claim, Outcome } from '#checks/lab/claim.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed } from '#checks/lab/outcome.ts';
import { settled } from '#checks/lab/settled.ts';
import { int32 } from '../protocol/requests.ts';
import { draw, flag, Found, MAX_TOKENS, noiseOf } from './found.ts';
import { type AskRaw, logProbabilityOf, type RawAnswer, type RawReply, withRaw } from './raw-reply.ts';

/** Float32 sums of a few hundred terms. */
const SUM_TOLERANCE = 1e-4;

const beamWidth = (width: number) => int32('beam_width', [1, 1], [width]);

/** Asks for as many beams as the engine serves, at most four; below two there is nothing to ask. */
async function withBeams(lab: Lab, ask: (askRaw: AskRaw, width: number) => Promise<Outcome>): Promise<Outcome> {
  const width = Math.min(4, Number(lab.parts.rawParameters['max_beam_width'] ?? 1));
  return width < 2 ? notServed('max_beam_width of the engine is 1') : withRaw(lab, (askRaw) => ask(askRaw, width));
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
    withBeams(lab, async (askRaw, width) => {
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
    withBeams(lab, async (askRaw, width) => {
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

export const BEAM_CLAIMS: readonly Claim[] = [beamsTrue, beamsAmidOthers];
