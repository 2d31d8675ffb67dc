import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { LockstepError } from '#core/errors/index.ts';
import { JSON_REPORT_SCHEMA } from '../json-schema.ts';
import type { Side } from './side.ts';
import type { Upgrade } from './verdict.ts';

const texts = z.record(z.string(), z.string());
const numbers = z.array(z.number());
const request = z.looseObject({
  id: z.string(),
  prompt: z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('text'), text: z.string() }),
    z.object({ kind: z.literal('ids'), ids: numbers }),
    z.object({
      kind: z.literal('messages'),
      messages: z.array(z.object({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })),
    }),
  ]),
  limits: z.looseObject({ maxTokens: z.number() }),
});
const finish = z.enum(['eos', 'length', 'stop-words']);
const answer = z.object({
  promptIds: numbers,
  ids: numbers,
  text: z.string(),
  finish,
  margins: numbers,
  runnerUps: numbers,
  logProbs: numbers,
});
const observation = z.object({
  id: z.string(),
  area: z.string(),
  exchange: z.object({ request: z.string(), reply: z.string() }),
  facts: texts,
  varying: z.record(z.string(), z.tuple([z.string(), z.string()])),
});
const repeat = z.looseObject({ ids: numbers, finish, firstTokenMs: z.number() });
const side = z.looseObject({
  name: z.string(),
  recordedAt: z.string(),
  identity: texts,
  contract: z.object({ observations: z.array(observation), skipped: z.array(z.object({ id: z.string(), why: z.string() })) }).optional(),
  answers: z
    .object({
      notServed: z.string(),
      margins: z.boolean(),
      items: z.array(z.object({ request, kind: z.string(), answer, repeats: z.array(repeat) })),
    })
    .optional(),
  run: JSON_REPORT_SCHEMA.optional(),
  missing: z.array(z.object({ part: z.string(), why: z.string() })),
});
const UPGRADE = z.looseObject({
  schema: z.number(),
  kind: z.literal('upgrade'),
  from: side,
  to: side,
  answers: z.looseObject({}).optional(),
});

const HINT = 'Name a file of `lockstep upgrade --json FILE`, whose new side is meant, or of `lockstep check --json FILE`.';

/**
 * A stored side: of an upgrade's JSON the new one, which is the old one of the next; of a run's report the laws and gaps alone.
 *
 * Errors: `upgrade-unreadable`.
 */
export function readSide(path: string): Side {
  const json = read(path);
  if ((json as { readonly kind?: unknown } | null)?.kind === 'upgrade')
    return { ...(parse(UPGRADE, json, path).to as unknown as Side), name: path };
  const run = parse(JSON_REPORT_SCHEMA, json, path);
  const why = `${path} is the report of a run, which has none`;
  return {
    name: path,
    recordedAt: run.startedAt,
    identity: run.header?.identity ?? {},
    run,
    missing: [
      { part: 'contract', why },
      { part: 'answers', why },
    ],
  };
}

/** A stored upgrade. Errors: `upgrade-unreadable`. */
export function readUpgrade(path: string): Upgrade {
  return parse(UPGRADE, read(path), path) as unknown as Upgrade;
}

function read(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    throw new LockstepError('upgrade-unreadable', `cannot read ${path}: ${(thrown as Error).message}`, { hint: HINT, cause: thrown });
  }
  try {
    return JSON.parse(text);
  } catch {
    // Its message quotes the file, which may be any file.
    throw new LockstepError('upgrade-unreadable', `${path} is no JSON`, { hint: HINT });
  }
}

function parse<T>(schema: z.ZodType<T>, json: unknown, path: string): T {
  const version = (json as { readonly schema?: unknown } | null)?.schema;
  if (typeof version === 'number' && version > 1) {
    throw new LockstepError('upgrade-unreadable', `${path} was written by a newer version: its schema is ${version}, and 1 is known here`, {
      hint: 'Use the version of lockstep that wrote it, or record it again.',
    });
  }
  const parsed = schema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new LockstepError(
    'upgrade-unreadable',
    `${path} holds no upgrade and no run: ${issue?.path.join('.') || 'the whole'}: ${issue?.message}`,
    { hint: HINT },
  );
}
