import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type RunConfig, type Settings, toRunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';

/** What a side is named by: a target to be started or reached, or the path of a file that holds one. */
export type Named = { readonly name: string; readonly config: RunConfig } | { readonly name: string; readonly file: string };

const RELEASE = /^\d+\.\d+(\.\d+)?$/;
const PORTS = '8001,8000,8002';

/**
 * Reads `process:2.42`, `docker:IMAGE`, `external:HOST:GRPC,HTTP,METRICS`, `embedded:CHECKPOINT` or the path of a JSON file. Everything else of
 * the configuration is as the flags say, and the same for both sides.
 *
 * Errors: `target-unclear`; those of `toRunConfig`.
 */
export function namedTarget(text: string, settings: Settings, cwd: string): Named {
  const colon = text.indexOf(':');
  const [kind, rest] = colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
  const of = (more: Partial<Settings>): Named => ({ name: text, config: toRunConfig({ ...settings, ...more }, cwd) });
  switch (kind) {
    case 'process':
      return of({ target: 'process', triton: rest === '' ? undefined : rest, image: undefined });
    case 'docker':
      // A release is the project's own CPU image of it.
      return RELEASE.test(rest) || rest === ''
        ? of({ target: 'docker', triton: rest === '' ? undefined : rest, image: undefined })
        : of({ target: 'docker', image: rest, triton: undefined });
    case 'embedded':
      return of({ target: 'embedded', ...(rest === '' ? {} : { checkpoint: rest }) });
    case 'external':
      return external(text, rest, of);
    default:
      if (existsSync(resolve(cwd, text))) return { name: text, file: resolve(cwd, text) };
      throw unclear(text, colon < 0 ? 'there is no such file, and it names no target' : `there is no kind of target ${kind}`);
  }
}

function external(text: string, rest: string, of: (more: Partial<Settings>) => Named): Named {
  const match = /^(.+?)(?::(\d+(?:,\d+){1,2}))?$/.exec(rest);
  if (match === null || /:\d+$/.test(match[1]!))
    throw unclear(text, 'an external target has its host, and two or three ports with commas between them');
  const [grpc, http, metrics] = (match[2] ?? PORTS).split(',');
  const at = (port: string | undefined) => (port === undefined ? undefined : `${match[1]}:${port}`);
  return of({ target: 'external', grpc: at(grpc), http: at(http), metrics: at(metrics) });
}

function unclear(text: string, why: string): LockstepError {
  return new LockstepError('target-unclear', `cannot tell what ${text} is: ${why}`, {
    hint: 'Write process:VERSION, process:PATH, docker:IMAGE, external:HOST:GRPC,HTTP,METRICS, embedded[:CHECKPOINT], or the path of a JSON file.',
  });
}
