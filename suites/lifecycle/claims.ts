import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { unanswered } from '#checks/lab/compare-one.ts';
import { NOT_DECOUPLED, notServed, structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { replayOf } from '#checks/lab/replay.ts';
import { pollUntil } from '#core/deadline/index.ts';
import type { Failure, GapCount } from '#checks/lab/result.ts';
import { LOST_STREAM_END } from '#checks/laws/index.ts';
import { COUNT, EMPTY_FINAL, ensemble, streaming } from '../protocol/requests.ts';
import { PlainGrpc, type StreamReply, http, inferMessage } from '../protocol/wire.ts';

const readyIsTrue: Claim = {
  id: 'ready-tells-the-truth',
  suite: 'lifecycle',
  statement: 'While the server says that it is ready, every model behind it answers.',
  routes: ['ensemble'],
  laws: ['ready-is-true'],
  async run(lab): Promise<Outcome> {
    if (lab.served(['ensemble']).length === 0) return notServed(lab.parts.notServed.get('ensemble')!);
    const failures: Failure[] = [];
    const prompts = lab.plan.draw('ready', lab.count(10, 6));
    let asked = 0;
    for (const p of prompts) {
      const ready = (await http(lab.parts.endpoints, { path: '/v2/health/ready' })).status === 200;
      if (!ready) continue;
      asked++;
      const t = await lab.run({ request: requestOf(p, { maxTokens: 8 }), route: 'ensemble', mode: lab.mode, repeat: 0 });
      const missing = unanswered(t, lab);
      if (missing !== undefined) {
        failures.push({
          law: 'ready-is-true',
          code: 'ready-but-dead',
          text: `/v2/health/ready says 200, yet ${missing.text}`,
          replay: replayOf(lab, readyIsTrue.id, t.case.request),
        });
        break;
      }
    }
    const never = prompts.length - asked;
    return structural(asked, 'answers while ready', failures, { notes: never > 0 ? [`${never} times it was not ready`] : [] });
  },
};

const unload: Claim = {
  id: 'unload-and-load',
  suite: 'lifecycle',
  statement: 'Unloading lets running answers end, refuses new ones by name, and a model loaded again answers as before.',
  routes: ['ensemble'],
  laws: ['repository-control'],
  ordinaryOnly: true,
  async run(lab): Promise<Outcome> {
    if (!lab.parts.decoupled) return notServed(NOT_DECOUPLED);
    if (lab.served(['ensemble']).length === 0) return notServed(lab.parts.notServed.get('ensemble')!);
    if (!lab.parts.owned) return notServed('this run did not start the target, so it may not unload its models');
    const failures: Failure[] = [];
    const gaps: GapCount[] = [];
    const fail = (code: string, text: string) => failures.push({ law: 'repository-control', code, text, replay: replayOf(lab, unload.id) });
    using client = new PlainGrpc(lab.parts.endpoints, lab.parts.onLostEnd);
    const canary = inferMessage(ensemble(COUNT, 24, [streaming], { parameters: EMPTY_FINAL }));
    const whole = await client.stream([canary]);
    if (whole.messages.some((m) => m.error !== '') || whole.messages.at(-1)?.final !== true)
      fail('no-answer', `before anything was unloaded the ensemble gave ${JSON.stringify(whole.messages.at(-1)?.error ?? whole.details)}`);
    const running = client.open([canary], 30_000);
    // An unload that overtakes the request would refuse it, and rightly.
    await running.begun;
    const unloaded = await client.call('RepositoryModelUnload', { model_name: 'ensemble' });
    try {
      if (unloaded.code !== 'OK') fail('unload', `unload gave ${unloaded.code} ${unloaded.details}`);
      const ended = await running.reply;
      if (!sameAnswer(ended, whole)) fail('cut', `the answer in flight ${differently(ended, whole)}`);
      let state: unknown;
      const index = await pollUntil({ ms: 10_000, everyMs: 20, what: 'the ensemble to be listed as UNAVAILABLE' }, async () => {
        const reply = await client.call('RepositoryIndex', {});
        const entry = reply.body?.models.find((m: { name: string }) => m.name === 'ensemble');
        state = entry?.state;
        return state === 'UNAVAILABLE' ? entry : undefined;
      }).catch((thrown: unknown) => {
        // To such a server a request of the ensemble whose stream it did not end, in whichever suite, is still in flight.
        if (state !== 'UNLOADING' || !LOST_STREAM_END.listed(lab.profile)) throw thrown;
        const { id, law, thread } = LOST_STREAM_END;
        gaps.push({ id, law, thread, met: 1 });
        return undefined;
      });
      if (index !== undefined && index.reason !== 'unloaded')
        fail('reason', `the index gives the reason ${JSON.stringify(index.reason)}, expected "unloaded"`);
      const refused = await client.stream([canary]);
      if (refused.messages[0]?.error !== "Request for unknown model: 'ensemble' has no available versions")
        fail('refusal', `a request to the unloaded model got ${JSON.stringify(refused.messages[0]?.error ?? refused.details)}`);
    } finally {
      const loaded = await client.call('RepositoryModelLoad', { model_name: 'ensemble' }, 30_000);
      if (loaded.code !== 'OK') fail('load', `load gave ${loaded.code} ${loaded.details}`);
    }
    const again = await client.stream([canary]);
    if (!sameAnswer(again, whole)) fail('after-load', `after loading again the ensemble ${differently(again, whole)}`);
    const unknown = await client.call('RepositoryModelLoad', { model_name: 'nope' });
    if (!/failed to load 'nope', failed to poll from model repository/.test(unknown.details))
      fail('load-unknown', `loading an unknown model gave ${unknown.code} ${unknown.details}`);
    const never = await client.call('RepositoryModelUnload', { model_name: 'nope' });
    if (never.code !== 'OK') fail('unload-unknown', `unloading an unknown model gave ${never.code} ${never.details}, expected OK`);
    return structural(5, 'steps of repository control', failures, { gaps });
  },
};

function sameAnswer(a: StreamReply, b: StreamReply): boolean {
  const text = (r: StreamReply) => Buffer.concat(r.messages.flatMap((m) => m.raw.filter((_, i) => m.outputs[i]?.name === 'text_output')));
  return a.messages.length === b.messages.length && a.messages.at(-1)?.final === true && text(a).equals(text(b));
}

function differently(a: StreamReply, whole: StreamReply): string {
  const count = `gave ${a.messages.length} of ${whole.messages.length} messages`;
  const error = a.messages.find((m) => m.error !== '')?.error ?? a.details;
  if (error !== '') return `${count}, then ${JSON.stringify(error)}`;
  return a.messages.length === whole.messages.length ? `${count}, with another text` : count;
}

export const CLAIMS: readonly Claim[] = [readyIsTrue, unload];
