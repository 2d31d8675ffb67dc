/**
 * What a gRPC client sees of the LLM API's model: literals seen on tritonserver 2.51 with docker/models/llmapi, whose texts
 * are those of NVIDIA/TensorRT-LLM `triton_backend/all_models/llmapi` and `tensorrt_llm/sampling_params.py`.
 */
import { type Tensor, decodeBytesElements, fp32Tensor, uint64Tensor } from '#wire/protocol/tensors.ts';
import { STOCK_MODELS } from '#checks/routes/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import type { StreamCase } from './grpc-tables.ts';
import { type Dialect, onBoth } from './dialects.ts';
import { EMPTY_FINAL, bool, bytes, int32 } from './requests.ts';
import { UNMISSED } from './table-claim.ts';
import type { Infer } from './wire.ts';

const flag = (name: string): Tensor => bool(name, [1], [true]);
const param = (name: string, n: number): Tensor => int32(`sampling_param_${name}`, [1], [n]);
const decimal = (name: string, x: number): Tensor => fp32Tensor(`sampling_param_${name}`, [1], [x]);
const ask = (text: string | Uint8Array, more: readonly Tensor[] = [], rest: Partial<Infer> = {}): Infer => ({ model: STOCK_MODELS.llmapi, inputs: [bytes('text_input', [1], [text]), ...more], parameters: EMPTY_FINAL, ...rest });
const seed = uint64Tensor('sampling_param_seed', [1], [7n]);
const streaming = flag('streaming');
const alone = flag('sampling_param_exclude_input_from_output');
const reasons = [flag('return_finish_reason'), flag('return_stop_reason'), flag('return_cumulative_logprob')];

const penalised = ({ count }: Dialect) => ask(count, [alone, decimal('frequency_penalty', 2), decimal('presence_penalty', 1.5)]);

/** Every output as its text, `datatype shape value`. */
const spelt = (m: any): Record<string, string> => Object.fromEntries(m.outputs.map((o: any, i: number) => [o.name, `${o.datatype} ${o.shape.join()} ${Buffer.from(decodeBytesElements(m.raw[i])[0] ?? []).toString()}`]));
/** One final message with exactly these outputs. */
const whole = (outputs: Readonly<Record<string, string>>) => (ms: any[]) => ms.length === 1 && ms[0].final === true && ms[0].error === '' && JSON.stringify(spelt(ms[0])) === JSON.stringify(outputs);
const refused = (error: string) => [{ error, final: true, outputs: [] }];
const failed = (error: string) => refused(`Error generating request: ${error}`);

const METRICS = ['kv_cache_reused_block', 'kv_cache_hit_rate', 'kv_cache_alloc_new_blocks', 'kv_cache_alloc_total_blocks', 'kv_cache_missed_block', 'arrival_time_ns', 'first_scheduled_time_ns', 'first_token_time_ns', 'last_token_time_ns', 'acceptance_rate', 'total_accepted_draft_tokens', 'total_draft_tokens'];
const said = (text: string): string => `BYTES 1 ${text}`;

export const EXCHANGES: readonly StreamCase[] = [
  ...onBoth<StreamCase>((d) => [
    { name: 'not streamed, prompt and answer in one text, control tokens skipped', requests: [ask(d.count)], messages: whole({ text_output: said(d.countShown + d.between + d.counted) }) },
    { name: 'without the prompt, and why it ended: all as text', requests: [ask(d.count, [alone, ...reasons])], messages: whole({ text_output: said(d.counted), finish_reason: said('stop'), stop_reason: said('None'), cumulative_logprob: said('None') }) },
    { name: 'streamed, the whole text each time, None until the end', requests: [ask(d.count, [streaming, param('max_tokens', 4), flag('return_finish_reason')])],
      messages: (ms: any[]) => ms.map((m) => Object.values(spelt(m)).join()).join('|') === ['1', '1,', '1, 2', '1, 2,'].map((text, k) => `BYTES 1 ${text},BYTES 1 ${k === 3 ? 'length' : 'None'}`).join('|') && ms.map((m) => m.final).join() === 'false,false,false,true' },
    { name: 'EOS at once is one empty text, final', requests: [ask(d.silence, [streaming, flag('return_finish_reason')])], messages: whole({ text_output: said(''), finish_reason: said('stop') }) },
    { name: '32 tokens when nobody says how many', requests: [ask(d.countFurther, [streaming, decimal('temperature', 30), seed, flag('return_finish_reason')])], messages: (ms: any[]) => ms.length === 32 && spelt(ms.at(-1))['finish_reason'] === 'BYTES 1 length' },
  ]),
  { name: 'metrics are text, whatever their declared types', requests: [ask('a', [param('max_tokens', 2), alone, flag('sampling_param_return_perf_metrics')])],
    messages: (ms: any[]) => ms.length === 1 && Object.keys(spelt(ms[0])).slice(1).join() === METRICS.join() && Object.values(spelt(ms[0])).slice(1).every((text) => /^BYTES 1 \d+(\.\d+)?$/.test(text)) },
  { name: 'outputs that were listed, and no others', requests: [ask('a', [alone, param('max_tokens', 1), flag('return_finish_reason')], { outputs: ['finish_reason'] })], messages: (ms: any[]) => ms.length === 1 && Object.keys(spelt(ms[0])).join() === 'finish_reason', until: { '2.46': { messages: (ms: any[]) => ms.length === 1 && Object.keys(spelt(ms[0])).join() === 'text_output,finish_reason' } } },
  ...onBoth<StreamCase>((d) => [
    { name: 'of several texts the first is answered', requests: [{ ...ask(d.count), inputs: [bytes('text_input', [2], [d.count, 'y']), alone] }], messages: whole({ text_output: said(d.counted) }) },
    { name: 'an empty list of stop strings is none', requests: [ask(d.count, [alone, bytes('sampling_param_stop', [0], [])])], messages: whole({ text_output: said(d.counted) }) },
    { name: 'best_of 0 counts as one', requests: [ask(d.silence, [alone, param('best_of', 0)])], messages: whole({ text_output: said('') }) },
    { name: 'penalties change the answer', holds: appliesPenalties, requests: [penalised(d)], messages: whole({ text_output: said(d.penalised) }) },
    { name: 'penalties that the sampler ignores change nothing', holds: (p) => !appliesPenalties(p), requests: [penalised(d)], messages: whole({ text_output: said(d.counted) }) },
  ]),
  { name: 'top_p above 1', requests: [ask('a', [decimal('top_p', 1.5)])], messages: failed('require 0 <= top_p <= 1, got top_p=1.5') },
  { name: 'top_k below 0', requests: [ask('a', [param('top_k', -1)])], messages: failed('require top_k >= 0, got top_k=-1') },
  { name: 'temperature below 0', requests: [ask('a', [decimal('temperature', -1)])], messages: failed('require temperature >= 0, got temperature=-1.0') },
  { name: 'the best of several greedy answers', requests: [ask('a', [param('best_of', 2)])], messages: failed('Greedy decoding in the LLM API does not allow multiple returns. Please set to best_of=1, got best_of=2. Please set to best_of=1 or set an environment variable TLLM_ALLOW_N_GREEDY_DECODING=1 to allow best_of > 1 under the greedy decoding.') },
  { name: 'the best of less than one', requests: [ask('a', [param('best_of', -1)])], messages: failed('best_of (-1) cannot be less than n (1)') },
  { name: 'a text that is no UTF-8', requests: [ask(Uint8Array.of(0x61, 0xff))], messages: failed("'utf-8' codec can't decode byte 0xff in position 1: invalid start byte") },
  { name: 'no text in the list', requests: [{ ...ask(''), inputs: [bytes('text_input', [0], [])] }], messages: failed('index 0 is out of bounds for axis 0 with size 0') },
  { name: 'text_input missing, which the core does not see', ...UNMISSED, requests: [{ ...ask(''), inputs: [streaming] }], messages: failed('text_input is missing from the request') },
  { name: 'a stop string, which arrives as bytes', holds: refusesStopStrings, requests: [ask('a', [bytes('sampling_param_stop', [1], ['b'])])], messages: failed('TextInputSequence must be str') },
  ...onBoth<StreamCase>((d) => [
    { name: 'a prompt over the limit', requests: [ask('long '.repeat(900))], messages: failed(`The sum of prompt length (${d.longIds}.0), query length (0) should not exceed max_num_tokens (512)`) },
  ]),
  { name: 'a stop request without an id', requests: [ask('', [flag('stop')])], messages: refused('A request id must be provided for request cancellation') },
  { name: 'a stop request for an id that nobody has', requests: [ask('', [flag('stop')], { id: 'nobody' })], messages: [{ error: 'Request cancelled by client', final: true, id: 'nobody' }] },
  { name: 'an input of the ensemble', requests: [ask('a', [int32('max_tokens', [1], [4])])], messages: [{ error: /^unexpected inference input 'max_tokens' for model '/, final: undefined }] },
];

function appliesPenalties({ models }: ReleaseProfile): boolean {
  return models.torch.appliesPenalties.value;
}

function refusesStopStrings({ models }: ReleaseProfile): boolean {
  return !models.torch.llmapiTakesStopStrings.value;
}
