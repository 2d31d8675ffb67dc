/**
 * What a client sees of NVIDIA's OpenAI front end, by release: literals observed on the running front ends
 * (docs/observed.md#openai-front-end-by-release). Which tensors a release sends, and every byte that it answers, are
 * checked behind and in front of the embedded front end: src/embedded/openai.
 */
import { type OpenAiProfile, RELEASES } from '#core/profile/index.ts';
import { type Dialect, onBoth } from './dialects.ts';
import type { HttpCase } from './http-tables.ts';
import { UNMISSED } from './table-claim.ts';

const COMPLETIONS = '/v1/completions';
const CHAT = '/v1/chat/completions';
const MODEL = 'ensemble';
const messages = [{ role: 'user', content: 'Say nothing.' }];
const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
const detail = (text: unknown) => ({ detail: text });
const field = (type: string, name: string, msg: string) => ({ detail: [{ type, loc: ['body', name], msg }] });
const unknownField = (name: string) => field('extra_forbidden', name, 'Extra inputs are not permitted');
const prompt = (more: object) => ({ model: MODEL, prompt: 'x', ...more });
const chat = (more: object) => ({ model: MODEL, messages, ...more });
/** finish_reason of what max_tokens ended. */
const ALWAYS_STOP: Pick<HttpCase, 'holds'> = { holds: ({ openai }) => openai.finishReasonAlwaysStop.value };
const NUL = String.raw`\{"id":"cmpl-[0-9a-f-]{36}","choices":\[`;
const TAIL = (object: string, usage: string) => String.raw`\],"created":\d+,"model":"ensemble","system_fingerprint":null,"object":"${object}"${usage}\}`;
const COUNTED = String.raw`,"usage":\{"prompt_tokens":\d+,"total_tokens":\d+,"completion_tokens":0\}`;
const whole = (text: string, usage: string) => new RegExp(`^${NUL}${String.raw`\{"finish_reason":"stop","index":0,"logprobs":null,"text":"${text.replaceAll(/[.[\]/]/g, String.raw`\$&`)}"\}`}${TAIL('text_completion', usage)}$`);
const events = (...all: readonly string[]) => new RegExp(`^${all.map((e) => `data: ${e}\n\n`).join('')}data: ${String.raw`\[DONE\]`}\n\n$`);
const textEvent = (usage: string) => `${NUL}${String.raw`\{"finish_reason":"stop","index":0,"logprobs":null,"text":""\}`}${TAIL('text_completion', usage)}`;
const deltaEvent = (role: string, finish: string, usage: string) => `${NUL}${String.raw`\{"delta":\{"content":"","function_call":null,"role":${role}\},"logprobs":null,"finish_reason":${finish},"index":0\}`}${TAIL('chat.completion.chunk', usage)}`;
const greedy = { temperature: 0, top_p: 0 };

/** The pieces of a stream and its last finish_reason, as `a|b|stop`. */
const pieces = (body: string): string => {
  const choices = body.split('\n\n').filter((e) => e.startsWith('data: {')).flatMap((e) => JSON.parse(e.slice(6)).choices as any[]);
  return [...choices.map((c) => c.text ?? c.delta.content), choices.at(-1)?.finish_reason].join('|');
};
const counting = ({ count }: Dialect, model: string, max_tokens: number) => ({ model, prompt: count, max_tokens, stream: true, ...greedy });

const ids = RELEASES.openai.filter(({ trtllmServe }) => trtllmServe === undefined).map(({ id }) => id);

/** Holds for the releases from one to another, both included. */
function held(from: string, to: string): Pick<HttpCase, 'holds'> {
  return { holds: ({ openai }: { readonly openai: OpenAiProfile }) => ids.indexOf(openai.id) >= ids.indexOf(from) && ids.indexOf(openai.id) <= ids.indexOf(to) };
}
const LAST = ids.at(-1)!;
const since = (from: string) => held(from, LAST);
const until = (to: string) => held('r24.11', to);
/** Up to a release, in front of a core that only counts inputs. */
const unmissed = (to: string): Pick<HttpCase, 'holds'> => ({ holds: (profile) => until(to).holds!(profile) && UNMISSED.holds!(profile) });

/** From the first release that asks the models for counts, in front of models that have them. */
const COUNTED_SINCE_R25_11: Pick<HttpCase, 'holds'> = { holds: (profile) => since('r25.11').holds!(profile) && profile.models.returnsTokenCounts.value };

export const OPENAI: readonly HttpCase[] = [
  { name: 'models', path: '/v1/models', status: 200, json: { object: 'list', data: (d: any[]) => d.some((m) => m.id === MODEL && m.object === 'model' && m.owned_by === 'Triton Inference Server') } },
  { stock: true, name: 'models in the order of their names, those of the steps too', path: '/v1/models', status: 200, json: { data: (d: any[]) => d.length > 3 && d.every((m, i) => i === 0 || d[i - 1].id < m.id) && d.some((m) => m.id === 'preprocessing') } },
  { name: 'one model', path: '/v1/models/ensemble', status: 200, json: { id: MODEL, object: 'model' } },
  { name: 'an unknown model', path: '/v1/models/nope', status: 404, json: detail('Unknown model: nope') },
  { name: 'ready', path: '/health/ready', status: 200, text: '', type: undefined },
  { name: 'HEAD of a GET route', path: '/health/ready', method: 'HEAD', status: 405 },
  { name: 'metrics on the same port', path: '/metrics', status: 200, text: /nv_inference_request_success/, type: /^text\/plain/ },
  { name: 'KServe routes are not here', path: '/v2/health/live', status: 404, json: detail('Not Found') },
  { name: 'nor is the new OpenAI route', path: '/v1/responses', body: {}, status: 404, json: detail('Not Found') },
  { name: 'GET where POST belongs', path: COMPLETIONS, status: 405, json: detail('Method Not Allowed'), header: { allow: 'POST' } },
  { name: 'a slash too many', path: '/v1/completions/', body: prompt({}), headers: { host: 'front:9000' }, status: 307, text: '', header: { location: 'http://front:9000/v1/completions' } },
  { name: 'a preflight from the one origin', path: COMPLETIONS, method: 'OPTIONS', headers: { origin: 'http://localhost', 'access-control-request-method': 'POST' }, status: 200, text: 'OK', header: { 'access-control-allow-origin': 'http://localhost', 'access-control-allow-credentials': 'true', 'access-control-max-age': '600', 'access-control-allow-methods': 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT' } },
  { name: 'a preflight from another origin', path: COMPLETIONS, method: 'OPTIONS', headers: { origin: 'http://elsewhere', 'access-control-request-method': 'POST' }, status: 400, text: 'Disallowed CORS origin' },
  { name: 'an answer to the one origin', path: '/v1/models', headers: { origin: 'http://localhost' }, status: 200, header: { 'access-control-allow-origin': 'http://localhost', 'access-control-allow-credentials': 'true' } },

  ...onBoth<HttpCase>((d) => [
    { ...until('r25.10'), name: 'a completion without usage, the prompt before the answer', path: COMPLETIONS, body: { model: MODEL, prompt: d.silence, ...greedy }, status: 200, type: 'application/json', text: whole(d.silenceShown, ',"usage":null') },
    { ...held('r25.11', 'r25.11'), name: 'a completion with usage, the prompt before the answer', path: COMPLETIONS, body: { model: MODEL, prompt: d.silence, ...greedy }, status: 200, type: 'application/json', text: whole(d.silenceShown, COUNTED) },
    { ...since('r25.12'), name: 'a completion with usage', path: COMPLETIONS, body: { model: MODEL, prompt: d.silence, ...greedy }, status: 200, type: 'application/json', text: whole('', COUNTED) },
    { ...since('r25.12'), name: 'echo', path: COMPLETIONS, body: { model: MODEL, prompt: d.silence, echo: true, ...greedy }, status: 200, text: whole(d.silenceShown, COUNTED) },
    { ...until('r25.06'), name: 'a stream whose events have no usage', path: COMPLETIONS, body: { model: MODEL, prompt: d.silence, stream: true, ...greedy }, status: 200, type: 'text/event-stream; charset=utf-8', text: events(textEvent('')) },
    { ...since('r25.07'), name: 'a stream whose events have a usage of null', path: COMPLETIONS, body: { model: MODEL, prompt: d.silence, stream: true, ...greedy }, status: 200, type: 'text/event-stream; charset=utf-8', text: events(textEvent(',"usage":null')) },
    { ...until('r25.06'), name: 'a chat stream whose events have no usage', path: CHAT, body: chat({ stream: true, ...greedy }), status: 200, text: events(deltaEvent('"assistant"', 'null', ''), deltaEvent('null', '"stop"', '')) },
    { ...since('r25.07'), name: 'a chat stream whose events have a usage of null', path: CHAT, body: chat({ stream: true, ...greedy }), status: 200, text: events(deltaEvent('"assistant"', 'null', ',"usage":null'), deltaEvent('null', '"stop"', ',"usage":null')) },
    { ...since('r25.11'), name: 'a stream with its usage at the end', path: COMPLETIONS, body: { model: MODEL, prompt: d.silence, stream: true, stream_options: { include_usage: true }, ...greedy }, status: 200, text: events(textEvent(',"usage":null'), `${NUL}${TAIL('text_completion', COUNTED)}`) },
  ]),

  ...onBoth<HttpCase>((d) => [
    { streams: true, ...ALWAYS_STOP, name: 'a stream that ends at max_tokens with its last piece', path: COMPLETIONS, body: counting(d, 'ensemble', 3), status: 200, text: (body: string) => /^[^|]+\|[^|]+\|[^|]+\|stop$/.test(pieces(body)) },
    { streams: true, ...ALWAYS_STOP, name: 'the same from the BLS, whose end is an event of its own, without text', path: COMPLETIONS, body: counting(d, 'tensorrt_llm_bls', 3), status: 200, text: (body: string) => /^[^|]+\|[^|]+\|[^|]+\|\|stop$/.test(pieces(body)) },
    { streams: true, name: 'a stream that EOS ends in an event without text', path: COMPLETIONS, body: { ...counting(d, 'ensemble', 16), prompt: d.silence }, status: 200, text: (body: string) => pieces(body) === '|stop' },
  ]),

  { name: 'completion to an unknown model', path: COMPLETIONS, body: { model: 'nope', prompt: 'x' }, status: 400, json: detail('Unknown model: nope') },
  { name: 'chat to an unknown model', path: CHAT, body: { model: 'nope', messages }, status: 400, json: detail('Unknown model: nope') },
  { name: 'two choices', path: COMPLETIONS, body: prompt({ n: 2 }), status: 400, json: detail('Received n=2, but only single choice (n=1) is currently supported') },
  { name: 'best of two', path: COMPLETIONS, body: prompt({ best_of: 2 }), status: 400, json: detail('Received best_of=2, but only single choice (best_of=1) is currently supported') },
  { ...until('r25.11'), name: 'logit bias', path: COMPLETIONS, body: prompt({ logit_bias: {} }), status: 400, json: detail('logit bias and log probs not supported') },
  { ...since('r25.12'), name: 'logit bias', path: COMPLETIONS, body: prompt({ logit_bias: {} }), status: 400, json: detail('logit bias is not supported') },
  { ...until('r25.11'), name: 'logit bias in chat', path: CHAT, body: chat({ logit_bias: { 5: 1 } }), status: 400, json: detail('logit bias and log probs not currently supported') },
  { ...since('r25.12'), name: 'logit bias in chat', path: CHAT, body: chat({ logit_bias: { 5: 1 } }), status: 400, json: detail('logit bias is not currently supported') },
  { ...until('r25.11'), name: 'log-probabilities', path: COMPLETIONS, body: prompt({ logprobs: 1 }), status: 400, json: detail('logit bias and log probs not supported') },
  { ...since('r25.12'), name: 'log-probabilities', path: COMPLETIONS, body: prompt({ logprobs: 1 }), status: 400, json: detail('logprobs are currently available only for the vLLM backend') },
  { ...until('r25.11'), name: 'no log-probabilities, refused too', path: COMPLETIONS, body: prompt({ logprobs: 0 }), status: 400, json: detail('logit bias and log probs not supported') },
  { ...since('r25.12'), name: 'no log-probabilities', path: COMPLETIONS, body: prompt({ logprobs: 0, max_tokens: 1 }), status: 200 },
  { ...until('r25.11'), name: 'top log-probabilities in chat have no effect', path: CHAT, body: chat({ top_logprobs: 3, max_tokens: 1 }), status: 200 },
  { ...since('r25.12'), name: 'top log-probabilities in chat', path: CHAT, body: chat({ top_logprobs: 3 }), status: 400, json: detail('logprobs are currently available only for the vLLM backend') },
  { name: 'a suffix', path: COMPLETIONS, body: prompt({ suffix: 'y' }), status: 400, json: detail('suffix is not currently supported') },
  { name: 'an empty prompt', path: COMPLETIONS, body: { model: MODEL, prompt: '' }, status: 400, json: detail('prompt must be non-empty') },
  { name: 'a list of prompts', path: COMPLETIONS, body: { model: MODEL, prompt: ['a', 'b'] }, status: 400, json: detail('only single string input is supported') },
  { name: 'a list of one prompt', path: COMPLETIONS, body: { model: MODEL, prompt: ['a'] }, status: 400, json: detail('only single string input is supported') },
  { name: 'a prompt of ids', path: COMPLETIONS, body: { model: MODEL, prompt: [5, 6] }, status: 400, json: detail('only single string input is supported') },
  { ...until('r25.06'), name: 'stream options', path: CHAT, body: chat({ stream: true, stream_options: {} }), status: 422, json: unknownField('stream_options') },
  { ...since('r25.07'), name: 'stream options without a stream', path: CHAT, body: chat({ stream_options: { include_usage: true } }), status: 400, json: detail('`stream_options` can only be used when `stream` is True') },
  { ...held('r25.07', 'r25.10'), name: 'usage of a stream', path: CHAT, body: chat({ stream: true, stream_options: { include_usage: true } }), status: 400, json: detail('`stream_options.include_usage` is currently only supported for the vLLM backend') },
  { ...since('r25.07'), name: 'stream options without effect', path: CHAT, body: chat({ stream: true, max_tokens: 1, stream_options: { include_usage: false, other: 1 } }), status: 200 },
  { ...until('r25.07'), name: 'max_completion_tokens', path: CHAT, body: chat({ max_completion_tokens: 1 }), status: 422, json: unknownField('max_completion_tokens') },
  { ...since('r25.08'), name: 'max_completion_tokens', path: CHAT, body: chat({ max_completion_tokens: 1 }), status: 200 },
  { name: 'max_completion_tokens in a completion', path: COMPLETIONS, body: prompt({ max_completion_tokens: 1 }), status: 422, json: unknownField('max_completion_tokens') },
  { ...until('r24.11'), name: 'tools have no effect', path: CHAT, body: chat({ tools, max_tokens: 1 }), status: 200 },
  { ...since('r25.05'), name: 'tools without a parser', path: CHAT, body: chat({ tools }), status: 400, json: detail('having tools in the request requires --tool-call-parser to be set') },
  { ...since('r25.05'), name: 'tools by the model’s choice, without a parser', path: CHAT, body: chat({ tools, tool_choice: 'auto' }), status: 400, json: detail('"auto" tool choice requires --tool-call-parser to be set') },
  { ...since('r25.05'), name: 'a tool is required and there is none', path: CHAT, body: chat({ tool_choice: 'required' }), status: 400, json: detail('"required" tool choice requires CreateChatCompletionRequest.tools to be provided') },
  { ...until('r24.11'), name: 'a picture is printed into the prompt', path: CHAT, body: { model: MODEL, max_tokens: 1, messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://x/y' } }] }] }, status: 200 },
  { ...since('r25.05'), name: 'a picture', path: CHAT, body: { model: MODEL, messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'http://x/y' } }] }] }, status: 400, json: detail('only text message is supported, but got image_url') },
  { ...until('r25.10'), name: 'embeddings', path: '/v1/embeddings', body: { model: MODEL, input: 'x' }, status: 404, json: detail('Not Found') },
  { ...since('r25.11'), name: 'embeddings', path: '/v1/embeddings', body: { model: MODEL, input: 'x' }, status: 400, json: detail('TRT-LLM backend and Python backend do not support embedding requests') },
  { ...until('r25.12'), name: 'a load', path: '/v1/models/ensemble/load', method: 'POST', status: 404, json: detail('Not Found') },
  { ...since('r26.04'), name: 'a load', path: '/v1/models/ensemble/load', method: 'POST', status: 400, json: detail('Model load/unload requires --model-control-mode=explicit') },
  { ...since('r26.04'), name: 'an unload', path: '/v1/models/ensemble/unload', method: 'POST', status: 400, json: detail('Model load/unload requires --model-control-mode=explicit') },

  { ...until('r25.10'), name: 'what the model does not take', path: COMPLETIONS, body: { model: 'preprocessing', prompt: 'x' }, status: 400, json: detail(/^\[request id: <id_unknown>\] expected number of inputs between \d+ and \d+ but got \d+ inputs for model 'preprocessing'|^unexpected inference input '\w+' for model 'preprocessing'$/) },
  { ...since('r25.11'), name: 'what the model does not take', path: COMPLETIONS, body: { model: 'preprocessing', prompt: 'x' }, status: 500, json: detail(/^\[request id: <id_unknown>\] expected number of inputs between \d+ and \d+ but got \d+ inputs for model 'preprocessing'|^unexpected inference input '\w+' for model 'preprocessing'$/) },
  { stock: true, ...until('r25.10'), name: 'what a model of two inputs does not take', path: COMPLETIONS, body: { model: 'postprocessing', prompt: 'x' }, status: 400, json: detail(/^\[request id: <id_unknown>\] expected 2 inputs but got 7 inputs for model 'postprocessing'\. Got input\(s\) \[('\w+',?){7}\], but missing required input\(s\) \['TOKENS_BATCH','SEQUENCE_LENGTH'\]\. Please provide all required input\(s\)\.$/) },
  { stock: true, ...since('r25.11'), name: 'what a model of two inputs does not take', path: CHAT, body: chat({ model: 'postprocessing' }), status: 500, json: detail(/^\[request id: <id_unknown>\] expected 2 inputs but got 9 inputs for model 'postprocessing'\. Got input\(s\) \[('\w+',?){9}\], but missing required input\(s\) \['TOKENS_BATCH','SEQUENCE_LENGTH'\]\. Please provide all required input\(s\)\.$/) },
  { stock: true, ...until('r25.10'), name: 'the same, as a stream that never begins', path: COMPLETIONS, body: { model: 'postprocessing', prompt: 'x', stream: true }, status: 400, type: 'application/json', json: detail(/expected 2 inputs but got 7 inputs/) },
  { stock: true, ...since('r25.11'), name: 'the same, as a stream that never begins', path: CHAT, body: chat({ model: 'postprocessing', stream: true }), status: 500, type: 'application/json', json: detail(/expected 2 inputs but got 9 inputs/) },

  ...[0, null].flatMap((max_tokens): HttpCase[] => [
    { ...unmissed('r25.07'), name: `max_tokens ${max_tokens}, which is not sent and not missed: an empty answer`, path: COMPLETIONS, body: prompt({ max_tokens }), status: 200, text: whole('', ',"usage":null') },
    { ...unmissed('r25.06'), streams: true, name: `max_tokens ${max_tokens}, streamed: one empty event`, path: COMPLETIONS, body: prompt({ max_tokens, stream: true }), status: 200, text: events(textEvent('')) },
    { ...unmissed('r25.07'), streams: true, name: `max_tokens ${max_tokens} in chat, streamed: the role and one empty event`, path: CHAT, body: chat({ max_tokens, stream: true }), status: 200, text: (body: string) => pieces(body) === '||stop' && body.endsWith('data: [DONE]\n\n') },
  ]),
  ...onBoth<HttpCase>((d) => [
    { ...held('r25.08', 'r25.10'), name: 'max_tokens 0 is sent, and refused by the engine', path: COMPLETIONS, body: prompt({ max_tokens: 0 }), status: 400, json: detail(/in ensemble 'ensemble', .*request_output_len/) },
    { ...COUNTED_SINCE_R25_11, name: 'max_tokens 0 is sent, and refused by the engine', path: COMPLETIONS, body: prompt({ max_tokens: 0 }), status: 500, json: detail(/in ensemble 'ensemble', .*request_output_len/) },
    { ...since('r25.08'), name: 'max_tokens null is the default', path: COMPLETIONS, body: { model: MODEL, prompt: d.count, max_tokens: null, ...greedy }, status: 200, text: (body: string) => JSON.parse(body).choices[0].text.length > 0 },
  ]),

  { holds: ({ models, openai }) => openai.seedTensor.value === 'random_seed' && models.seedTensor.value === 'seed', name: 'a seed under its old name', path: COMPLETIONS, body: prompt({ seed: 1, stream: true }), status: 400, json: detail("unexpected inference input 'random_seed' for model 'ensemble'") },
  { holds: ({ models, openai }) => openai.seedTensor.value === 'seed' && models.seedTensor.value === 'random_seed' && !openai.tokenCounts.value, name: 'a seed under its new name', path: COMPLETIONS, body: prompt({ seed: 1 }), status: 400, json: detail("unexpected inference input 'seed' for model 'ensemble'") },
  { holds: ({ models, openai }) => openai.tokenCounts.value && !models.returnsTokenCounts.value, name: 'counts that the models do not have', path: COMPLETIONS, body: prompt({}), status: 500, json: detail(/^unexpected inference input 'return_num_(in|out)put_tokens' for model 'ensemble'$/) },
  { holds: ({ models, openai }) => openai.seedTensor.value === models.seedTensor.value && openai.tokenCounts.value === models.returnsTokenCounts.value, name: 'a seed', path: COMPLETIONS, body: prompt({ seed: 1, max_tokens: 1 }), status: 200 },

  { name: 'a field that is not known', path: COMPLETIONS, body: prompt({ top_k: 1 }), status: 422, json: unknownField('top_k') },
  { name: 'fields that OpenAI knows and this does not', path: CHAT, body: chat({ store: true, parallel_tool_calls: true }), status: 422, json: { detail: [{ loc: ['body', 'store'] }, { loc: ['body', 'parallel_tool_calls'] }] } },
  { holds: ({ openai }) => openai.droppedFields.value.includes('min_tokens'), name: 'fields without effect', path: CHAT, body: chat({ user: 'u', ignore_eos: true, min_tokens: 3, response_format: { type: 'json_object' }, max_tokens: 1 }), status: 200 },
  { name: 'a number out of range', path: COMPLETIONS, body: prompt({ max_tokens: -1 }), status: 422, json: field('greater_than_equal', 'max_tokens', 'Input should be greater than or equal to 0') },
  { name: 'a fraction for a whole number', path: COMPLETIONS, body: prompt({ max_tokens: 5.5 }), status: 422, json: field('int_from_float', 'max_tokens', 'Input should be a valid integer, got a number with a fractional part') },
  { name: 'a field that is missing', path: CHAT, body: { messages }, status: 422, json: field('missing', 'model', 'Field required') },
  { name: 'no messages', path: CHAT, body: { model: MODEL, messages: [] }, status: 422, json: field('too_short', 'messages', 'List should have at least 1 item after validation, not 0') },
  { name: 'broken JSON', path: CHAT, body: '{', status: 422, json: { detail: [{ type: 'json_invalid', loc: ['body', 1], msg: 'JSON decode error', ctx: { error: 'Expecting property name enclosed in double quotes' } }] } },
  { name: 'JSON and more', path: CHAT, body: '{} {}', status: 422, json: { detail: [{ type: 'json_invalid', ctx: { error: 'Extra data' } }] } },
  { name: 'no body', path: CHAT, method: 'POST', headers: { 'content-length': '0' }, status: 422, json: { detail: [{ type: 'missing', loc: ['body'], msg: 'Field required', input: null }] } },
  { name: 'a list for a body', path: CHAT, body: '[]', status: 422, json: { detail: [{ type: 'model_attributes_type' }] } },
  { name: 'a body of another type', path: COMPLETIONS, body: JSON.stringify(prompt({})), headers: { 'content-type': 'text/plain' }, status: 422, json: { detail: [{ type: 'model_attributes_type' }] } },
  { name: 'a form for a body', path: COMPLETIONS, body: 'model=ensemble&prompt=x', headers: { 'content-type': 'application/x-www-form-urlencoded' }, status: 422, json: { detail: [{ type: 'model_attributes_type' }] } },
  { name: 'a body of a kind of JSON', path: COMPLETIONS, body: JSON.stringify(prompt({ max_tokens: 1 })), headers: { 'content-type': 'application/vnd.api+json' }, status: 200 },
  { name: 'a body that is not UTF-8', path: COMPLETIONS, body: Buffer.from('{"model":"\xff"}', 'latin1'), status: 400, json: detail('There was an error parsing the body') },
  { name: 'not a number', path: COMPLETIONS, body: '{"model":"ensemble","prompt":"x","temperature":NaN}', status: 500, type: 'text/plain; charset=utf-8', text: 'Internal Server Error' },
  { name: 'a key twice', path: COMPLETIONS, body: '{"model":"ensemble","prompt":"x","max_tokens":1,"n":2,"n":1}', status: 200 },
];
