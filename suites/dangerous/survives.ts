import { failsUnder } from '#checks/compare/index.ts';
import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { replayOf } from '#checks/lab/replay.ts';
import type { Failure } from '#checks/lab/result.ts';
import { LockstepError } from '#core/errors/index.ts';
import { type DangerousExchange, MISSED } from './types.ts';

/** A claim that the exchange hurts nobody: it gets a reply, the process lives, and a good request its right answer. */
export function survives(exchange: DangerousExchange): Claim {
  const { id, statement, known, thread, times, triesEach = 1, route = 'ensemble' } = exchange;
  return {
    id,
    suite: 'dangerous',
    statement,
    routes: [route],
    laws: ['server-survives', 'answers-after-error'],
    async run(lab): Promise<Outcome> {
      if (lab.served([route]).length === 0) return notServed(lab.parts.notServed.get(route)!);
      const lacks = exchange.unless?.(lab);
      if (lacks !== undefined) return notServed(lacks);
      const replay = replayOf(lab, id);
      const canary = requestOf(lab.plan.draw('canary', 1)[0]!, { maxTokens: 12 });
      const truth = await lab.truth(canary);
      const failures: Failure[] = [];
      let [n, missed] = [0, 0];
      while (n < times && missed <= times * (triesEach - 1) && failures.length === 0) {
        const seen = await exchange.send(lab, n + missed).catch((thrown: unknown) => LockstepError.from(thrown).message);
        if (seen === MISSED) {
          missed++;
          continue;
        }
        n++;
        // A connection that breaks off says that a server may be dying; it gets a moment to be gone.
        const health = await lab.healthSoon(seen !== undefined);
        if (!health.alive) {
          failures.push({
            law: 'server-survives',
            code: 'server-died',
            text: `after ${n} of them: ${health.detail} (known: ${known}; ${thread})`,
            replay,
          });
        } else if (seen !== undefined) {
          failures.push({ law: 'answers-after-error', code: 'no-reply', text: `${seen} (known: ${known}; ${thread})`, replay });
        } else {
          const after = await lab.run({ request: canary, route, mode: 'unary', repeat: n });
          const { verdict, text } = await lab.judge(after, truth);
          if (failsUnder(lab.policy, verdict))
            failures.push({
              law: 'answers-after-error',
              code: 'no-answer',
              text: `after ${n} of them a good request is not answered as before: ${text}`,
              replay,
            });
        }
      }
      return structural(n, 'exchanges, each with a good one after it', failures, {
        notes: missed > 0 ? [`${missed} missed their moment`] : [],
      });
    },
  };
}
