import { LockstepError } from '#core/errors/index.ts';
import type { CallOptions } from '../types.ts';
import { errorText, type HttpChannel, JSON_CONTENT } from './channel.ts';
import { type EventStream, openEvents } from './events.ts';
import { modelPath } from './paths.ts';

/** Top-level keys: tensors of the model by name, `id`, anything else becomes a request parameter. */
export type GenerateBody = Readonly<Record<string, unknown>>;

/** POST /generate or /generate_stream, with the ending of the body kept. */
export function openGenerate(
  channel: HttpChannel,
  model: string,
  body: GenerateBody,
  options: CallOptions & { readonly stream: boolean },
): EventStream {
  const path = `${modelPath(model)}/${options.stream ? 'generate_stream' : 'generate'}`;
  return openEvents(channel, { method: 'POST', path, headers: JSON_CONTENT, body: JSON.stringify(body) }, options);
}

/** POST /generate. Errors: `http-<status>`, `generate-failed` (status 200 with an error in the body), and those of HttpChannel.json. */
export async function generate(
  channel: HttpChannel,
  model: string,
  body: GenerateBody,
  options: CallOptions,
): Promise<Readonly<Record<string, unknown>>> {
  const path = `${modelPath(model)}/generate`;
  const answer = await channel.json<Record<string, unknown>>(
    { method: 'POST', path, headers: JSON_CONTENT, body: JSON.stringify(body) },
    options,
  );
  if ('error' in answer) {
    throw new LockstepError(
      'generate-failed',
      `${path} on ${channel.origin} answered 200 with an error: ${errorText(JSON.stringify(answer))}`,
      {
        hint: 'A model that gives several responses, or none, needs generate_stream.',
      },
    );
  }
  return answer;
}
