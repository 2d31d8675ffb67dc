/**
 * For tests of the front ends: the real core with models that play a script. `flat` has the TensorRT-LLM contract and
 * plays the script that the prompt names; `echo` returns its inputs; `half` answers in FP16.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DEFAULT_PROFILE, type ReleaseProfile } from '#core/profile/index.ts';
import type { ModelConfig } from '#wire/protocol/model-config.ts';
import { bytesTensor, decodeBytesElements, int32Tensor } from '#wire/protocol/tensors.ts';
import { createTritonCore, type Model, type ModelRequest, type ResponseSender, type TritonCore } from '../core/index.ts';

/** What a scripted model does, in turn. */
export type Step =
  | { readonly text: string | readonly string[] | Uint8Array; readonly final?: boolean }
  | { readonly error: string; readonly final?: boolean; readonly code?: 'INTERNAL' }
  /** The flag-only end. */
  | { readonly end: true }
  | { readonly waitMs: number }
  /** Waits for the test to say `proceed`. */
  | { readonly gate: true };

/** Named as the tests speak of them. Endings as in docs/observed.md#triton-2-51. */
export const SCRIPTS: Readonly<Record<string, readonly Step[]>> = {
  'one-final': [{ text: 'Hello', final: true }],
  'one-then-flag': [{ text: 'Hello' }, { end: true }],
  three: [{ text: 'Hel' }, { text: 'lo' }, { text: '', final: true }],
  'two-final': [{ text: 'Hel' }, { text: 'lo', final: true }],
  'two-then-flag': [{ text: 'Hel' }, { text: 'lo' }, { end: true }],
  nothing: [{ end: true }],
  'error-first': [{ error: 'scripted model error', final: true }],
  'error-quoted': [{ error: "it's broken", final: true }],
  'error-internal': [{ error: 'out of memory', final: true, code: 'INTERNAL' }],
  'error-middle': [{ text: 'A' }, { error: 'boom in the middle' }, { text: 'B', final: true }],
  slow: [
    { text: 'A' },
    { waitMs: 40 },
    { text: 'B' },
    { waitMs: 40 },
    { text: 'C' },
    { waitMs: 40 },
    { text: 'D' },
    { waitMs: 40 },
    { text: 'E', final: true },
  ],
  'gated-after-one': [{ text: 'A' }, { gate: true }, { text: 'B' }, { gate: true }, { text: 'C', final: true }],
  'gated-from-start': [{ gate: true }, { text: 'A' }, { gate: true }, { text: 'B', final: true }],
  silent: [{ waitMs: 120 }, { text: 'A' }, { waitMs: 40 }, { text: 'B', final: true }],
  /** More than a socket holds. */
  flood: [...Array.from({ length: 4000 }, (_, i) => ({ text: `${i},`.padEnd(100) })), { text: '', final: true }],
  'two-strings': [{ text: ['a', 'b'], final: true }],
  nul: [{ text: 'A\0B', final: true }],
  'not-utf8': [{ text: Uint8Array.of(0x41, 0xff), final: true }],
  unicode: [{ text: 'é\u2028"\u001f', final: true }],
  raise: [],
  'call-plain': [
    { text: '{"name": "f", ' },
    { text: '"parameters": {"city": "San ' },
    { text: 'José", "n": 1' },
    { text: '2}}' },
    { text: '', final: true },
  ],
  'call-tagged': [{ text: '<|python_tag|>' }, { text: '{"name": "g", "arguments": {"a": [1, 2.5, true, null]}}', final: true }],
  'call-whole': [{ text: '<|python_tag|>{"name": "g", "arguments": {"a": [1, 2.5, true, null], "é": "ü"}}', final: true }],
  'call-two-whole': [{ text: '{"name": "f", "parameters": {"a": 1}}; {"name": "g", "parameters": {}}', final: true }],
  'call-two': [
    { text: '{"name": "f", "parameters": {"a": 1}}' },
    { text: '; {"name":' },
    { text: ' "g", "parameters": {"b": "x"}}' },
    { text: '', final: true },
  ],
  'call-cut': [{ text: '{"name": "f", "parameters": {"a": "bcd', final: true }],
  'call-drip': [
    { text: '{"na' },
    { text: 'me": "f' },
    { text: '", "param' },
    { text: 'eters": {"a": ' },
    { text: '"b\\u00' },
    { text: 'e9c", ' },
    { text: '"d": tr' },
    { text: 'ue, "e": -1.' },
    { text: '5}' },
    { text: '}', final: true },
  ],
  'call-chatty': [{ text: '{"name": "f", "parameters": {"a": 1}}assistant\n\nSure!', final: true }],
  'call-broken': [{ text: '{name: f}' }, { text: ' what', final: true }],
  'call-nameless': [{ text: '{"parameters": {}}', final: true }],
  'call-both': [{ text: '{"name": "f", "parameters": {}, "arguments": {}}' }, { text: '', final: true }],
  'call-long': [
    { text: '{"name": "f", "parameters": {"a": "0123456789' },
    { text: '0123456789' },
    { text: '0123456789' },
    { text: '0123456789' },
    { text: '"}}', final: true },
  ],
};

const FLAT = `
name: "flat"
backend: "python"
max_batch_size: 8
model_transaction_policy { decoupled: true }
input [
  { name: "text_input" data_type: TYPE_STRING dims: [1] },
  { name: "stream" data_type: TYPE_BOOL dims: [1] optional: true },
  { name: "max_tokens" data_type: TYPE_INT32 dims: [1] },
  { name: "stop_words" data_type: TYPE_STRING dims: [-1] optional: true },
  { name: "temperature" data_type: TYPE_FP32 dims: [1] optional: true },
  { name: "top_p" data_type: TYPE_FP32 dims: [1] optional: true },
  { name: "frequency_penalty" data_type: TYPE_FP32 dims: [1] optional: true },
  { name: "presence_penalty" data_type: TYPE_FP32 dims: [1] optional: true },
  { name: "seed" data_type: TYPE_UINT64 dims: [1] optional: true },
  { name: "exclude_input_in_output" data_type: TYPE_BOOL dims: [1] optional: true },
  { name: "return_num_input_tokens" data_type: TYPE_BOOL dims: [1] optional: true },
  { name: "return_num_output_tokens" data_type: TYPE_BOOL dims: [1] optional: true }MORE
]
output [
  { name: "text_output" data_type: TYPE_STRING dims: [-1] },
  { name: "num_input_tokens" data_type: TYPE_INT32 dims: [1] },
  { name: "num_output_tokens" data_type: TYPE_INT32 dims: [1] }
]`;

const ECHO = `
name: "echo"
backend: "python"
max_batch_size: 8
input [
  { name: "I" data_type: TYPE_INT32 dims: [2] },
  { name: "F" data_type: TYPE_FP32 dims: [-1] optional: true },
  { name: "S" data_type: TYPE_STRING dims: [-1] optional: true }
]
output [
  { name: "I" data_type: TYPE_INT32 dims: [2] },
  { name: "F" data_type: TYPE_FP32 dims: [-1] },
  { name: "S" data_type: TYPE_STRING dims: [-1] }
]`;

const HALF = `
name: "half"
backend: "python"
input [{ name: "X" data_type: TYPE_FP16 dims: [1] }]
output [{ name: "X" data_type: TYPE_FP16 dims: [1] }]`;

export interface TestCore extends Disposable {
  readonly core: TritonCore;
  /** Requests that reached a model, oldest first. */
  readonly seen: ModelRequest[];
  /** Those of `flat` that its script has been played for to the end, cancelled or not. */
  readonly ended: ModelRequest[];
  /** Opens the gate at which scripts stand, or the next one. */
  proceed(): void;
  /** Puts a model that cannot start into the repository. */
  addBroken(): void;
}

/**
 * @param more optional inputs that `flat` has besides: pbtxt, each behind a comma
 * @param decoupled whether `flat` has the decoupled transaction policy
 */
export function testCore(profile: ReleaseProfile = DEFAULT_PROFILE, more = '', decoupled = true): TestCore {
  const repository = mkdtempSync(join(tmpdir(), 'lockstep-http-'));
  for (const [name, config] of Object.entries({
    flat: FLAT.replace('MORE', more).replace('decoupled: true', `decoupled: ${decoupled}`),
    echo: ECHO,
    half: HALF,
  })) {
    mkdirSync(join(repository, name, '1'), { recursive: true });
    writeFileSync(join(repository, name, 'config.pbtxt'), config);
  }
  const seen: ModelRequest[] = [];
  const ended: ModelRequest[] = [];
  let gate = Promise.withResolvers<void>();
  const passGate = async (): Promise<void> => {
    await gate.promise;
    gate = Promise.withResolvers<void>();
  };
  const factory = (config: ModelConfig) => () => {
    if (config.name === 'broken') throw new Error('Internal: RuntimeError: no such thing');
    return scripted(config, { seen, ended, passGate });
  };
  const core = createTritonCore({ repository, profile, faults: new Set(), factory });
  const addBroken = () => {
    mkdirSync(join(repository, 'broken', '1'), { recursive: true });
    writeFileSync(join(repository, 'broken', 'config.pbtxt'), HALF.replace('half', 'broken'));
  };
  return {
    core,
    seen,
    ended,
    proceed: () => gate.resolve(),
    addBroken,
    [Symbol.dispose]: () => rmSync(repository, { recursive: true, force: true }),
  };
}

interface Stage {
  readonly seen: ModelRequest[];
  readonly ended: ModelRequest[];
  readonly passGate: () => Promise<void>;
}

function scripted(config: ModelConfig, { seen, ended, passGate }: Stage): Model {
  return {
    execute(request, sender) {
      seen.push(request);
      if (config.name !== 'flat') {
        setImmediate(() => sender.send([...request.inputs.values()], true));
        return;
      }
      const [first] = decodeBytesElements(request.inputs.get('text_input')?.data ?? new Uint8Array(0));
      const prompt = Buffer.from(first ?? new Uint8Array(0)).toString('utf8');
      const name = Object.keys(SCRIPTS).findLast((key) => prompt.includes(key)) ?? 'one-final';
      if (name === 'raise') throw new Error('scripted raise in execute');
      setImmediate(() => void play(SCRIPTS[name] ?? [], request, sender, passGate).then(() => ended.push(request)));
    },
  };
}

async function play(steps: readonly Step[], request: ModelRequest, sender: ResponseSender, passGate: Stage['passGate']): Promise<void> {
  const counts = request.inputs.has('return_num_output_tokens')
    ? [int32Tensor('num_input_tokens', [1, 1], [7]), int32Tensor('num_output_tokens', [1, 1], [1])]
    : [];
  for (const step of steps) {
    if ('gate' in step) await passGate();
    if ('waitMs' in step) await new Promise((resolve) => setTimeout(resolve, step.waitMs));
    if (request.isCancelled()) return sender.close();
    if ('end' in step) sender.close();
    if ('error' in step) sender.sendError(step.code ?? 'INVALID_ARG', step.error, step.final ?? false);
    if ('text' in step) {
      const texts: readonly (string | Uint8Array)[] = Array.isArray(step.text)
        ? (step.text as readonly string[])
        : [step.text as string | Uint8Array];
      sender.send([bytesTensor('text_output', [1, texts.length], texts), ...counts], step.final ?? false);
    }
  }
}
