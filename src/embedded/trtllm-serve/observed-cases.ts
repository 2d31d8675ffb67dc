/**
 * What the observed server answered to each request, and what the engine behind it had said (docs/observed.md#trtllm-serve).
 * Ids and `created` are masked. Token texts: `Hello`, ` world`, ` of`, ` stop`, ` tokens`, single letters, bytes.
 */

/** Compact form of an answer: what every row of the observation says. */
export interface Seen {
  /** Whole: the text. Stream: the text of each delta. */
  readonly text?: string | readonly string[];
  readonly finish?: string | null;
  readonly stop?: string | number | null;
  /** completion_tokens; of a stream only if usage was asked for. */
  readonly tokens?: number;
  readonly promptTokens?: number;
}

export interface ObservedCase {
  readonly name: string;
  /** Both, when absent. */
  readonly release?: '1.1' | '1.3rc';
  /** The EOS id is dropped by the sampler; kept when absent. */
  readonly eosDropped?: true;
  readonly interval?: number;
  /** What the engine says: token texts, then EOS unless the limit comes first. `0xe2` stands for that byte. */
  readonly says?: readonly string[];
  readonly chat?: true;
  /** Fields besides model and prompt (or messages). A text is sent as it is. */
  readonly body?: string | Readonly<Record<string, unknown>>;
  readonly status?: number;
  readonly seen?: Seen;
  /** The whole masked body, or all events. */
  readonly exact?: string;
  /** A part of the masked body. */
  readonly holds?: string;
  /** The connection closed without the last chunk. */
  readonly cut?: true;
}

const HELLO = ['Hello', ' world'];
const LONG = ['Hello', ' world', ' of', ' stop', ' tokens'];
const LETTERS = ['a', 'b', 'X', 'Y', 'c', 'd'];
const S = { stream: true };
const U = { stream: true, stream_options: { include_usage: true, continuous_usage_stats: false } };
const usage = (prompt: number, completion: number) =>
  `{"prompt_tokens":${prompt},"total_tokens":${prompt + completion},"completion_tokens":${completion},"prompt_tokens_details":{"cached_tokens":0}}`;
const error = (message: string) =>
  `{"object":"error","message":${JSON.stringify(message)},"type":"BadRequestError","param":null,"code":400}`;
const textChunk = (id: string, text: string, finish: string | null, counted = 'null') =>
  `data: {"id":"${id}","object":"text_completion","created":T,"model":"m","choices":[{"index":0,"text":${JSON.stringify(text)},"token_ids":null,"logprobs":null,"finish_reason":${JSON.stringify(finish)},"stop_reason":null,"avg_decoded_tokens_per_iter":1.0}],"usage":${counted}}\n\n`;
const chatChunk = (id: string, choice: string, more = '', end = '\n\n') =>
  `data: {"id":"${id}","object":"chat.completion.chunk","created":T,"model":"m","choices":[{"index":0,${choice}}]${more}}${end}`;
const delta = (text: string) => `"delta":{"content":"${text}","reasoning_content":""}`;
const AVG = '"avg_decoded_tokens_per_iter":1.0';
const DONE = 'data: [DONE]\n\n';

/** The prompt of every completion below: BOS and one letter. Messages: one of the user's, 26 tokens with BOS. */
export const PROMPT = 'p';
export const MESSAGES = [{ role: 'user', content: 'p' }];
const CHAT_TOKENS = 19;

const BODIES: readonly ObservedCase[] = [
  {
    name: 'a whole completion, byte for byte',
    says: HELLO,
    exact: `{"id":"cmpl-H","object":"text_completion","created":T,"model":"m","choices":[{"index":0,"text":"Hello world","token_ids":null,"logprobs":null,"context_logits":null,"finish_reason":"stop","stop_reason":null,"disaggregated_params":null,"avg_decoded_tokens_per_iter":1.0}],"usage":${usage(2, 3)},"prompt_token_ids":null}`,
  },
  {
    name: 'a whole chat answer, byte for byte',
    chat: true,
    says: HELLO,
    exact: `{"id":"chatcmpl-H","object":"chat.completion","created":T,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Hello world","reasoning_content":"","reasoning":null,"tool_calls":[]},"logprobs":null,"finish_reason":"stop","stop_reason":null,"mm_embedding_handle":null,"disaggregated_params":null,"avg_decoded_tokens_per_iter":1.0}],"usage":${usage(CHAT_TOKENS, 3)},"prompt_token_ids":null}`,
  },
  {
    name: 'two prompts make one body with the name of the server',
    says: ['a'],
    body: { prompt: ['p', 'q'] },
    exact: `{"id":"cmpl-H","object":"text_completion","created":T,"model":"tiny-dir","choices":[{"index":0,"text":"a","token_ids":null,"logprobs":null,"context_logits":null,"finish_reason":"stop","stop_reason":null,"disaggregated_params":null,${AVG}},{"index":1,"text":"a","token_ids":null,"logprobs":null,"context_logits":null,"finish_reason":"stop","stop_reason":null,"disaggregated_params":null,${AVG}}],"usage":${usage(4, 4)},"prompt_token_ids":[]}`,
  },
];

const STREAMS: readonly ObservedCase[] = [
  {
    name: 'a stream of completions: an id per chunk, and usage in a chat object',
    release: '1.1',
    says: HELLO,
    body: U,
    exact:
      textChunk('cmpl-H', 'Hello', null) +
      textChunk('cmpl-H', ' world', null) +
      textChunk('cmpl-H', '', 'stop') +
      `data: {"id":"chatcmpl-H","object":"chat.completion.chunk","created":T,"model":"m","choices":[],"usage":${usage(2, 3)}}\n\n` +
      DONE,
  },
  {
    name: 'a stream of completions: one id, and usage in its own object',
    release: '1.3rc',
    says: HELLO,
    body: U,
    exact:
      textChunk('cmpl-N', 'Hello', null) +
      textChunk('cmpl-N', ' world', null) +
      textChunk('cmpl-N', '', 'stop') +
      `data: {"id":"cmpl-N","object":"text_completion","created":T,"model":"m","choices":[],"usage":${usage(2, 3)}}\n\n` +
      DONE,
  },
  ...(['1.1', '1.3rc'] as const).map((release): ObservedCase => {
    const id = release === '1.1' ? 'chatcmpl-H' : 'chatcmpl-N';
    return {
      name: `a chat stream: nulls are absent, the role ends with a space (${release})`,
      release,
      chat: true,
      says: HELLO,
      body: U,
      exact:
        chatChunk(id, '"delta":{"role":"assistant"}', '', ' \n\n') +
        chatChunk(id, `${delta('Hello')},${AVG}`) +
        chatChunk(id, `${delta(' world')},${AVG}`) +
        chatChunk(id, `${delta('')},"finish_reason":"stop",${AVG}`) +
        `data: {"id":"${id}","object":"chat.completion.chunk","created":T,"model":"m","choices":[],"usage":${usage(CHAT_TOKENS, 3)}}\n\n` +
        DONE,
    };
  }),
  {
    name: 'usage in every chunk: 0 with the role, the running count after it',
    release: '1.1',
    chat: true,
    says: ['a'],
    body: { stream: true, stream_options: {} },
    exact:
      chatChunk('chatcmpl-H', '"delta":{"role":"assistant"}', `,"usage":${usage(CHAT_TOKENS, 0)}`, ' \n\n') +
      chatChunk('chatcmpl-H', `${delta('a')},${AVG}`, `,"usage":${usage(CHAT_TOKENS, 1)}`) +
      chatChunk('chatcmpl-H', `${delta('')},"finish_reason":"stop",${AVG}`, `,"usage":${usage(CHAT_TOKENS, 2)}`) +
      `data: {"id":"chatcmpl-H","object":"chat.completion.chunk","created":T,"model":"m","choices":[],"usage":${usage(CHAT_TOKENS, 2)}}\n\n` +
      DONE,
  },
  ...(['1.1', '1.3rc'] as const).flatMap((release) =>
    (
      [
        ['absent', undefined, false, false],
        ['null', null, false, false],
        ['{}', {}, release === '1.1', true],
        ['include_usage', { include_usage: true }, release === '1.1', true],
        ['not continuous', { include_usage: true, continuous_usage_stats: false }, false, true],
        ['continuous', { include_usage: true, continuous_usage_stats: true }, true, true],
        ['not included', { include_usage: false }, false, false],
      ] as const
    ).map(([name, stream_options, perChunk, atEnd]): ObservedCase => {
      const id = release === '1.1' ? 'cmpl-H' : 'cmpl-N';
      const last = release === '1.1' ? '"id":"chatcmpl-H","object":"chat.completion.chunk"' : '"id":"cmpl-N","object":"text_completion"';
      return {
        name: `stream_options ${name} (${release})`,
        release,
        says: ['a'],
        body: { stream: true, max_tokens: 1, ...(stream_options === undefined ? {} : { stream_options }) },
        exact:
          textChunk(id, 'a', 'length', perChunk ? usage(2, 1) : 'null') +
          (atEnd ? `data: {${last},"created":T,"model":"m","choices":[],"usage":${usage(2, 1)}}\n\n` : '') +
          DONE,
      };
    }),
  ),
];

/** Not streamed and streamed: the second text is a list of deltas. */
function both(name: string, row: ObservedCase, whole: Seen, streamed: Seen): ObservedCase[] {
  const own = typeof row.body === 'object' ? row.body : {};
  return [
    { ...row, name: `${name}, whole`, seen: whole },
    { ...row, name: `${name}, streamed`, body: { ...own, ...U }, seen: { ...whole, ...streamed } },
  ];
}

const FINISHES: readonly ObservedCase[] = [
  ...both(
    'EOS',
    { name: '', says: HELLO },
    { text: 'Hello world', finish: 'stop', stop: null, tokens: 3 },
    { text: ['Hello', ' world', ''] },
  ),
  ...both(
    'EOS that the sampler drops',
    { name: '', says: HELLO, eosDropped: true },
    { text: 'Hello world', finish: 'stop', stop: null, tokens: 2 },
    { text: ['Hello', ' world', ''] },
  ),
  ...both(
    'max_tokens',
    { name: '', says: HELLO, body: { max_tokens: 2 } },
    { text: 'Hello world', finish: 'length', stop: null, tokens: 2 },
    { text: ['Hello', ' world'] },
  ),
  ...both(
    'a stop string of one token',
    { name: '', says: HELLO, body: { stop: ' world' } },
    { text: 'Hello', finish: 'stop', stop: ' world', tokens: 1 },
    { text: ['Hello', ''] },
  ),
  ...both(
    'EOS as a stop token',
    { name: '', says: HELLO, body: { stop_token_ids: [2] } },
    { text: 'Hello world', finish: 'stop', stop: null, tokens: 3 },
    { text: ['Hello', ' world', ''] },
  ),
  ...both(
    'a stop token',
    { name: '', says: LETTERS, body: { stop_token_ids: [60] } },
    { text: 'abX', finish: 'stop', stop: 60, tokens: 3 },
    { text: ['a', 'b', 'X', ''] },
  ),
  ...both(
    'a stop token that stays',
    { name: '', says: LETTERS, body: { stop_token_ids: [60], include_stop_str_in_output: true } },
    { text: 'abXY', finish: 'stop', stop: 60, tokens: 4 },
    { text: ['a', 'b', 'X', 'Y'] },
  ),
  ...both('EOS at once', { name: '', says: [] }, { text: '', finish: 'stop', stop: null, tokens: 1 }, { text: [''] }),
  ...both(
    'EOS at once that the sampler drops',
    { name: '', says: [], eosDropped: true },
    { text: '', finish: 'stop', stop: null, tokens: 0 },
    { text: [''] },
  ),
  ...both(
    'ignored EOS',
    { name: '', says: ['a', '</s>', 'b', '</s>'], body: { ignore_eos: true, max_tokens: 4 } },
    { text: 'ab', finish: 'length', stop: null, tokens: 4 },
    { text: ['a', '', 'b', ''] },
  ),
  ...both(
    'a stop string on the last token',
    { name: '', says: LETTERS, body: { stop: 'XY', max_tokens: 4 } },
    { text: 'ab', finish: 'stop', stop: 'XY', tokens: 4 },
    { text: ['a', 'b', 'X', ''] },
  ),
  { name: 'an empty stop string', says: HELLO, body: { stop: '' }, seen: { text: '', finish: 'stop', stop: '', tokens: 3 } },
  { name: 'an empty stop string, streamed', says: HELLO, body: { stop: '', ...S }, seen: { text: [''], finish: 'stop', stop: '' } },
  { name: 'no stop strings', says: HELLO, body: { stop: [] }, seen: { text: 'Hello world', finish: 'stop', stop: null, tokens: 3 } },
  {
    name: 'null for stop strings',
    says: HELLO,
    body: { stop: null },
    seen: { text: 'Hello world', finish: 'stop', stop: null, tokens: 3 },
  },
  {
    name: 'chat, EOS at once: the role, then nothing with a reason',
    release: '1.1',
    chat: true,
    says: [],
    body: S,
    exact:
      chatChunk('chatcmpl-H', '"delta":{"role":"assistant"}', '', ' \n\n') +
      chatChunk('chatcmpl-H', `${delta('')},"finish_reason":"stop",${AVG}`) +
      DONE,
  },
];

const STOPS: readonly ObservedCase[] = [
  ...both(
    'a stop string of two tokens leaks',
    { name: '', says: LETTERS, body: { stop: 'XY' } },
    { text: 'ab', finish: 'stop', stop: 'XY', tokens: 2 },
    { text: ['a', 'b', 'X', ''] },
  ),
  ...both(
    'and stays when it may',
    { name: '', says: LETTERS, body: { stop: 'XY', include_stop_str_in_output: true } },
    { text: 'abXY', finish: 'stop', stop: 'XY', tokens: 4 },
    { text: ['a', 'b', 'X', 'Y'] },
  ),
  ...both(
    'a stop string in other tokens',
    { name: '', says: LONG, body: { stop: 'ld of' } },
    { text: 'Hello wor', finish: 'stop', stop: 'ld of', tokens: 6 },
    { text: ['Hello', ' world', ''], tokens: 3 },
  ),
  ...both(
    'in other tokens, and stays',
    { name: '', says: LONG, body: { stop: 'ld of', include_stop_str_in_output: true } },
    { text: 'Hello world of', finish: 'stop', stop: 'ld of', tokens: 6 },
    { text: ['Hello', ' world', ' of'], tokens: 3 },
  ),
  { name: 'leaks less with an interval of 3', interval: 3, says: LETTERS, body: { stop: 'XY', ...S }, seen: { text: ['a', 'bX', ''] } },
  {
    name: 'is right in other tokens with an interval of 3',
    interval: 3,
    says: LONG,
    body: { stop: 'ld of', ...S },
    seen: { text: ['Hello', ' wor'] },
  },
  { name: 'is right with an interval of 24', interval: 24, says: LETTERS, body: { stop: 'XY', ...S }, seen: { text: ['a', 'b'] } },
  {
    name: 'log-probabilities of ids that were taken back',
    chat: true,
    says: LETTERS,
    body: { stop: 'XY', logprobs: true },
    status: 400,
    exact: error('token_ids and logprobs have different lengths'),
  },
  {
    name: 'the same, streamed: cut after the last good chunk',
    chat: true,
    says: LETTERS,
    body: { stop: 'XY', logprobs: true, ...S },
    cut: true,
    seen: { text: ['a', 'b', 'X'], finish: null },
  },
  {
    name: 'the same, streamed completions',
    release: '1.3rc',
    says: LETTERS,
    body: { stop: 'XY', logprobs: 1, ...S },
    cut: true,
    seen: { text: ['a', 'b', 'X'], finish: null },
  },
];

const violated = (type: string, loc: string, msg: string) => `{'type': '${type}', 'loc': (${loc}), 'msg': '${msg}'`;
const OK: Seen = { text: 'Hello world', finish: 'stop' };

const FIELDS: readonly ObservedCase[] = [
  ...['foo', 'store', 'metadata', 'service_tier', 'parallel_tool_calls'].map((name): ObservedCase => ({
    name: `the unknown field ${name}`,
    body: { [name]: true },
    status: 400,
    holds: violated('extra_forbidden', `'body', '${name}'`, 'Extra inputs are not permitted'),
  })),
  { name: 'chat knows no detokenize', chat: true, body: { detokenize: false }, status: 400, holds: 'extra_forbidden' },
  ...[
    { user: 'u' },
    { seed: -1 },
    { min_tokens: 1 },
    { logit_bias: { 5: 1 } },
    { presence_penalty: 1, frequency_penalty: 1, repetition_penalty: 1.2 },
    { use_beam_search: true },
  ].map((body): ObservedCase => ({ name: `accepted: ${JSON.stringify(body)}`, says: HELLO, body, seen: OK })),
  { name: 'accepted: reasoning_effort', chat: true, says: HELLO, body: { reasoning_effort: 'high' }, seen: OK },
  { name: 'max_tokens as a text', says: HELLO, body: { max_tokens: '1' }, seen: { text: 'Hello', finish: 'length' } },
  {
    name: 'max_tokens as a float',
    says: HELLO,
    body: '{"model":"m","prompt":"p","max_tokens":1.0}',
    seen: { text: 'Hello', finish: 'length' },
  },
  { name: 'max_tokens as a fraction', body: { max_tokens: 1.5 }, status: 400, holds: 'int_from_float' },
  { name: 'max_tokens as a word', body: { max_tokens: 'abc' }, status: 400, holds: 'int_parsing' },
  {
    name: 'max_tokens 0 reaches the engine',
    body: { max_tokens: 0 },
    status: 400,
    exact: error('Number of new tokens (0) must be larger than 0'),
  },
  { name: 'max_completion_tokens', chat: true, says: HELLO, body: { max_completion_tokens: 1 }, seen: { text: 'Hello', finish: 'length' } },
  { name: 'max_tokens in chat', chat: true, says: HELLO, body: { max_tokens: 1 }, seen: { text: 'Hello', finish: 'length' } },
  {
    name: 'both in chat',
    chat: true,
    body: { max_tokens: 1, max_completion_tokens: 1 },
    status: 400,
    holds: violated('extra_forbidden', "'body', 'max_completion_tokens'", 'Extra inputs are not permitted'),
  },
  { name: 'top_p 1.5', body: { top_p: 1.5 }, status: 400, exact: error('require 0 <= top_p <= 1, got top_p=1.5') },
  { name: 'temperature -1', body: { temperature: -1 }, status: 400, exact: error('require temperature >= 0, got temperature=-1.0') },
  { name: 'top_k -1', body: { top_k: -1 }, status: 400, exact: error('require top_k >= 0, got top_k=-1') },
  { name: 'temperature NaN', says: HELLO, body: '{"model":"m","prompt":"p","temperature":NaN}', seen: OK },
  { name: 'n 2', release: '1.1', body: { n: 2 }, status: 400, exact: error('Multiple response is not supported in PyTorch workflow') },
  {
    name: 'best_of 2, greedy',
    body: { best_of: 2, temperature: 0 },
    status: 400,
    holds: 'Greedy decoding in the LLM API does not allow multiple returns.',
  },
  { name: 'a suffix', body: { suffix: 'x' }, status: 400, holds: 'suffix is not supported' },
  { name: 'an empty suffix', says: HELLO, body: { suffix: '' }, seen: OK },
  {
    name: 'logit_bias of no number',
    body: { logit_bias: { x: 1 } },
    status: 400,
    exact: error("Invalid logit_bias key 'x': must be a valid integer token ID"),
  },
  {
    name: 'logit_bias beyond the vocabulary',
    body: { logit_bias: { 9999: 1 } },
    status: 400,
    exact: error('Token ID 9999 out of vocabulary range [0, 288)'),
  },
  ...['text', 'json_object'].map((type): ObservedCase => ({
    name: `response_format ${type}`,
    says: HELLO,
    body: { response_format: { type } },
    seen: OK,
  })),
  {
    name: 'response_format json without a schema',
    release: '1.1',
    body: { response_format: { type: 'json' } },
    status: 400,
    exact: error("The 'schema' field is required when response_format.type is 'json'."),
  },
  {
    name: 'response_format json_schema, unknown',
    release: '1.1',
    body: { response_format: { type: 'json_schema', json_schema: {} } },
    status: 400,
    holds: 'literal_error',
  },
  {
    name: 'response_format json_schema',
    release: '1.3rc',
    says: HELLO,
    body: { response_format: { type: 'json_schema', json_schema: {} } },
    seen: OK,
  },
  {
    name: 'response_format json_schema without the object',
    release: '1.3rc',
    body: { response_format: { type: 'json_schema' } },
    status: 400,
    exact: error("response_format.json_schema is required for response_format.type == 'json_schema', but got None."),
  },
  { name: 'stream null', says: HELLO, body: { stream: null }, seen: OK },
  {
    name: 'stream_options without stream',
    body: { stream_options: { include_usage: true } },
    status: 400,
    holds: 'Stream options can only be defined when stream is true.',
  },
  { name: 'empty stream_options without stream', says: HELLO, body: { stream_options: {} }, seen: OK },
  {
    name: 'empty stream_options without stream, chat',
    chat: true,
    body: { stream_options: {} },
    status: 400,
    holds: 'stream_options can only be set if stream is true',
  },
  {
    name: 'tool_choice without tools',
    chat: true,
    body: { tool_choice: 'auto' },
    status: 400,
    holds: 'When using `tool_choice`, `tools` must be set.',
  },
  { name: 'tools without a parser', chat: true, says: HELLO, body: { tools: [{ type: 'function', function: { name: 'f' } }] }, seen: OK },
  {
    name: 'a tool chosen by name',
    chat: true,
    says: HELLO,
    body: { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: { type: 'function', function: { name: 'f' } } },
    holds:
      '"message":{"role":"assistant","content":"","reasoning_content":null,"reasoning":null,"tool_calls":[{"id":"chatcmpl-tool-H","type":"function","function":{"name":"f","arguments":"Hello world"}}]},"logprobs":null,"finish_reason":"stop"',
  },
  {
    name: 'a tool chosen by name, streamed: cut without an event',
    release: '1.1',
    chat: true,
    says: HELLO,
    body: { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: { type: 'function', function: { name: 'f' } }, ...S },
    cut: true,
    exact: '',
  },
  {
    name: 'a tool chosen by name, streamed: its name in each delta',
    release: '1.3rc',
    chat: true,
    says: ['Hello'],
    body: { tools: [{ type: 'function', function: { name: 'f' } }], tool_choice: { type: 'function', function: { name: 'f' } }, ...S },
    exact:
      chatChunk('chatcmpl-N', '"delta":{"role":"assistant"}', '', ' \n\n') +
      chatChunk('chatcmpl-N', `"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":"Hello"}}]},${AVG}`) +
      chatChunk('chatcmpl-N', `"delta":{"tool_calls":[{"index":0,"function":{"name":"f","arguments":""}}]},"finish_reason":"stop",${AVG}`) +
      DONE,
  },
  { name: 'an empty cache_salt', chat: true, body: { cache_salt: '' }, status: 400, holds: 'must be a non-empty string if provided' },
  { name: 'a prompt cut to two tokens', says: HELLO, body: { prompt: 'abc', truncate_prompt_tokens: 2 }, seen: { promptTokens: 2 } },
  { name: 'no BOS', says: HELLO, body: { add_special_tokens: false }, seen: { promptTokens: 1 } },
  { name: 'BOS once in chat', chat: true, says: HELLO, seen: { promptTokens: CHAT_TOKENS } },
  { name: 'BOS twice in chat', chat: true, says: HELLO, body: { add_special_tokens: true }, seen: { promptTokens: CHAT_TOKENS + 1 } },
  { name: 'ids in place of text', says: ['a'], body: { detokenize: false }, holds: '"text":"","token_ids":[68,2],' },
  {
    name: 'ids in place of text, streamed',
    release: '1.1',
    says: ['a'],
    body: { detokenize: false, ...S },
    holds: '"text":"","token_ids":[2],',
  },
  ...both(
    'special tokens in the text',
    { name: '', says: HELLO, body: { skip_special_tokens: false } },
    { text: 'Hello world</s>', finish: 'stop', tokens: 3 },
    { text: ['Hello', ' world', '</s>'] },
  ),
  { name: 'prompt ids in chat', chat: true, says: HELLO, body: { prompt_token_ids: [1, 69] }, seen: { promptTokens: 2 } },
  { name: 'any model is echoed', says: HELLO, body: { model: 'any' }, holds: '"model":"any"' },
  { name: 'no model', body: '{"prompt":"p"}', status: 400, holds: violated('missing', "'body', 'model'", 'Field required') },
  { name: 'null for a model', body: { model: null }, status: 400, holds: 'string_type' },
  { name: 'a key twice', says: HELLO, body: '{"model":"a","model":"b","prompt":"p"}', holds: '"model":"b"' },
];

const LOG_PROBS: readonly ObservedCase[] = [
  {
    name: 'chat log-probabilities: EOS is an entry',
    chat: true,
    says: ['Hello'],
    body: { logprobs: true },
    holds:
      '"logprobs":{"content":[{"token":"Hello","logprob":-0.31326168751822286,"bytes":[72,101,108,108,111],"top_logprobs":null},{"token":"</s>","logprob":-0.31326168751822286,"bytes":[60,47,115,62],"top_logprobs":null}]}',
  },
  {
    name: 'chat top_logprobs, best first',
    chat: true,
    says: ['a'],
    body: { logprobs: true, top_logprobs: 2, max_tokens: 1 },
    holds:
      '"top_logprobs":[{"token":"a","logprob":-0.31326168751822286,"bytes":[97]},{"token":" Hello","logprob":-1.3132616875182228,"bytes":[32,72,101,108,108,111]}]',
  },
  {
    name: 'streamed, top_logprobs is omitted',
    chat: true,
    says: ['a'],
    body: { logprobs: true, ...S },
    holds: '"logprobs":{"content":[{"token":"a","logprob":-0.31326168751822286,"bytes":[97]}]}',
  },
  {
    name: 'EOS that the sampler drops has no entry',
    chat: true,
    eosDropped: true,
    says: ['a'],
    body: { logprobs: true, ...S },
    holds: '"logprobs":{"content":[]},"finish_reason":"stop"',
  },
  {
    name: 'top_logprobs without logprobs',
    chat: true,
    body: { top_logprobs: 1 },
    status: 400,
    holds: 'logprobs must be true when using top_logprobs',
  },
  {
    name: 'a part of a character',
    chat: true,
    says: ['0xe2'],
    body: { logprobs: true, max_tokens: 1 },
    holds: '"token":"\ufffd","logprob":-0.31326168751822286,"bytes":[239,191,189]',
  },
  { name: 'completions refuse log-probabilities', release: '1.1', body: { logprobs: 1 }, status: 400, holds: 'logprobs is not supported' },
  { name: 'completions accept 0', says: HELLO, body: { logprobs: 0 }, holds: '"logprobs":null' },
  {
    name: 'completions log-probabilities, with wrong offsets',
    release: '1.3rc',
    says: HELLO,
    body: { logprobs: 2 },
    holds:
      '"logprobs":{"text_offset":[0,6,10],"token_logprobs":[-0.31326168751822286,-0.31326168751822286,-0.31326168751822286],"tokens":["Hello"," world","</s>"],"top_logprobs":[{"Hello":-0.31326168751822286," Hello":-1.3132616875182228},',
  },
  {
    name: 'a stream has the right offset',
    release: '1.3rc',
    says: HELLO,
    body: { logprobs: 1, ...S },
    holds: '"logprobs":{"text_offset":[5],"token_logprobs":[-0.31326168751822286],"tokens":[" world"]',
  },
  { name: 'completions logprobs -1', release: '1.3rc', body: { logprobs: -1 }, status: 400 },
  { name: 'completions logprobs as a text', release: '1.3rc', body: { logprobs: '1' }, status: 500, exact: 'Internal Server Error' },
];

const PROMPTS: readonly ObservedCase[] = [
  { name: 'ids', says: HELLO, body: { prompt: [1, 69] }, seen: { ...OK, promptTokens: 2 } },
  { name: 'ids beyond the vocabulary', says: HELLO, body: { prompt: [1, 288, 99999] }, seen: { ...OK, promptTokens: 3 } },
  { name: 'ids as floats', says: HELLO, body: '{"model":"m","prompt":[1.0,69.0]}', seen: { ...OK, promptTokens: 2 } },
  { name: 'lists of ids', says: HELLO, body: { prompt: [[1, 69], [1]] }, seen: { promptTokens: 3 } },
  { name: 'an empty text is BOS', says: HELLO, body: { prompt: '' }, seen: { ...OK, promptTokens: 1 } },
  { name: 'no ids', body: { prompt: [] }, status: 400, exact: error('list index out of range') },
  { name: 'no ids in a list', body: { prompt: [[]] }, status: 400, exact: error('list index out of range') },
  ...[true, null, ['a', 1]].map((prompt): ObservedCase => ({
    name: `the prompt ${JSON.stringify(prompt)}`,
    body: { prompt },
    status: 400,
    holds: "'list[list[int]]'",
  })),
  { name: 'echo', says: HELLO, body: { echo: true }, seen: { text: 'pHello world', tokens: 3 } },
  { name: 'echo, streamed', says: HELLO, body: { echo: true, ...S }, seen: { text: ['pHello', ' world', ''] } },
  {
    name: 'echo of ids',
    says: HELLO,
    body: { prompt: [1, 69], echo: true },
    status: 400,
    exact: error('can only concatenate list (not "str") to list'),
  },
  {
    name: 'parts of text',
    chat: true,
    says: HELLO,
    body: {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'text', text: 'b' },
          ],
        },
      ],
    },
    seen: { promptTokens: CHAT_TOKENS + 2 },
  },
  { name: 'a bare text as a part', chat: true, body: { messages: [{ role: 'user', content: ['a'] }] }, status: 400 },
  {
    name: 'a part of another kind',
    chat: true,
    body: { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
    status: 400,
    exact: error('Unknown part type: input_audio'),
  },
  { name: 'no messages', chat: true, body: { messages: [] }, status: 400, exact: error('list index out of range') },
  { name: 'null for content', chat: true, body: { messages: [{ role: 'user', content: null }] }, status: 400 },
  { name: 'a role that nobody knows', chat: true, says: HELLO, body: { messages: [{ role: 'robot', content: 'p' }] }, seen: OK },
  {
    name: 'a key too many in a message',
    release: '1.1',
    chat: true,
    body: { messages: [{ role: 'user', content: 'p', x: 1 }] },
    status: 400,
    holds: 'extra_forbidden',
  },
  {
    name: 'a key too many in a message, accepted',
    release: '1.3rc',
    chat: true,
    says: HELLO,
    body: { messages: [{ role: 'user', content: 'p', x: 1 }] },
    seen: OK,
  },
  {
    name: 'chat echo of the same role',
    chat: true,
    says: [' world'],
    body: { echo: true, messages: [...MESSAGES, { role: 'assistant', content: 'Sure,' }] },
    seen: { text: 'Sure, world', tokens: 2 },
  },
  {
    name: 'chat echo, streamed as a second opening',
    release: '1.1',
    chat: true,
    says: ['a'],
    body: { echo: true, messages: [{ role: 'assistant', content: 'Sure,' }], ...S },
    holds: chatChunk('chatcmpl-H', '"delta":{"content":"Sure,"}', '', ' \n\n'),
  },
  { name: 'chat echo of another role', chat: true, says: HELLO, body: { echo: true }, seen: OK },
  { name: 'a template of the request', chat: true, says: HELLO, body: { chat_template: 'a' }, seen: { ...OK, promptTokens: 1 } },
  { name: 'a broken template', chat: true, body: { chat_template: '{% if %}' }, status: 400, holds: '"type":"BadRequestError"' },
];

const EURO = ['0xe2', '0x82', '0xac'];
const SMILE = ['0xf0', '0x9f', '0x98', '0x80'];
const SECOND = { spaces_between_special_tokens: false };
function detokenised(
  name: string,
  says: readonly string[],
  whole: string,
  streamed: readonly string[],
  second: readonly string[],
  body = {},
): ObservedCase[] {
  return [
    { name: `${name}, whole`, says, body, seen: { text: whole } },
    { name: `${name}, streamed`, says, body: { ...body, ...S }, seen: { text: streamed } },
    { name: `${name}, streamed the other way`, says, body: { ...body, ...SECOND, ...S }, seen: { text: second } },
  ];
}

const DETOKENISED: readonly ObservedCase[] = [
  ...detokenised(
    'split characters',
    ['a', ...EURO, 'b', ...EURO],
    'a€b€',
    ['a', '', '', '€', 'b', '', '', '€', ''],
    ['a', '', '', '€', 'b', '', '', '€', ''],
  ),
  ...detokenised('a character of four', ['x', ...SMILE], 'x😀', ['x', '', '', '', '😀', ''], ['x', '', '', '', '😀', '']),
  ...detokenised('a character cut by EOS', ['x', ...SMILE.slice(0, 2)], 'x\ufffd', ['x', '', '', ''], ['x', '', '', '\ufffd']),
  ...detokenised(
    'characters cut by max_tokens',
    ['x', ...Array.from({ length: 39 }, (_, i) => EURO[i % 2]!)],
    `x${'\ufffd'.repeat(20)}`,
    ['x', ...Array.from({ length: 39 }, () => '')],
    ['x', ...Array.from({ length: 38 }, () => ''), '\ufffd'.repeat(20)],
    { max_tokens: 40 },
  ),
  ...detokenised(
    'a character cut by another',
    ['x', ...SMILE.slice(0, 2), 'y'],
    'x\ufffdy',
    ['x', '', '', '\ufffdy', ''],
    ['x', '', '', '\ufffdy', ''],
  ),
  ...detokenised(
    'spaces',
    ['Hello', ' world', ' ', ' ', ' of'],
    'Hello world   of',
    ['Hello', ' world', ' ', ' ', ' of', ''],
    ['Hello', ' world', '', '', '   of', ''],
  ),
  { name: 'an interval of 3', interval: 3, says: LONG, body: S, seen: { text: ['Hello', ' world of', ' stop tokens'] } },
  { name: 'an interval of 30', interval: 30, says: LONG, body: S, seen: { text: ['Hello', ' world of stop tokens'], finish: 'stop' } },
];

const ERRORS: readonly ObservedCase[] = [
  {
    name: 'broken JSON, as an error object',
    release: '1.1',
    body: '{"a":',
    status: 400,
    exact: error(
      "[{'type': 'json_invalid', 'loc': ('body', 5), 'msg': 'JSON decode error', 'input': {}, 'ctx': {'error': 'Expecting value'}}]",
    ),
  },
  {
    name: 'broken JSON, as a text',
    release: '1.3rc',
    body: '{"a":',
    status: 400,
    exact: `{"error":"[{'type': 'json_invalid', 'loc': ('body', 5), 'msg': 'JSON decode error', 'input': {}, 'ctx': {'error': 'Expecting value'}}]"}`,
  },
  {
    name: 'an empty body',
    release: '1.1',
    body: '',
    status: 400,
    exact: error("[{'type': 'missing', 'loc': ('body',), 'msg': 'Field required', 'input': None}]"),
  },
  {
    name: 'the message quotes the request',
    release: '1.1',
    body: { max_tokens: 'abc' },
    status: 400,
    exact: error(
      "[{'type': 'int_parsing', 'loc': ('body', 'max_tokens'), 'msg': 'Input should be a valid integer, unable to parse string as an integer', 'input': 'abc'}]",
    ),
  },
  ...['[]', '"x"'].map((body): ObservedCase => ({ name: `the body ${body}`, body, status: 500, exact: 'Internal Server Error' })),
  {
    name: 'half a surrogate pair',
    body: '{"model":"m","prompt":"\\ud800"}',
    status: 400,
    exact: error('TextEncodeInput must be Union[TextInputSequence, Tuple[InputSequence, InputSequence]]'),
  },
  {
    name: 'a limit beyond the room is clamped',
    says: ['a', 'b'],
    body: { max_tokens: 1000, ignore_eos: true },
    seen: { finish: 'length', tokens: 126 },
  },
  {
    name: 'no room at all, found in the worker',
    release: '1.1',
    body: { prompt: 'a'.repeat(130) },
    status: 400,
    exact: error('`max_tokens` must be set when `default_max_tokens` is illegal'),
  },
  {
    name: 'no room at all, said in full',
    release: '1.3rc',
    body: { prompt: 'a'.repeat(130) },
    status: 400,
    holds: '`default_max_tokens` (-3) must be greater than 0, ',
  },
  { name: 'no room at all, streamed: no event, cut', body: { prompt: 'a'.repeat(130), ...S }, cut: true, exact: '' },
];

export const OBSERVED: readonly ObservedCase[] = [
  ...BODIES,
  ...STREAMS,
  ...FINISHES,
  ...STOPS,
  ...FIELDS,
  ...LOG_PROBS,
  ...PROMPTS,
  ...DETOKENISED,
  ...ERRORS,
];
