/** Which case of the suite a recorded request is: worked out of what was asked where the recording does not say it. */
import type { Case, ChatMessage, Limits, Mode, Prompt, RouteId, Sampling } from '#core/request/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { Json } from '../message-json.ts';
import type { Asked } from '../types.ts';
import { type Question, isObject, textOf } from './question.ts';

export interface AskedCase {
  readonly case: Case;
  readonly asked: Asked;
}

/** The case, or why there is none, as a phrase. */
export function caseOf(question: Question, name: string, tokenizer: Tokenizer): AskedCase | string {
  const { path, json } = question;
  if (json === undefined || !isObject(json)) return 'its request is none that a route sends';
  const id = planId(question.id, name);
  if (path === '/inference.GRPCInferenceService/ModelStreamInfer' || path === '/inference.GRPCInferenceService/ModelInfer')
    return tensorCase(json, id, tokenizer);
  const generate = /^\/v2\/models\/[^/?]+(?:\/versions\/[^/?]+)?\/generate(_stream)?$/.exec(path);
  if (generate !== null) return textCase(json, 'generate', generate[1] === undefined ? 'unary' : 'stream', id);
  if (path === '/v1/completions' || path === '/v1/chat/completions') return openAiCase(json, path === '/v1/completions', id);
  return `no route of the suite sends a request to ${path}`;
}

/** The suite puts process and counter behind the id of a plan. */
function planId(id: string, name: string): string {
  const plain = id.replace(/\.[a-z0-9]+-\d+-\d+$/, '');
  return plain === '' ? name : plain;
}

type Inputs = ReadonlyMap<string, readonly Json[]>;

function tensorCase(json: { readonly [key: string]: Json }, id: string, tokenizer: Tokenizer): AskedCase | string {
  const inputs = tensorsOf(json);
  const model = textOf(json['model_name']);
  if (inputs.has('input_ids')) return rawCase(inputs, id, tokenizer);
  if (inputs.has('sampling_param_max_tokens')) return llmapiCase(inputs, id);
  const route: RouteId = /bls/.test(model) ? (/accumulate/.test(model) ? 'bls-accumulate' : 'bls') : 'ensemble';
  return textCase(Object.fromEntries(inputs), route, one(inputs, 'stream') === true ? 'stream' : 'unary', id);
}

/** Elements of each input, whatever their spelling. */
function tensorsOf(json: { readonly [key: string]: Json }): Inputs {
  const inputs = Array.isArray(json['inputs']) ? (json['inputs'] as readonly Json[]).filter(isObject) : [];
  return new Map(
    inputs.map((input) => {
      const { data, contents } = input;
      const typed = isObject(contents) ? Object.values(contents).find((list) => Array.isArray(list) && list.length > 0) : undefined;
      return [textOf(input['name']), (Array.isArray(data) ? data : Array.isArray(typed) ? typed : []) as readonly Json[]];
    }),
  );
}

function one(inputs: Inputs, ...names: readonly string[]): Json | undefined {
  for (const name of names) {
    const value = inputs.get(name)?.[0];
    if (value !== undefined) return value;
  }
  return undefined;
}

const asNumber = (value: Json | undefined): number | undefined =>
  typeof value === 'number' || (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) ? Number(value) : undefined;

function rawCase(inputs: Inputs, id: string, tokenizer: Tokenizer): AskedCase | string {
  const maxTokens = asNumber(one(inputs, 'request_output_len'));
  if (maxTokens === undefined) return 'it says no request_output_len';
  const stopWords = phrases(inputs.get('stop_words_list') ?? []).map((ids) => tokenizer.decode(ids, { skipSpecialTokens: false }));
  const minTokens = asNumber(one(inputs, 'min_tokens', 'min_length'));
  const limits: Limits = {
    maxTokens,
    ...(minTokens === undefined ? {} : { minTokens }),
    ...(stopWords.length === 0 ? {} : { stopWords }),
    ...(inputs.has('end_id') ? {} : { stopAtEos: false }),
  };
  const ids = (inputs.get('input_ids') ?? []).map(Number);
  const sampling = samplingOf({
    topK: asNumber(one(inputs, 'runtime_top_k')),
    topP: asNumber(one(inputs, 'runtime_top_p')),
    temperature: asNumber(one(inputs, 'temperature')),
    seed: asNumber(one(inputs, 'seed', 'random_seed')),
  });
  return {
    case: caseWith('raw', one(inputs, 'streaming') === true ? 'stream' : 'unary', id, { kind: 'ids', ids }, sampling, limits),
    asked: askedOf(one(inputs, 'return_log_probs') === true, one(inputs, 'return_generation_logits') === true),
  };
}

function askedOf(logProbs: boolean, margins = false): Asked {
  return { ...(logProbs ? { logProbs } : {}), ...(margins ? { margins } : {}) };
}

/** INT32 [1, 2, L]: ids, and the end of each phrase. */
function phrases(list: readonly Json[]): number[][] {
  const width = list.length >> 1;
  const ids = list.slice(0, width).map(Number);
  const ends = list
    .slice(width)
    .map(Number)
    .filter((end) => end >= 0);
  return ends.map((end, i) => ids.slice(i === 0 ? 0 : ends[i - 1], end)).filter((phrase) => phrase.length > 0);
}

/** Without top_k and top_p the engine is greedy, and with top_k 1 (docs/determinism.md#greedy). */
function samplingOf(given: {
  readonly topK: number | undefined;
  readonly topP: number | undefined;
  readonly temperature: number | undefined;
  readonly seed: number | undefined;
}): Sampling {
  const { topK, topP, temperature, seed = 0 } = given;
  if ((topK ?? 0) === 1 || ((topK ?? 0) === 0 && (topP ?? 0) === 0)) return { kind: 'greedy' };
  return {
    kind: 'sampled',
    seed,
    ...(temperature === undefined ? {} : { temperature }),
    ...(topK === undefined ? {} : { topK }),
    ...(topP === undefined ? {} : { topP }),
  };
}

/** ensemble, BLS, and generate, whose body has the same names. */
function textCase(body: { readonly [key: string]: Json }, route: RouteId, mode: Mode, id: string): AskedCase | string {
  const inputs: Inputs = new Map(
    Object.entries(body).map(([name, value]) => [name, (Array.isArray(value) ? value : [value]) as readonly Json[]]),
  );
  const text = one(inputs, 'text_input');
  const maxTokens = asNumber(one(inputs, 'max_tokens'));
  if (typeof text !== 'string' || maxTokens === undefined) return 'it has no text_input with max_tokens';
  const stopWords = (inputs.get('stop_words') ?? []).filter((word) => typeof word === 'string');
  const minTokens = asNumber(one(inputs, 'min_tokens', 'min_length'));
  const sampling = samplingOf({
    topK: asNumber(one(inputs, 'top_k')),
    topP: asNumber(one(inputs, 'top_p')),
    temperature: asNumber(one(inputs, 'temperature')),
    seed: asNumber(one(inputs, 'seed', 'random_seed')),
  });
  const limits: Limits = { maxTokens, ...(minTokens === undefined ? {} : { minTokens }), ...(stopWords.length === 0 ? {} : { stopWords }) };
  return {
    case: caseWith(route, mode, id, { kind: 'text', text }, sampling, limits),
    asked: askedOf(one(inputs, 'return_log_probs') === true),
  };
}

function llmapiCase(inputs: Inputs, id: string): AskedCase | string {
  const text = one(inputs, 'text_input');
  const maxTokens = asNumber(one(inputs, 'sampling_param_max_tokens'));
  if (typeof text !== 'string' || maxTokens === undefined) return 'it has no text_input with sampling_param_max_tokens';
  const stopWords = (inputs.get('sampling_param_stop') ?? []).filter((word) => typeof word === 'string');
  const sampling = samplingOf({
    topK: asNumber(one(inputs, 'sampling_param_top_k')),
    topP: asNumber(one(inputs, 'sampling_param_top_p')),
    temperature: asNumber(one(inputs, 'sampling_param_temperature')),
    seed: asNumber(one(inputs, 'sampling_param_seed')),
  });
  const mode = one(inputs, 'streaming') === true ? 'stream' : 'unary';
  return {
    case: caseWith('llmapi', mode, id, { kind: 'text', text }, sampling, { maxTokens, ...(stopWords.length === 0 ? {} : { stopWords }) }),
    asked: {},
  };
}

/** Default of both endpoints (OpenAI's API reference); chat has none. */
const COMPLETION_TOKENS = 16;

function openAiCase(body: { readonly [key: string]: Json }, completions: boolean, id: string): AskedCase | string {
  const prompt = completions ? completionPrompt(body['prompt']) : chatPrompt(body['messages']);
  if (prompt === undefined) return `its ${completions ? 'prompt is not one text' : 'messages are not all texts'}`;
  const maxTokens =
    asNumber(body['max_completion_tokens']) ?? asNumber(body['max_tokens']) ?? (completions ? COMPLETION_TOKENS : undefined);
  if (maxTokens === undefined) return 'it says no max_tokens';
  const stop = body['stop'];
  const stopWords = (Array.isArray(stop) ? (stop as readonly Json[]) : [stop]).filter((word) => typeof word === 'string');
  const minTokens = asNumber(body['min_tokens']);
  const temperature = asNumber(body['temperature']);
  const topP = asNumber(body['top_p']);
  // Left out, both are 1 there: the engine samples.
  const sampling: Sampling =
    temperature === 0
      ? { kind: 'greedy' }
      : samplingOf({ topK: asNumber(body['top_k']), topP: topP ?? 1, temperature: temperature ?? 1, seed: asNumber(body['seed']) });
  const limits: Limits = { maxTokens, ...(minTokens === undefined ? {} : { minTokens }), ...(stopWords.length === 0 ? {} : { stopWords }) };
  const mode = body['stream'] === true ? 'stream' : 'unary';
  return { case: caseWith(completions ? 'openai-completions' : 'openai-chat', mode, id, prompt, sampling, limits), asked: {} };
}

function completionPrompt(prompt: Json | undefined): Prompt | undefined {
  const text = Array.isArray(prompt) && prompt.length === 1 ? (prompt as readonly Json[])[0] : prompt;
  return typeof text === 'string' ? { kind: 'text', text } : undefined;
}

function chatPrompt(messages: Json | undefined): Prompt | undefined {
  if (!Array.isArray(messages)) return undefined;
  const all = (messages as readonly Json[]).map(chatMessage);
  return all.every((message) => message !== undefined) ? { kind: 'messages', messages: all } : undefined;
}

function chatMessage(message: Json): ChatMessage | undefined {
  if (!isObject(message)) return undefined;
  const { role, content } = message;
  if (role !== 'system' && role !== 'user' && role !== 'assistant') return undefined;
  const parts = Array.isArray(content) ? (content as readonly Json[]).map((part) => (isObject(part) ? part['text'] : part)) : [content];
  return parts.every((part) => typeof part === 'string') ? { role, content: parts.join('') } : undefined;
}

function caseWith(route: RouteId, mode: Mode, id: string, prompt: Prompt, sampling: Sampling, limits: Limits): Case {
  return { request: { id, prompt, sampling, limits }, route, mode, repeat: 0 };
}
