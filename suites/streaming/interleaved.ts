import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { structural } from '#checks/lab/outcome.ts';
import { replayOf } from '#checks/lab/replay.ts';
import { requestOf } from '#checks/lab/plan.ts';
import type { Failure } from '#checks/lab/result.ts';
import { int32Values } from '#wire/protocol/tensors.ts';
import { bool, int32, raw } from '../protocol/requests.ts';
import { PlainGrpc, inferMessage } from '../protocol/wire.ts';

/** Several requests in flight on one gRPC stream, told apart by nothing but their ids. */
export const interleaved: Claim = {
  id: 'interleaved',
  suite: 'streaming',
  statement: 'Requests that share one gRPC stream keep their own ids, order and final flag.',
  routes: ['raw'],
  laws: ['request-id-echoed', 'final-flag-once', 'deltas-equal-whole'],
  async run(lab): Promise<Outcome> {
    const failures: Failure[] = [];
    const fail = (law: string, code: string, text: string) => failures.push({ law, code, text, replay: replayOf(lab, 'interleaved') });
    const requests = lab.plan.draw('interleaved', lab.count(8, 4)).map((p) => requestOf(p, { maxTokens: 12 }));
    const truths = await Promise.all(requests.map((r) => lab.truth(r)));
    using client = new PlainGrpc(lab.parts.endpoints, lab.parts.onLostEnd);
    const eos = [
      int32('end_id', [1, 1], [lab.tokenizer.eosId ?? -1]),
      int32('pad_id', [1, 1], [lab.tokenizer.padId ?? lab.tokenizer.eosId ?? 0]),
      bool('streaming', [1, 1], [true]),
    ];
    const reply = await client.stream(
      requests.map((r, i) => inferMessage(raw(truths[i]!.promptIds, r.limits.maxTokens, eos, { id: r.id }))),
      30_000,
    );
    if (reply.code !== 'OK') fail('framing', 'status', `the stream ended with ${reply.code} ${reply.details}`);
    for (const [i, r] of requests.entries()) {
      const own = reply.messages.filter((m) => m.id === r.id);
      const ids = own.flatMap((m) => {
        const at = m.outputs.findIndex((o) => o.name === 'output_ids');
        return at < 0 ? [] : Array.from(int32Values(m.raw[at]!));
      });
      const finals = own.filter((m) => m.final === true).length;
      if (finals !== 1) fail('final-flag-once', 'count', `${r.id} got ${finals} final flags`);
      if (ids.join() !== truths[i]!.ids.join()) fail('deltas-equal-whole', 'ids', `${r.id} got the ids ${ids}, alone ${truths[i]!.ids}`);
    }
    const strangers = reply.messages.filter((m) => !requests.some((r) => r.id === m.id));
    if (strangers.length > 0)
      fail(
        'request-id-echoed',
        'foreign-id',
        `${strangers.length} messages carry the id ${JSON.stringify(strangers[0]!.id)}, which no request had`,
      );
    return structural(requests.length, 'requests on one stream', failures);
  },
};
