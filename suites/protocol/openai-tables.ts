/** What a client sees of NVIDIA's OpenAI front end r25.12: literals observed on the running front end (docs/observed.md). */
import type { HttpCase } from './http-tables.ts';

const COMPLETIONS = '/v1/completions';
const CHAT = '/v1/chat/completions';
const MODEL = 'ensemble';
const messages = [{ role: 'user', content: 'Say nothing.' }];
const detail = (text: unknown) => ({ detail: text });
const field = (type: string, name: string, msg: string) => ({ detail: [{ type, loc: ['body', name], msg }] });

export const OPENAI: readonly HttpCase[] = [
  { name: 'models', path: '/v1/models', status: 200, json: { object: 'list', data: (d: any[]) => d.some((m) => m.id === MODEL && m.object === 'model' && m.owned_by === 'Triton Inference Server') } },
  { name: 'one model', path: '/v1/models/ensemble', status: 200, json: { id: MODEL, object: 'model' } },
  { name: 'an unknown model', path: '/v1/models/nope', status: 404, json: detail('Unknown model: nope') },
  { name: 'ready', path: '/health/ready', status: 200, text: '' },
  { name: 'metrics on the same port', path: '/metrics', status: 200, text: /nv_inference_request_success/, type: /^text\/plain/ },
  { name: 'KServe routes are not here', path: '/v2/health/live', status: 404, json: detail('Not Found') },
  { name: 'GET where POST belongs', path: COMPLETIONS, status: 405, json: detail('Method Not Allowed') },
  { tiny: true, name: 'a completion', path: COMPLETIONS, body: { model: MODEL, prompt: '<|user|>Say nothing.<|assistant|>', temperature: 0, top_p: 0 }, status: 200, type: 'application/json', text: /^\{"id":"cmpl-[0-9a-f-]{36}","choices":\[\{"finish_reason":"stop","index":0,"logprobs":null,"text":""\}\],"created":\d+,"model":"ensemble","system_fingerprint":null,"object":"text_completion","usage":\{"prompt_tokens":\d+,"total_tokens":\d+,"completion_tokens":0\}\}$/ },
  { name: 'completion to an unknown model', path: COMPLETIONS, body: { model: 'nope', prompt: 'x' }, status: 400, json: detail('Unknown model: nope') },
  { name: 'chat to an unknown model', path: CHAT, body: { model: 'nope', messages }, status: 400, json: detail('Unknown model: nope') },
  { name: 'two choices', path: COMPLETIONS, body: { model: MODEL, prompt: 'x', n: 2 }, status: 400, json: detail('Received n=2, but only single choice (n=1) is currently supported') },
  { name: 'best of two', path: COMPLETIONS, body: { model: MODEL, prompt: 'x', best_of: 2 }, status: 400, json: detail('Received best_of=2, but only single choice (best_of=1) is currently supported') },
  { name: 'logit bias', path: CHAT, body: { model: MODEL, messages, logit_bias: { 5: 1 } }, status: 400, json: detail('logit bias is not currently supported') },
  { name: 'log-probabilities', path: COMPLETIONS, body: { model: MODEL, prompt: 'x', logprobs: 1 }, status: 400, json: detail('logprobs are currently available only for the vLLM backend') },
  { name: 'a suffix', path: COMPLETIONS, body: { model: MODEL, prompt: 'x', suffix: 'y' }, status: 400, json: detail('suffix is not currently supported') },
  { name: 'an empty prompt', path: COMPLETIONS, body: { model: MODEL, prompt: '' }, status: 400, json: detail('prompt must be non-empty') },
  { name: 'a list of prompts', path: COMPLETIONS, body: { model: MODEL, prompt: ['a', 'b'] }, status: 400, json: detail('only single string input is supported') },
  { name: 'stream options without a stream', path: CHAT, body: { model: MODEL, messages, stream_options: { include_usage: true } }, status: 400, json: detail('`stream_options` can only be used when `stream` is True') },
  { name: 'a field that is not known', path: COMPLETIONS, body: { model: MODEL, prompt: 'x', top_k: 1 }, status: 422, json: field('extra_forbidden', 'top_k', 'Extra inputs are not permitted') },
  { name: 'a number out of range', path: COMPLETIONS, body: { model: MODEL, prompt: 'x', max_tokens: -1 }, status: 422, json: field('greater_than_equal', 'max_tokens', 'Input should be greater than or equal to 0') },
  { name: 'a fraction for a whole number', path: COMPLETIONS, body: { model: MODEL, prompt: 'x', max_tokens: 5.5 }, status: 422, json: field('int_from_float', 'max_tokens', 'Input should be a valid integer, got a number with a fractional part') },
  { name: 'a field that is missing', path: CHAT, body: { messages }, status: 422, json: field('missing', 'model', 'Field required') },
  { name: 'no messages', path: CHAT, body: { model: MODEL, messages: [] }, status: 422, json: field('too_short', 'messages', 'List should have at least 1 item after validation, not 0') },
  { name: 'broken JSON', path: CHAT, body: '{', status: 422, json: { detail: [{ type: 'json_invalid', msg: 'JSON decode error' }] } },
];
