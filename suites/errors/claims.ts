import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { compared } from '#checks/lab/compared.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { structural } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import type { Failure } from '#checks/lab/result.ts';
import { bool, bytes, ensemble, int32, raw, streaming } from '../protocol/requests.ts';
import { type Infer, PlainGrpc, inferMessage } from '../protocol/wire.ts';

interface BadRequest {
  readonly name: string;
  readonly request: (lab: Lab) => Infer;
  readonly text: RegExp;
}

/** More tokens than any engine of this suite takes; a target says in its configuration how many that are. */
const OVER_LIMIT = Array.from({ length: 600 }, (_, i) => 6 + (i % 200));

const BAD: readonly BadRequest[] = [
  {
    name: 'a prompt over the limit',
    request: () => raw(OVER_LIMIT, 4),
    text: /Prompt length \(\d+\) exceeds maximum input length \(\d+\)/,
  },
  {
    name: 'the same through the ensemble',
    request: () => ensemble('long '.repeat(700), 4),
    text: /^in ensemble 'ensemble', .*Prompt length \(\d+\) exceeds maximum input length \(\d+\)/s,
  },
  {
    name: 'stop without a request id',
    request: () => raw([1], 0, [bool('stop', [1, 1], [true])]),
    text: /request id must be provided for request cancellation/,
  },
  { name: 'more beams than the engine has', request: () => raw([0, 4], 4, [int32('beam_width', [1, 1], [7])]), text: /beam/ },
  {
    name: 'text that is not UTF-8',
    request: () =>
      ensemble('', 4, [], {
        inputs: [bytes('text_input', [1, 1], [Uint8Array.of(0x61, 0xff)]), int32('max_tokens', [1, 1], [4])],
      }),
    text: /UnicodeDecodeError/,
  },
  { name: 'an unknown model', request: () => ({ model: 'nope', inputs: [] }), text: /unknown model: 'nope'/ },
];

const badInputs: Claim = {
  id: 'bad-input',
  suite: 'errors',
  statement: 'A bad request gets its error, and the next good one its right answer, within the deadline.',
  routes: ['raw', 'ensemble'],
  laws: ['error-as-documented', 'answers-after-error'],
  async run(lab): Promise<Outcome> {
    const failures: Failure[] = [];
    const canary = requestOf(lab.plan.draw('canary', 1)[0]!, { maxTokens: 12 });
    const truth = await lab.truth(canary);
    for (const bad of BAD) {
      using client = new PlainGrpc(lab.parts.endpoints.grpc);
      const reply = await client.stream([inferMessage(bad.request(lab))], lab.parts.deadlineMs);
      const errors = reply.messages.map((m) => m.error).filter((e) => e !== '');
      if (!errors.some((e) => bad.text.test(e))) {
        failures.push({
          law: 'error-as-documented',
          code: 'other-reply',
          text: `${bad.name}: expected an error like ${bad.text}, got ${reply.code} ${JSON.stringify(errors[0] ?? reply.details)}`,
        });
      }
      const after = await lab.run({ request: canary, route: 'raw', mode: lab.mode, repeat: 0 });
      if (after.ending !== 'complete' || after.ids.join() !== truth.ids.join()) {
        failures.push({
          law: 'answers-after-error',
          code: 'no-answer',
          text: `after ${bad.name} the server no longer answers a good request: it ended as ${after.ending} with ${after.ids.length} ids`,
        });
        break;
      }
    }
    return structural(BAD.length, 'bad requests, each with a good one after it', failures);
  },
};

const neighbours: Claim = {
  id: 'bad-beside-good',
  suite: 'errors',
  statement: 'A bad request does not change the answers of the good ones beside it.',
  routes: ['raw'],
  laws: ['neighbours-unchanged'],
  async run(lab): Promise<Outcome> {
    // Long enough to be running still when the bad ones arrive.
    const good = lab.plan.draw('beside', lab.count(6)).map((p) => requestOf(p, { maxTokens: 150, minTokens: 150 }, '-long'));
    const truths = await Promise.all(good.map((r) => lab.truth(r)));
    using client = new PlainGrpc(lab.parts.endpoints.grpc);
    const running = good.map((request) => lab.run({ request, route: 'raw', mode: lab.mode, repeat: 0 }));
    await client.stream(
      BAD.map((bad, i) => ({ ...(inferMessage(bad.request(lab)) as object), ...(bad.name.startsWith('stop') ? {} : { id: `bad-${i}` }) })),
      lab.parts.deadlineMs,
    );
    const transcripts = await Promise.all(running);
    return compared(
      lab,
      neighbours.id,
      'neighbours-unchanged',
      transcripts.map((transcript, i) => ({ transcript, truth: truths[i]! })),
      'answers beside bad requests',
    );
  },
};

export const CLAIMS: readonly Claim[] = [badInputs, neighbours];
