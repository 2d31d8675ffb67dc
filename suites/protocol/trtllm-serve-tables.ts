/**
 * What a client sees of trtllm-serve, by release: literals observed on its HTTP layer (docs/observed.md#trtllm-serve).
 * Every row of the observation, with the engine's words behind it, is checked in src/embedded/trtllm-serve.
 */
import type { OpenAiProfile, ReleaseProfile, TrtllmServeProfile } from '#core/profile/index.ts';
import { onBoth } from './dialects.ts';
import type { HttpCase } from './http-tables.ts';

const COMPLETIONS = '/v1/completions';
const CHAT = '/v1/chat/completions';
const messages = [{ role: 'user', content: 'Say nothing.' }];
const prompt = (more: object) => ({ model: 'm', prompt: 'x', ...more });
const chat = (more: object) => ({ model: 'm', messages, ...more });
const failure = (message: unknown) => ({ object: 'error', message, type: 'BadRequestError', param: null, code: 400 });

type Holds = Pick<HttpCase, 'holds'>;
const serve = (fact: (facts: TrtllmServeProfile) => boolean = () => true): Holds => ({
  holds: ({ openai }: { readonly openai: OpenAiProfile }) => openai.trtllmServe !== undefined && fact(openai.trtllmServe),
});
/** What is seen of the sampler of the PyTorch back end: with EOS at once the answer has no token, or one. */
const dropsEos = (held: Holds): Holds => ({ holds: (profile: ReleaseProfile) => held.holds!(profile) && !profile.models.torch.usageCountsEos.value });
const A = serve((facts) => facts.idPerChunk.value);
const B = serve((facts) => !facts.idPerChunk.value);
const BOTH = serve();
/** A schema violation, in the shape of the release. */
const violation = (text: RegExp): readonly (Holds & Pick<HttpCase, 'json'>)[] => [
  { ...serve((facts) => facts.validationErrors.value === 'error-object'), json: failure(text) },
  { ...serve((facts) => facts.validationErrors.value === 'error-text'), json: { error: text } },
];
const HEX = '[0-9a-f]{32}';
const USAGE = String.raw`\{"prompt_tokens":\d+,"total_tokens":\d+,"completion_tokens":0,"prompt_tokens_details":\{"cached_tokens":0\}\}`;
const CHOICE = String.raw`\{"index":0,"text":"","token_ids":null,"logprobs":null,"finish_reason":"stop","stop_reason":null,"avg_decoded_tokens_per_iter":1\.0\}`;
const textChunk = (id: string) => String.raw`data: \{"id":"${id}","object":"text_completion","created":\d+,"model":"m","choices":\[${CHOICE}\],"usage":null\}\n\n`;
const usageChunk = (id: string, object: string) => String.raw`data: \{"id":"${id}","object":"${object}","created":\d+,"model":"m","choices":\[\],"usage":${USAGE}\}\n\n`;
const chatChunk = (id: string, choice: string, end: string) => String.raw`data: \{"id":"${id}","object":"chat\.completion\.chunk","created":\d+,"model":"m","choices":\[\{"index":0,${choice}\}\]\}${end}`;
const ROLE = String.raw`"delta":\{"role":"assistant"\}`;
const LAST = String.raw`"delta":\{"content":"","reasoning_content":""\},"finish_reason":"stop","avg_decoded_tokens_per_iter":1\.0`;
const DONE = String.raw`data: \[DONE\]\n\n`;
const all = (...parts: readonly string[]) => new RegExp(`^${parts.join('')}$`);
const counted = { stream: true, stream_options: { include_usage: true, continuous_usage_stats: false } };

export const TRTLLM_SERVE: readonly HttpCase[] = [
  { ...BOTH, name: 'health', path: '/health', status: 200, text: '', type: undefined },
  { ...BOTH, name: 'health with a token', path: '/health_generate', status: 200, text: 'Generation health check OK', type: undefined },
  { ...BOTH, name: 'version', path: '/version', status: 200, json: { version: /^\d+\.\d+\.\d+/ } },
  { ...BOTH, name: 'one model', path: '/v1/models', status: 200, json: { object: 'list', data: (d: any[]) => d.length === 1 && d[0].object === 'model' && d[0].owned_by === 'tensorrt_llm' } },
  { ...BOTH, name: 'a model by its name', path: '/v1/models/m', status: 404, json: { detail: 'Not Found' } },
  { ...BOTH, name: 'metrics are JSON', path: '/metrics', status: 200, type: 'application/json', json: (list: unknown) => Array.isArray(list) },
  { ...BOTH, name: "NVIDIA's route of health", path: '/health/ready', status: 404, json: { detail: 'Not Found' } },
  { ...BOTH, name: 'HEAD of a GET route', path: '/health', method: 'HEAD', status: 405 },
  { ...BOTH, name: 'no cross-origin rules', path: COMPLETIONS, method: 'OPTIONS', headers: { origin: 'http://localhost', 'access-control-request-method': 'POST' }, status: 405, header: { allow: 'POST' } },
  { ...BOTH, name: 'a slash too many', path: '/v1/completions/', body: prompt({}), headers: { host: 'front:8000' }, status: 307, header: { location: 'http://front:8000/v1/completions' } },

  ...onBoth<HttpCase>((d) => [
    { ...dropsEos(BOTH), name: 'a completion', path: COMPLETIONS, body: { model: 'm', prompt: d.silence, temperature: 0 }, status: 200, type: 'application/json', text: all(String.raw`\{"id":"cmpl-${HEX}","object":"text_completion","created":\d+,"model":"m","choices":\[\{"index":0,"text":"","token_ids":null,"logprobs":null,"context_logits":null,"finish_reason":"stop","stop_reason":null,"disaggregated_params":null,"avg_decoded_tokens_per_iter":1\.0\}\],"usage":${USAGE},"prompt_token_ids":null\}`) },
    { ...dropsEos(BOTH), name: 'a chat answer', path: CHAT, body: chat({ temperature: 0 }), status: 200, type: 'application/json', text: all(String.raw`\{"id":"chatcmpl-${HEX}","object":"chat\.completion","created":\d+,"model":"m","choices":\[\{"index":0,"message":\{"role":"assistant","content":"","reasoning_content":"","reasoning":null,"tool_calls":\[\]\},"logprobs":null,"finish_reason":"stop","stop_reason":null,"mm_embedding_handle":null,"disaggregated_params":null,"avg_decoded_tokens_per_iter":1\.0\}\],"usage":${USAGE},"prompt_token_ids":null\}`) },
    { ...dropsEos(A), name: 'a stream of completions, usage in a chat object', path: COMPLETIONS, body: { model: 'm', prompt: d.silence, temperature: 0, ...counted }, status: 200, type: 'text/event-stream; charset=utf-8', text: all(textChunk(`cmpl-${HEX}`), usageChunk(`chatcmpl-${HEX}`, 'chat\\.completion\\.chunk'), DONE) },
    { ...dropsEos(B), name: 'a stream of completions, usage in its own object', path: COMPLETIONS, body: { model: 'm', prompt: d.silence, temperature: 0, ...counted }, status: 200, type: 'text/event-stream; charset=utf-8', text: all(textChunk('cmpl-\\d+'), usageChunk('cmpl-\\d+', 'text_completion'), DONE) },
    { ...A, name: 'a chat stream, absent nulls and a space behind the role', path: CHAT, body: chat({ temperature: 0, stream: true }), status: 200, text: all(chatChunk(`chatcmpl-${HEX}`, ROLE, ' \\n\\n'), chatChunk(`chatcmpl-${HEX}`, LAST, '\\n\\n'), DONE) },
    { ...B, name: 'a chat stream with one id', path: CHAT, body: chat({ temperature: 0, stream: true }), status: 200, text: all(chatChunk('chatcmpl-\\d+', ROLE, ' \\n\\n'), chatChunk('chatcmpl-\\d+', LAST, '\\n\\n'), DONE) },
  ]),

  ...violation(/'type': 'extra_forbidden', 'loc': \('body', 'foo'\), 'msg': 'Extra inputs are not permitted', 'input': 1\}/).map((row) => ({ ...row, name: 'a field that is not known', path: COMPLETIONS, body: prompt({ foo: 1 }), status: 400 })),
  ...violation(/'type': 'missing', 'loc': \('body', 'model'\), 'msg': 'Field required'/).map((row) => ({ ...row, name: 'a field that is missing', path: CHAT, body: { messages }, status: 400 })),
  ...violation(/^\[\{'type': 'json_invalid', 'loc': \('body', 1\), 'msg': 'JSON decode error', 'input': \{\}, 'ctx': /).map((row) => ({ ...row, name: 'broken JSON', path: CHAT, body: '{', status: 400 })),
  ...violation(/max_completion_tokens/).map((row) => ({ ...row, name: 'two limits', path: CHAT, body: chat({ max_tokens: 1, max_completion_tokens: 1 }), status: 400 })),
  ...violation(/Value error, suffix is not supported/).map((row) => ({ ...row, name: 'a suffix', path: COMPLETIONS, body: prompt({ suffix: 'y' }), status: 400 })),
  ...violation(/Value error, stream_options can only be set if stream is true/).map((row) => ({ ...row, name: 'stream options without a stream', path: CHAT, body: chat({ stream_options: {} }), status: 400 })),
  { ...BOTH, name: 'JSON that is no object', path: COMPLETIONS, body: '[]', status: 500, text: 'Internal Server Error', type: /^text\/plain/ },
  { ...BOTH, name: 'a form for a body', path: COMPLETIONS, body: 'model=m&prompt=x', headers: { 'content-type': 'application/x-www-form-urlencoded' }, status: 500, text: 'Internal Server Error', type: /^text\/plain/ },
  { ...BOTH, name: 'top_p out of range', path: COMPLETIONS, body: prompt({ top_p: 1.5 }), status: 400, json: failure('require 0 <= top_p <= 1, got top_p=1.5') },
  { ...BOTH, name: 'temperature out of range', path: COMPLETIONS, body: prompt({ temperature: -1 }), status: 400, json: failure('require temperature >= 0, got temperature=-1.0') },
  { ...A, name: 'two choices', path: COMPLETIONS, body: prompt({ n: 2 }), status: 400, json: failure('Multiple response is not supported in PyTorch workflow') },
  { ...BOTH, name: 'no ids', path: COMPLETIONS, body: { model: 'm', prompt: [] }, status: 400, json: failure('list index out of range') },
  { ...BOTH, name: 'ids beyond the vocabulary go to the engine unchecked', path: COMPLETIONS, body: prompt({ prompt: [5, 2_000_000_000], max_tokens: 1 }), status: 200, json: { choices: [{ index: 0 }], usage: { prompt_tokens: 2, completion_tokens: 1 } } },
  { ...BOTH, name: 'logit bias of no number', path: COMPLETIONS, body: prompt({ logit_bias: { x: 1 } }), status: 400, json: failure("Invalid logit_bias key 'x': must be a valid integer token ID") },
  { ...BOTH, name: 'a part that is no text', path: CHAT, body: chat({ messages: [{ role: 'user', content: [{ type: 'input_audio' }] }] }), status: 400, json: failure('Unknown part type: input_audio') },
];
