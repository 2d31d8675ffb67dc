import { join } from 'node:path';
import { loadTokenizer, type StreamDecoder } from '#wire/tokenizer/index.ts';
import {
  ExecuteError,
  type Model,
  type ModelRequest,
  type ModelSetup,
  type ResponseSender,
  type StreamPosition,
  streamPosition,
} from '../core/index.ts';
import { bytesTensor, flagOf, int32Values, optional, parameterOf } from './values.ts';
import { outOfOrder } from './out-of-order.ts';

const BYTE_TOKEN = /^<0x[0-9A-F]{2}>$/;

/** After how many requests the stub of fault `health-200-dead-python-stub` is gone. */
export const STUB_DIES_AFTER = 40;

export interface PostprocessingOptions {
  readonly faults: ReadonlySet<string>;
  /** ModelsProfile.streamedTextHoldsBackPartialCharacters. */
  readonly holdsBackPartialCharacters: boolean;
}

/**
 * `postprocessing` of TensorRT-LLM 1.x (upstream
 * `triton_backend/all_models/inflight_batcher_llm/postprocessing/1/model.py`; docs/observed.md#model-repository-1-x).
 *
 * TOKENS_BATCH INT32 [batch, beams, n] and SEQUENCE_LENGTH INT32 [batch, beams] become OUTPUT BYTES
 * [batch × beams], without a batch dimension. Each chunk is decoded alone, so characters split over chunks become
 * U+FFFD, unless the profile holds them back. Faults: `im-end-in-output`, `stream-no-spaces-ensemble`, `leading-space-put-back`, `byte-tokens-spelt-out`,
 * `health-200-dead-python-stub`, `stream-reordered-postprocessing`, `stream-cjk-replacement-char`.
 */
export function postprocessing(setup: ModelSetup, options: PostprocessingOptions): Model {
  const { config, directory } = setup;
  const { faults } = options;
  const tokenizer = loadTokenizer(join(directory, parameterOf(config, 'tokenizer_dir') ?? '.'));
  const skipSpecialTokens = !faults.has('im-end-in-output') && flagOf(parameterOf(config, 'skip_special_tokens'), true);
  const losesLeadingSpace = faults.has('stream-no-spaces-ensemble');
  const putBack = faults.has('leading-space-put-back');
  const speltOut = faults.has('byte-tokens-spelt-out');
  const stubDies = faults.has('health-200-dead-python-stub');
  /** By request, then by answer of that request and line of its tensor. */
  const streams = new WeakMap<object, Map<string, StreamDecoder>>();
  const at = (line: number): string[] => [`${directory}/1/model.py(${line}): _postprocessing`, `${directory}/1/model.py(137): execute`];
  let requests = 0;

  const decodeWhole = (ids: readonly number[]): string => {
    // Fault byte-tokens-spelt-out: spellings joined, as a detokenizer does that knows the space mark and no bytes.
    if (speltOut && ids.some((id) => BYTE_TOKEN.test(tokenizer.tokenText(id) ?? ''))) {
      const shown = ids.filter((id) => !skipSpecialTokens || !tokenizer.specialIds.has(id));
      return shown
        .map((id) => (tokenizer.tokenText(id) ?? '').replaceAll('▁', ' '))
        .join('')
        .replace(/^ /, '');
    }
    const text = tokenizer.decode(ids, { skipSpecialTokens });
    // Fault leading-space-put-back: the first piece says whether there was one.
    return putBack && tokenizer.tokenText(ids[0] ?? -1)?.startsWith('▁') === true ? ` ${text}` : text;
  };

  const streamOf = ({ key, part }: StreamPosition, line: number): StreamDecoder => {
    let ofRequest = streams.get(key);
    if (ofRequest === undefined) streams.set(key, (ofRequest = new Map()));
    const name = `${part.index}/${line}`;
    let stream = ofRequest.get(name);
    if (stream === undefined) ofRequest.set(name, (stream = tokenizer.stream()));
    return stream;
  };

  const decode = (ids: readonly number[], line: number, request: ModelRequest): string => {
    // Fault stream-cjk-replacement-char: a release that holds characters back decodes each chunk alone again.
    const holdsBack = options.holdsBackPartialCharacters && !faults.has('stream-cjk-replacement-char');
    const position = holdsBack ? streamPosition(request) : undefined;
    if (position !== undefined) {
      const shown = skipSpecialTokens ? ids.filter((id) => !tokenizer.specialIds.has(id)) : ids;
      const stream = streamOf(position, line);
      return stream.push(shown) + (position.part.last ? stream.flush() : '');
    }
    const text = decodeWhole(ids);
    // Fault stream-no-spaces-ensemble: what SentencePiece does to the first piece of every list it decodes.
    return losesLeadingSpace && text.startsWith(' ') ? text.slice(1) : text;
  };

  const execute = (request: ModelRequest, sender: ResponseSender): void => {
    requests++;
    if (stubDies && requests > STUB_DIES_AFTER) {
      sender.sendError('INTERNAL', `Stub process '${config.name}_0_0' is not healthy.`, true);
      return;
    }
    const tokens = optional(request, 'TOKENS_BATCH');
    const lengths = optional(request, 'SEQUENCE_LENGTH');
    if (tokens === undefined || lengths === undefined) {
      throw new ExecuteError("AttributeError: 'NoneType' object has no attribute 'as_numpy'", at(120).slice(1));
    }
    const [batch = 0, beams = 0, n = 0] = tokens.shape;
    const ids = int32Values(tokens.data);
    const lengthsPerRow = lengths.shape[1] ?? 0;
    const lengthOf = int32Values(lengths.data);
    const texts: string[] = [];
    for (let b = 0; b < batch; b++) {
      for (let beam = 0; beam < beams; beam++) {
        if (beam >= lengthsPerRow) {
          throw new ExecuteError(`IndexError: index ${beam} is out of bounds for axis 0 with size ${lengthsPerRow}`, at(225));
        }
        const start = (b * beams + beam) * n;
        // A negative length counts from the end, as Python's tokens[:length] does.
        const row = Array.from(ids.subarray(start, start + n)).slice(0, lengthOf[b * lengthsPerRow + beam] ?? 0);
        if (row.some((id) => id < 0)) throw new ExecuteError('OverflowError: out of range integral type conversion attempted', at(228));
        texts.push(decode(row, b * beams + beam, request));
      }
    }
    sender.send([bytesTensor('OUTPUT', [texts.length], texts)], true);
  };
  return { execute: faults.has('stream-reordered-postprocessing') ? outOfOrder(execute) : execute };
}
