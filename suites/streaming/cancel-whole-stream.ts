import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { readGauges, untilIdle } from '#checks/lab/engine-gauges.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed, structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { replayOf } from '#checks/lab/replay.ts';
import { GAPS } from '#checks/laws/index.ts';
import { promptIds } from '#checks/routes/prompt.ts';
import type { Failure } from '#checks/lab/result.ts';
import { bool, raw } from '../protocol/requests.ts';
import { PlainGrpc, inferMessage } from '../protocol/wire.ts';
import { apartWhereDeadly } from './apart-where-deadly.ts';
import { leftBehind } from './cancellation.ts';

/** No more than any engine runs beside each other. */
const REQUESTS = 4;
/** On a busy machine all of them may be over before the client has left. */
const TRIES = 3;

/** A stream is what gRPC can cancel, never one request on it (docs/observed.md#triton-2-51). */
export const cancelWholeStream: Claim = {
  id: 'cancel-whole-stream',
  suite: 'streaming',
  statement: 'A gRPC cancel of a stream with four requests on it stops all four.',
  routes: ['raw'],
  laws: ['cancel-frees', 'server-survives'],
  // Servers of its own may have to start first.
  deadlineMs: 180_000,
  run: (lab) => apartWhereDeadly({ run }, lab, 'raw'),
};

async function run(lab: Lab): Promise<Outcome> {
  if (lab.served(['raw']).length === 0) return notServed(lab.parts.notServed.get('raw')!);
  if ((await readGauges(lab)) === undefined) return notServed('no nv_trt_llm_* metrics, so nothing is known about the engine');
  const tokens = lab.parts.budget.longTokens;
  const messages = lab.plan
    .draw('victims', REQUESTS)
    .map((p, i) => [...promptIds(requestOf(p, { maxTokens: tokens }).prompt, lab.tokenizer), 6 + i])
    .map((ids, i) => inferMessage(raw(ids, tokens, [bool('streaming', [1, 1], [true])], { id: `whole-stream-${i}` })));
  const failures: Failure[] = [];
  const fail = (code: string, text: string) =>
    failures.push({ law: 'cancel-frees', code, text, replay: replayOf(lab, cancelWholeStream.id) });
  const unknown = GAPS.find((gap) => gap.id === 'cancel-unknown-to-models' && gap.listed(lab.profile, 'raw'));
  for (let i = 0; i < TRIES; i++) {
    const start = await untilIdle(lab);
    using client = new PlainGrpc(lab.parts.endpoints);
    const { begun, cancel, reply } = client.open(messages, lab.parts.deadlineMs);
    await begun;
    cancel();
    const { code, messages: seen } = await reply;
    const after = await untilIdle(lab, 30_000);
    const steps = after.iteration - start.iteration;
    if (code !== 'CANCELLED') continue;
    const [error] = seen.flatMap((m) => (m.error === '' ? [] : [m.error]));
    if (error !== undefined) fail('error', `before the client left it got ${JSON.stringify(error)}`);
    const ranOn = steps > tokens * 0.9;
    if (ranOn && unknown === undefined)
      fail(
        'ran-on',
        `the client left after ${seen.length} of ${REQUESTS * tokens} tokens, but the engine made ${steps} steps for ${tokens} tokens each`,
      );
    for (const text of leftBehind(after)) fail('blocks-held', text);
    if (unknown === undefined) return structural(messages.length, 'requests cancelled together', failures);
    const { id, law, thread } = unknown;
    return structural(
      messages.length,
      'requests cancelled together',
      failures,
      ranOn ? { gaps: [{ id, law, thread, met: 1 }] } : { gapsGone: [id] },
    );
  }
  return structural(0, 'requests cancelled together', failures);
}
