import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { type Compared, compared } from '#checks/lab/compared.ts';
import { unanswered } from '#checks/lab/compare-one.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import { structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { replayOf } from '#checks/lab/replay.ts';
import type { Failure } from '#checks/lab/result.ts';
import { settled } from '#checks/lab/settled.ts';
import { failsUnder } from '#checks/compare/index.ts';
import { nowNs } from '#core/clock/index.ts';
import { sleep } from '#core/deadline/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import { PlainGrpc, inferMessage } from '../protocol/wire.ts';
import { badRequests, refusal } from './bad-requests.ts';

const badInputs: Claim = {
  id: 'bad-input',
  suite: 'errors',
  statement: 'A bad request gets its error, and the next good one its right answer, within the deadline.',
  routes: ['raw', 'ensemble', 'bls'],
  laws: ['error-as-documented', 'answers-after-error'],
  async run(lab): Promise<Outcome> {
    const failures: Failure[] = [];
    const replay = replayOf(lab, badInputs.id);
    const canary = requestOf(lab.plan.draw('canary', 1)[0]!, { maxTokens: 12 });
    const truth = await lab.truth(canary);
    const { rows, notes } = await badRequests(lab);
    let flips = 0;
    for (const bad of rows) {
      using client = new PlainGrpc(lab.parts.endpoints, lab.parts.onLostEnd);
      const text = refusal(bad, await client.stream([inferMessage(bad.request)], lab.parts.deadlineMs));
      if (text !== undefined) failures.push({ law: 'error-as-documented', code: 'other-reply', text, replay });
      const after = await lab.run({ request: canary, route: bad.then ?? 'raw', mode: lab.mode, repeat: 0 });
      const comparison = await lab.judge(after, truth);
      if (failsUnder(lab.policy, comparison.verdict)) {
        failures.push({
          law: 'answers-after-error',
          code: 'no-answer',
          text: `after ${bad.name} the server no longer answers a good request as before: ${comparison.text}`,
          replay,
        });
        break;
      }
      if (comparison.verdict !== 'identical') flips++;
    }
    return structural(rows.length, 'bad requests, each with a good one after it', failures, {
      notes: [...notes, ...(flips > 0 ? [`${flips} flips that the policy forgives`] : [])],
    });
  },
};

/** Between two rounds of bad requests, so that the good ones get on. */
const PAUSE_MS = 25;

const neighbours: Claim = {
  id: 'bad-beside-good',
  suite: 'errors',
  statement: 'A bad request does not change the answers of the good ones beside it.',
  routes: ['raw'],
  laws: ['neighbours-unchanged', 'error-as-documented'],
  async run(lab): Promise<Outcome> {
    // Long enough to be running still when the bad ones arrive.
    const good = lab.plan.draw('beside', lab.count(6)).map((p) => requestOf(p, { maxTokens: 150, minTokens: 150 }, '-long'));
    const truths = await inParallel(good, 4, (r) => lab.truth(r));
    const { rows, notes } = await badRequests(lab);
    using client = new PlainGrpc(lab.parts.endpoints, lab.parts.onLostEnd);

    let running = good.length;
    const answers = good.map(async (request) => {
      const sentNs = nowNs();
      try {
        return { transcript: await lab.run({ request, route: 'raw', mode: lab.mode, repeat: 0 }), sentNs };
      } finally {
        running--;
      }
    });
    // Nobody says from outside when a stream gave its first event: rounds are sent for as long as any good one runs.
    const rounds: Round[] = [];
    const wrong = new Map<string, string>();
    const disturb = async (): Promise<void> => {
      while (running > 0) {
        const sentNs = nowNs();
        const replies = await settled(rows.map((bad) => client.stream([inferMessage(bad.request)], lab.parts.deadlineMs)));
        rounds.push({ sentNs, answeredNs: nowNs() });
        for (const [i, reply] of replies.entries()) {
          const text = refusal(rows[i]!, reply);
          if (text !== undefined) wrong.set(rows[i]!.name, text);
        }
        await sleep(PAUSE_MS);
      }
    };
    const [done] = await settled([settled(answers), disturb()]);

    const cases: Compared[] = [];
    let alone = 0;
    for (const [i, { transcript, sentNs }] of done.entries()) {
      // One that broke off counts whatever ran beside it.
      if (unanswered(transcript, lab) !== undefined || disturbed(transcript, sentNs, rounds)) cases.push({ transcript, truth: truths[i]! });
      else alone++;
    }
    const outcome = await compared(lab, neighbours.id, 'neighbours-unchanged', cases, 'answers beside bad requests', {
      notes: [...notes, `${rounds.length} rounds of ${rows.length}`, ...(alone > 0 ? [`${alone} ended before the bad ones did`] : [])],
    });
    const refused = [...wrong.values()].map((text): Failure => ({
      law: 'error-as-documented',
      code: 'other-reply',
      text,
      replay: replayOf(lab, neighbours.id),
    }));
    return { ...outcome, failures: [...outcome.failures, ...refused] };
  },
};

interface Round {
  readonly sentNs: number;
  readonly answeredNs: number;
}

/** Whether a whole round of bad requests fell between the first event of a stream (or, unstreamed, the request) and its end. */
function disturbed(t: Transcript, sentNs: number, rounds: readonly Round[]): boolean {
  const from = sentNs + (t.case.mode === 'stream' ? (t.atNs[0] ?? Number.POSITIVE_INFINITY) : 0);
  return rounds.some((r) => r.sentNs >= from && r.answeredNs <= sentNs + t.endedNs);
}

export const CLAIMS: readonly Claim[] = [badInputs, neighbours];
