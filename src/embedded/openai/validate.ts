/**
 * What the schema accepts and the front end refuses, in its order.
 * Source: _validate_chat_request, _validate_completion_request and _verify_chat_tool_call_settings (r24.11 to main), for
 * models that are not vLLM, without LoRA.
 */
import type { OpenAiProfile } from '#core/profile/index.ts';
import { writePythonJson } from '../fastapi/index.ts';
import { clientError } from './client-error.ts';
import { ServerFailure } from './server-failure.ts';
import type { ModelEntry } from './model-table.ts';
import type { ChatRequest, CompletionRequest } from './request-schema.ts';
import type { WritableJson } from '#wire/protocol/json-value.ts';

const NO_LOGPROBS = 'logprobs are currently available only for the vLLM backend';

function knownModel(models: ReadonlyMap<string, ModelEntry>, name: string): ModelEntry {
  const entry = models.get(name);
  if (entry === undefined) throw clientError(`Unknown model: ${name}`);
  return entry;
}

export function checkedCompletion(
  models: ReadonlyMap<string, ModelEntry>,
  request: CompletionRequest,
  profile: OpenAiProfile,
): { readonly model: ModelEntry; readonly prompt: string } {
  const model = knownModel(models, request.model);
  if (model.backend === '') throw new ServerFailure('Unknown backend');
  if (request.suffix !== undefined) throw clientError('suffix is not currently supported');
  const { prompt } = request;
  if (prompt === '' || (Array.isArray(prompt) && prompt.length === 0)) throw clientError('prompt must be non-empty');
  if (typeof prompt !== 'string') throw clientError('only single string input is supported');
  onlyOneChoice(request.n);
  if (request.best_of !== undefined && request.best_of > 1n)
    throw clientError(`Received best_of=${request.best_of}, but only single choice (best_of=1) is currently supported`);
  if (profile.logProbs.value === 'vllm-only') {
    if (request.logit_bias !== undefined) throw clientError('logit bias is not supported');
    if (request.logprobs !== undefined && request.logprobs > 0n) throw clientError(NO_LOGPROBS);
  } else if (request.logit_bias !== undefined || request.logprobs !== undefined) {
    throw clientError('logit bias and log probs not supported');
  }
  checkStreamOptions(request, profile);
  return { model, prompt };
}

export function checkedChat(
  models: ReadonlyMap<string, ModelEntry>,
  request: ChatRequest,
  { hasTokenizer, hasParser, profile }: { readonly hasTokenizer: boolean; readonly hasParser: boolean; readonly profile: OpenAiProfile },
): ModelEntry {
  const model = knownModel(models, request.model);
  if (!hasTokenizer) throw new ServerFailure('Unknown tokenizer');
  if (model.backend === '') throw new ServerFailure('Unknown backend');
  onlyOneChoice(request.n);
  if (profile.logProbs.value === 'vllm-only') {
    if (request.logit_bias !== undefined) throw clientError('logit bias is not currently supported');
    if (request.logprobs === true || request.top_logprobs !== undefined) throw clientError(NO_LOGPROBS);
  } else if (request.logit_bias !== undefined || request.logprobs === true) {
    throw clientError('logit bias and log probs not currently supported');
  }
  if (profile.tools.value === 'honoured') checkTools(request, hasParser);
  checkStreamOptions(request, profile);
  return model;
}

/**
 * Fields that reach no TensorRT-LLM model: what a release drops without a word passes, anything else of them is refused.
 * The text of the refusal is this server's own, since the known releases drop all of them.
 */
export function mustReachModel(
  request: CompletionRequest | ChatRequest,
  { droppedFields, tools }: OpenAiProfile,
  faults: ReadonlySet<string>,
): void {
  const { ignore_eos, min_tokens } = request;
  const chat: Partial<ChatRequest> = 'messages' in request ? request : {};
  const ignoresTools = tools.value === 'ignored';
  const unserved = {
    min_tokens: min_tokens !== undefined,
    ignore_eos: ignore_eos === true,
    // Fault response-format-not-enforced: it passes, and reaches nothing.
    response_format: chat.response_format?.type === 'json_object' && !faults.has('response-format-not-enforced'),
    functions: chat.functions !== undefined,
    function_call: chat.function_call !== undefined,
    top_logprobs: chat.top_logprobs !== undefined,
    tools: ignoresTools && (chat.tools ?? []).length > 0,
    tool_choice: ignoresTools && chat.tool_choice !== undefined && chat.tool_choice !== 'none',
  };
  const [name] = Object.entries(unserved).find(([field, given]) => given && !droppedFields.value.includes(field)) ?? [];
  if (name !== undefined) throw clientError(`${name} is not supported`);
}

function onlyOneChoice(n: bigint | undefined): void {
  if (n !== undefined && n > 1n) throw clientError(`Received n=${n}, but only single choice (n=1) is currently supported`);
}

function checkStreamOptions(request: Pick<CompletionRequest, 'stream' | 'stream_options'>, profile: OpenAiProfile): void {
  if (request.stream_options === undefined) return;
  if (request.stream !== true) throw clientError('`stream_options` can only be used when `stream` is True');
  if (profile.streamOptions.value === 'without-usage' && request.stream_options.include_usage === true)
    throw clientError('`stream_options.include_usage` is currently only supported for the vLLM backend');
}

function checkTools(request: ChatRequest, hasParser: boolean): void {
  const hasTools = (request.tools ?? []).length > 0;
  if (request.tool_choice === 'required' && !hasTools)
    throw clientError('"required" tool choice requires CreateChatCompletionRequest.tools to be provided');
  if (typeof request.tool_choice === 'object' && !hasTools)
    throw clientError('Named tool choice requires CreateChatCompletionRequest.tools to be provided');
  if (hasParser) return;
  if (request.tool_choice === 'auto') throw clientError('"auto" tool choice requires --tool-call-parser to be set');
  if (request.tool_choice === undefined && hasTools) throw clientError('having tools in the request requires --tool-call-parser to be set');
}

/** The tool that must be called, with its parameters as compact JSON. */
export function forcedTool(request: ChatRequest): { readonly name: string; readonly guide: string } | undefined {
  const choice = request.tool_choice;
  const tools = request.tools ?? [];
  const name = typeof choice === 'object' ? choice.function.name : choice === 'required' ? tools[0]?.function.name : undefined;
  if (name === undefined) return undefined;
  const tool = tools.findLast((candidate) => candidate.function.name === name);
  if (tool === undefined) throw clientError(`Tool '${name}' has not been passed in \`tools\`.`);
  if (tool.function.parameters === undefined) throw new ServerFailure("'NoneType' object has no attribute 'model_dump_json'");
  return { name, guide: writePythonJson(tool.function.parameters as ReadonlyMap<string, WritableJson>) };
}
