import { randomUUID } from 'node:crypto';
import type { ModelsProfile } from '#core/profile/index.ts';
import type { CoreTensor, InferHandle, Model, ModelRequest, ModelSetup, ResponseSender } from '../core/index.ts';
import { BlsStopWords } from './bls-stop-words.ts';
import { engineInputs, handedOn, preprocessingInputs, stopInputs } from './bls-tensors.ts';
import { innerResponse, innerResponses, type InnerResponse } from './inner-call.ts';
import { PythonError, pythonTraceback } from './python-traceback.ts';
import { boolAt, bytesTensor, decodeBytesElements, int32At, int32Tensor, int32Values, optional, parameterOf } from './values.ts';

export interface BlsOptions {
  readonly profile: ModelsProfile;
  readonly faults: ReadonlySet<string>;
}

/** What an answer whose tokens are accumulated was so far: its ids, or its text where characters are held back. */
interface Told {
  readonly ids: readonly number[];
  readonly text: string;
}

/** Of fault finish-state-unknown-in-postproc: as many tokens its cache holds. */
const CACHED_TOKENS = 4;
/** Of fault bls-hangs-on-late-error: every so many-th request is one of which the engine sends an error late. */
const LATE_ERROR_EVERY = 7;

/**
 * `tensorrt_llm_bls` of TensorRT-LLM: preprocessing, tensorrt_llm and postprocessing called in turn from one Python loop
 * (upstream `triton_backend/all_models/inflight_batcher_llm/tensorrt_llm_bls/1/model.py`; docs/observed.md#bls).
 *
 * Each response of the engine becomes one with `text_output` BYTES [1] and final false; the end follows as a flag alone.
 * Not decoupled: one response, final. `accumulate_tokens` true and decoupled: the text of all tokens so far, for one beam
 * only. One request at a time per instance.
 *
 * Errors: INTERNAL with a Python traceback, final false, then the flag alone. Real servers before 25.04 never end a
 * stream of which the engine sends an error behind its first response; this one does, unless the fault
 * `bls-hangs-on-late-error` is on.
 */
export function bls(setup: ModelSetup, { faults, profile }: BlsOptions): Model {
  const { config, directory, exec } = setup;
  const decoupled = config.model_transaction_policy?.decoupled === true;
  const engine = parameterOf(config, 'tensorrt_llm_model_name') ?? 'tensorrt_llm';
  // Fault ensemble-vs-bls-differ: tokens are accumulated whatever the parameter says.
  const asked = /^(true|yes|1|t)$/i.test(parameterOf(config, 'accumulate_tokens') ?? '') || faults.has('ensemble-vs-bls-differ');
  const accumulates = asked && decoupled;
  const holdsBack = profile.streamedTextHoldsBackPartialCharacters.value;
  const drops = new Set([
    // Declared, and it goes nowhere in the releases that were seen.
    ...(profile.bls.forwardsSequences.value ? [] : ['num_return_sequences']),
    // Faults bls-drops-temperature, stop-words-inflight-only: the maps of names lack them.
    ...(faults.has('bls-drops-temperature') ? ['temperature'] : []),
    ...(faults.has('stop-words-inflight-only') ? ['stop_words'] : []),
  ]);
  const losesCharacters = accumulates && faults.has('stream-fffd-accumulate-mode');
  const passesCancel = profile.bls.passesCancel.value && !faults.has('bls-child-cancel-missing');
  const instances = instancesOf(config.instance_group.reduce((sum, group) => sum + group.count, 0));
  let requests = 0;

  /** The text of a response and, where tokens are accumulated, of all before it in the same answer. */
  const textOf = async (response: InnerResponse, told: Map<number, Told>, key: object): Promise<string[]> => {
    const { part } = response;
    const ids = tensorOf(response, 'output_ids');
    const lengths = tensorOf(response, 'sequence_length');
    const chunk = [
      { ...ids, name: 'TOKENS_BATCH' },
      { ...lengths, name: 'SEQUENCE_LENGTH' },
    ];
    const decode = async (inputs: readonly CoreTensor[]): Promise<string[]> => {
      const [output] = await innerResponse(exec, { model: 'postprocessing', id: '', inputs }, holdsBack ? { key, part } : undefined);
      return decodeBytesElements(output?.data ?? new Uint8Array()).map((text) => Buffer.from(text).toString('utf8'));
    };
    if (!accumulates) return decode(chunk);
    if (ids.shape[1] !== 1) throw new PythonError('Exception', 'Accumulation of tokens is only implemented for beam width = 1');
    const before = told.get(part.index) ?? { ids: [], text: '' };
    if (holdsBack) {
      const text = before.text + (await decode(chunk)).join('');
      told.set(part.index, { ...before, text });
      return [text];
    }
    // Fault finish-state-unknown-in-postproc: the cache is emptied when it is full, since nobody knows when an answer ends.
    const flushed = faults.has('finish-state-unknown-in-postproc') && before.ids.length >= CACHED_TOKENS;
    const all = [...(flushed ? [] : before.ids), ...int32Values(ids.data)];
    told.set(part.index, { ...before, ids: all });
    const texts = await decode([
      int32Tensor('TOKENS_BATCH', [1, 1, all.length], all),
      int32Tensor('SEQUENCE_LENGTH', [1, 1], [all.length]),
    ]);
    // Fault stream-fffd-accumulate-mode: broken bytes are decoded with errors ignored.
    return texts.map((text) => (losesCharacters ? text.replaceAll('\ufffd', '') : text));
  };

  async function* answers(request: ModelRequest): AsyncGenerator<CoreTensor[], void, undefined> {
    validate(request, profile);
    const id = profile.bls.innerRequestId.value === 'uuid' ? randomUUID() : '';
    const preprocessed = await innerResponse(exec, { model: 'preprocessing', id, inputs: preprocessingInputs(request, drops) });
    const stopWords = new BlsStopWords(profile.bls.textStopWords.value && !drops.has('stop_words') ? wordsOf(request) : []);
    const told = new Map<number, Told>();
    const key = {};
    const stopped = new Set<number>();
    const inputs = engineInputs(request, preprocessed, drops);
    const started = (handle: InferHandle): void => {
      if (passesCancel) request.onCancel(() => handle.cancel());
    };
    for await (const response of innerResponses(exec, { model: engine, id, inputs }, started)) {
      const row = int32Values(response.outputs.find(({ name }) => name === 'batch_index')?.data ?? new Uint8Array(4))[0] ?? 0;
      let texts = await textOf(response, told, key);
      if (stopped.has(row)) continue;
      const [text = ''] = texts;
      let ended: boolean;
      if (boolAt(request, 'stream', row)) ended = stopWords.endsStream(row, text);
      else {
        const cut = stopWords.cutWhole(row, text, boolAt(request, 'exclude_input_in_output', row) ? 0 : promptCharacters(request, row));
        ended = cut !== undefined;
        texts = [cut ?? text, ...texts.slice(1)];
      }
      if (ended) {
        stopped.add(row);
        if (stopped.size === request.batchSize)
          for await (const _ of innerResponses(exec, { model: engine, id, inputs: stopInputs() })) continue;
      }
      yield [bytesTensor('text_output', [texts.length], texts), ...handedOn(response.outputs)];
    }
  }

  const answer = async (request: ModelRequest, sender: ResponseSender): Promise<void> => {
    const hangs = faults.has('bls-hangs-on-late-error');
    const late = hangs && ++requests % LATE_ERROR_EVERY === 0;
    const held: CoreTensor[][] = [];
    let sent = 0;
    try {
      for await (const outputs of answers(request)) {
        if (late && sent > 0) throw new PythonError('RuntimeError', 'the engine failed');
        sent++;
        // Fault bls-not-streaming-at-all: the loop keeps the interpreter, and what it sends waits for it to end.
        if (faults.has('bls-not-streaming-at-all')) held.push(outputs);
        else sender.send(outputs, !decoupled);
      }
      for (const outputs of held) sender.send(outputs, !decoupled);
    } catch (thrown) {
      // Fault bls-hangs-on-late-error: an error behind the first response is never given to the loop that waits for it.
      if (hangs && sent > 0) await new Promise<never>(() => {});
      sender.sendError('INTERNAL', pythonTraceback(thrown, directory), !decoupled);
    }
    if (decoupled) sender.close();
  };

  return { execute: (request, sender) => instances(() => answer(request, sender)) };
}

/** Runs work on the first instance that is free, in order of arrival. */
function instancesOf(count: number): (work: () => Promise<void>) => void {
  const waiting: (() => Promise<void>)[] = [];
  let free = Math.max(1, count);
  const next = (): void => {
    const work = free > 0 ? waiting.shift() : undefined;
    if (work === undefined) return;
    free--;
    void work().finally(() => {
      free++;
      next();
    });
  };
  return (work) => {
    waiting.push(work);
    next();
  };
}

function validate(request: ModelRequest, profile: ModelsProfile): void {
  const refuse = (text: string): never => {
    throw new PythonError('lib.decode.RequestValidationError', text);
  };
  if ((optional(request, 'text_input')?.data.length ?? 0) === 0) refuse('text_input is required');
  // Older generations leave it to preprocessing, which is refused for a missing input.
  if (profile.bls.checksMaxTokens.value && (int32At(request, 'max_tokens', 0) ?? 0) <= 0) refuse('max_tokens must be a single value > 0');
}

function tensorOf({ outputs }: InnerResponse, name: string): CoreTensor {
  const tensor = outputs.find((output) => output.name === name);
  if (tensor === undefined) throw new PythonError('KeyError', `'${name}'`);
  return tensor;
}

function wordsOf(request: ModelRequest): string[][] {
  const tensor = optional(request, 'stop_words');
  if (tensor === undefined) return [];
  const words = decodeBytesElements(tensor.data).map((word) => Buffer.from(word).toString('utf8'));
  const perRow = words.length / request.batchSize;
  return Array.from({ length: request.batchSize }, (_, row) => words.slice(row * perRow, (row + 1) * perRow));
}

function promptCharacters(request: ModelRequest, row: number): number {
  const text = decodeBytesElements(optional(request, 'text_input')?.data ?? new Uint8Array())[row];
  return Array.from(Buffer.from(text ?? []).toString('utf8')).length;
}
