/** One greedy request for text, by whichever model of the deployment takes text. */
import { LockstepError } from '#core/errors/index.ts';
import type { CallOptions, GrpcClient, InferMessage } from '#wire/clients/index.ts';
import type { ModelConfig } from '#wire/protocol/model-config.ts';
import { boolTensor, bytesTensor, decodeBytesElements, int32Tensor } from '#wire/protocol/tensors.ts';
import { roleOf } from '../audit/model-role.ts';

export interface Asked {
  readonly model: string;
  readonly config: ModelConfig;
}

/** The ensemble before the LLM API before the BLS: the ensemble passes through every model that can be set wrongly. */
export function textModel(
  configs: readonly ModelConfig[],
  decoupled: (config: ModelConfig) => boolean,
): (Asked & { readonly streams: boolean }) | undefined {
  for (const role of ['ensemble', 'llmapi', 'bls'] as const) {
    const config = configs.find((one) => roleOf(one) === role && one.input.some(({ name }) => name === 'text_input'));
    if (config !== undefined) return { model: config.name, config, streams: decoupled(config) };
  }
  return undefined;
}

/**
 * The texts of all responses in their order; one for an answer that is not streamed.
 *
 * Errors: those of the gRPC client; `answer-failed`, for an error inside a stream and for no text at all.
 */
export async function ask(
  grpc: GrpcClient,
  { model, config, streams }: Asked & { readonly streams: boolean },
  request: { readonly id: string; readonly prompt: string; readonly maxTokens: number },
  options: CallOptions,
): Promise<readonly string[]> {
  const batch = config.max_batch_size > 0 ? [1] : [];
  const has = (name: string) => config.input.some((input) => input.name === name);
  const limit = has('max_tokens') ? 'max_tokens' : 'sampling_param_max_tokens';
  const flag = ['stream', 'streaming'].find(has);
  const inputs = [
    bytesTensor('text_input', [...batch, 1], [request.prompt]),
    int32Tensor(limit, [...batch, 1], [request.maxTokens]),
    ...(streams && flag !== undefined ? [boolTensor(flag, [...batch, 1], [true])] : []),
  ];
  const call = { model, id: request.id, inputs, outputs: ['text_output'] };
  if (!streams) return textsOf(await grpc.infer(call, options));
  await using stream = grpc.openStream(options);
  await stream.send({ ...call, parameters: { triton_enable_empty_final_response: true } });
  const texts: string[] = [];
  for await (const message of stream.messages) {
    if (message.errorMessage !== undefined) throw failed(model, request.prompt, `: ${message.errorMessage}`);
    texts.push(...textsOf(message));
    if (message.final === true) break;
  }
  if (texts.length === 0) throw failed(model, request.prompt, 'without a text_output');
  return texts;
}

/** What every request fails with would otherwise be an answer that is always the same. */
function failed(model: string, prompt: string, how: string): LockstepError {
  return new LockstepError('answer-failed', `${model} answered “${prompt}” ${how}`.replace(' :', ':'), {
    hint: 'Send it by hand; a server whose models do not answer cannot be put to the test.',
  });
}

function textsOf(message: InferMessage): readonly string[] {
  return message.outputs
    .filter(({ name }) => name === 'text_output')
    .flatMap(({ data }) => decodeBytesElements(data).map((bytes) => new TextDecoder().decode(bytes)));
}
