import type { Lab } from '#checks/lab/lab.ts';
import { bool, bytes, ensemble, int32, raw } from '../protocol/requests.ts';
import { type Infer, PlainGrpc, type StreamReply, inferMessage } from '../protocol/wire.ts';

export interface BadRequest {
  readonly name: string;
  readonly request: Infer;
  readonly text: RegExp;
}

export interface BadRequests {
  readonly rows: readonly BadRequest[];
  /** What was left out, and why. */
  readonly notes: readonly string[];
}

/** What the target must refuse, as far as it has the model and the limit in question. */
export async function badRequests(lab: Lab): Promise<BadRequests> {
  const length = await tooLong(lab);
  const notes: string[] = [];
  const rows: BadRequest[] = [
    {
      name: 'stop without a request id',
      request: raw([1], 0, [bool('stop', [1, 1], [true])]),
      text: /request id must be provided for request cancellation/,
    },
    { name: 'more beams than the engine has', request: raw([0, 4], 4, [int32('beam_width', [1, 1], [7])]), text: /beam/ },
    { name: 'an unknown model', request: { model: 'nope', inputs: [] }, text: /unknown model: 'nope'/ },
  ];
  if (length === undefined) notes.push(`a prompt of ${LONGEST} ids is not refused, so none is too long`);
  else rows.unshift({ name: 'a prompt over the limit', request: raw(idsOf(length), 4), text: OVER_LIMIT });
  if (lab.served(['ensemble']).length === 0) return { rows, notes: [...notes, lab.parts.notServed.get('ensemble')!] };
  if (length !== undefined)
    rows.push({
      name: 'the same through the ensemble',
      // A word is at least one token.
      request: ensemble('long '.repeat(length), 4),
      text: /^in ensemble 'ensemble', .*Prompt length \(\d+\) exceeds maximum input length \(\d+\)/s,
    });
  rows.push({
    name: 'text that is not UTF-8',
    request: ensemble('', 4, [], {
      inputs: [bytes('text_input', [1, 1], [Uint8Array.of(0x61, 0xff)]), int32('max_tokens', [1, 1], [4])],
    }),
    text: /UnicodeDecodeError/,
  });
  return { rows, notes };
}

const OVER_LIMIT = /Prompt length \(\d+\) exceeds maximum input length \(\d+\)/;

/** Where the configuration names no limit, prompts are doubled from here … */
const FIRST_TRY = 1024;
/** … to here, which is more than engines are built for today; a longer one would be a test of the transport. */
const LONGEST = 262_144;

/** A number of ids that the engine refuses; undefined when none was found. */
async function tooLong(lab: Lab): Promise<number | undefined> {
  for (const name of ['max_input_len', 'max_seq_len']) {
    const limit = Number(lab.parts.rawParameters[name]);
    if (Number.isInteger(limit) && limit > 0) return limit + 1;
  }
  using client = new PlainGrpc(lab.parts.endpoints.grpc);
  for (let length = FIRST_TRY; length <= LONGEST; length *= 2) {
    const reply = await client.stream([inferMessage(raw(idsOf(length), 1))], lab.parts.deadlineMs);
    if (errorsOf(reply).some((e) => OVER_LIMIT.test(e))) return length;
    if (reply.code !== 'OK') return undefined;
  }
  return undefined;
}

/** Ordinary ids of any vocabulary: the first few are often control tokens. */
function idsOf(length: number): number[] {
  return Array.from({ length }, (_, i) => 6 + (i % 200));
}

/** Undefined when the reply is the error that belongs to the request. */
export function refusal(bad: BadRequest, reply: StreamReply): string | undefined {
  const errors = errorsOf(reply);
  if (errors.some((e) => bad.text.test(e))) return undefined;
  return `${bad.name}: expected an error like ${bad.text}, got ${reply.code} ${JSON.stringify(errors[0] ?? reply.details)}`;
}

function errorsOf(reply: StreamReply): string[] {
  return reply.messages.map((m) => m.error).filter((e) => e !== '');
}
