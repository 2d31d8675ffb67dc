import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { LockstepError } from '#core/errors/index.ts';
import { parseJson } from '#core/json/index.ts';
import { FORMAT, type Golden, type GoldenIndex, fromBlock, goldenSchema, indexSchema } from './golden.ts';

/**
 * The goldens of one suite's file.
 *
 * Errors: `golden-malformed` (path and field), `golden-newer-format`, `golden-missing` when there is no file.
 */
export function readSuite(path: string): Map<string, Golden> {
  const file = readJson(path);
  if (!isObject(file['goldens'])) throw malformed(path, 'goldens', 'expected an object of goldens by id');
  const goldens = new Map<string, Golden>();
  for (const [id, block] of Object.entries(file['goldens'])) {
    const parsed = goldenSchema.safeParse(block);
    if (!parsed.success) throw malformed(path, `goldens.${id}`, parsed.error);
    goldens.set(id, fromBlock(id, parsed.data));
  }
  return goldens;
}

export function readIndex(path: string): GoldenIndex {
  const parsed = indexSchema.safeParse(readJson(path));
  if (!parsed.success) throw malformed(path, '', parsed.error);
  return parsed.data;
}

function readJson(path: string): Readonly<Record<string, unknown>> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      throw new LockstepError('golden-missing', `there is no ${path}`, {
        hint: 'Record it on the accepted build, with the flags of this run that name the target: npx lockstep goldens record',
        cause: thrown,
      });
    }
    throw new LockstepError('golden-malformed', `cannot read ${path}: ${message}`, {
      hint: 'Correct what lies there, or its permissions.',
    });
  }
  const parsed = parseJson(bytes);
  if (parsed.text === undefined) throw malformed(`${path}:${parsed.line}:${parsed.column}`, '', `no JSON: ${parsed.problem}`);
  const file = parsed.value;
  if (!isObject(file)) throw malformed(path, '', 'expected an object');
  const format = file['format'];
  if (typeof format === 'number' && format > FORMAT) {
    throw new LockstepError('golden-newer-format', `${path} has format ${format}, this version reads up to ${FORMAT}`, {
      hint: 'Use the version of Lockstep that recorded it, or a newer one.',
    });
  }
  if (format !== FORMAT) throw malformed(path, 'format', `expected ${FORMAT}, got ${JSON.stringify(format)}`);
  return file;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function malformed(path: string, under: string, problem: string | z.ZodError): LockstepError {
  const issue = typeof problem === 'string' ? undefined : problem.issues[0];
  const field = [under, ...(issue?.path ?? [])].filter((part) => part !== '').join('.');
  const text = issue?.message ?? String(problem);
  return new LockstepError('golden-malformed', `${path}${field === '' ? '' : `, field ${field}`}: ${text}`, {
    hint: 'Restore the file from version control, or delete it and record it again; goldens are not edited by hand.',
    context: { path, field: field === '' ? undefined : field },
    cause: problem,
  });
}
