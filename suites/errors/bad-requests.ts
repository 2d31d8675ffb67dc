import type { Lab } from '#checks/lab/lab.ts';
import { bool, bytes, ensemble, int32, raw } from '../protocol/requests.ts';
import { instanceText } from '#core/profile/index.ts';
import type { RouteId } from '#core/request/index.ts';
import { type Infer, PlainGrpc, type StreamReply, inferMessage } from '../protocol/wire.ts';

export interface BadRequest {
  readonly name: string;
  readonly request: Infer;
  readonly text: RegExp;
  /** The way on which the good request after it is sent, where it may have blocked more than the engine; else raw. */
  readonly then?: RouteId;
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
    {
      name: 'a guide that is no grammar',
      request: raw([0, 4], 4, [
        bytes('guided_decoding_guide_type', [1, 1], ['json_schema']),
        bytes('guided_decoding_guide', [1, 1], ['{"type": ']),
      ]),
      // An engine with a decoder for guides refuses this one, any other every guide, and older models do not know the input.
      text: /guided|grammar|schema/i,
    },
    { name: 'an unknown model', request: { model: 'nope', inputs: [] }, text: /unknown model: 'nope'/ },
  ];
  if (length === undefined) notes.push(`a prompt of ${LONGEST} ids is not refused, so none is too long`);
  else rows.unshift({ name: 'a prompt over the limit', request: raw(idsOf(length), 4), text: OVER_LIMIT });
  rows.push(...blsRows(lab, length));
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

/**
 * A BLS tells of every error by the whole traceback of its Python, its own exception or that of a model it called at the
 * end; and the instance must be there for the next request (docs/observed.md#bls).
 */
function blsRows(lab: Lab, length: number | undefined): BadRequest[] {
  const [then] = lab.served(['bls', 'bls-accumulate']);
  if (then === undefined) return [];
  const model = then === 'bls' ? lab.models.bls : lab.models.blsAccumulate;
  const bls = (text: string, maxTokens: number): Infer => ({ ...ensemble(text, maxTokens), model });
  const traceback = (end: string) => new RegExp(`^Traceback \\(most recent call last\\):\\n.*${end}`, 's');
  const inner = 'c_python_backend_utils\\.TritonModelException: ';
  const rows: BadRequest[] = [
    {
      name: 'no token at all through the BLS',
      request: bls('x', 0),
      text: traceback('lib\\.decode\\.RequestValidationError: max_tokens must be a single value > 0\\n$'),
      then,
    },
    {
      name: 'text that is not UTF-8 through the BLS',
      request: { ...bls('', 4), inputs: [bytes('text_input', [1, 1], [Uint8Array.of(0x61, 0xff)]), int32('max_tokens', [1, 1], [4])] },
      text: traceback(
        `${inner}Failed to process the request\\(s\\) for ${instanceText(lab.profile.core, 'preprocessing')}, message: UnicodeDecodeError`,
      ),
      then,
    },
  ];
  if (length !== undefined)
    rows.push({
      name: 'a prompt over the limit through the BLS',
      request: bls('long '.repeat(length), 4),
      text: traceback(`${inner}.*Prompt length \\(\\d+\\) exceeds maximum input length \\(\\d+\\)`),
      then,
    });
  return rows;
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
  using client = new PlainGrpc(lab.parts.endpoints, lab.parts.onLostEnd);
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
