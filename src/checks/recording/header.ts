/** The head of a fixture file: a line per field, name and JSON, in a fixed order. */
import { z } from 'zod';
import { ROUTE_IDS } from '#core/request/index.ts';
import { oneLine } from './line.ts';
import type { FixtureHeader } from './types.ts';

/** First word of every fixture file; the version follows it. */
export const MAGIC = 'lockstep-fixture';
/** Raised when a file of the new form would be misread by a reader of the old one. */
export const VERSION = 1;

const message = z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() });

const request = z.strictObject({
  id: z.string(),
  prompt: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('text'), text: z.string() }),
    z.strictObject({ kind: z.literal('messages'), messages: z.array(message) }),
    z.strictObject({ kind: z.literal('ids'), ids: z.array(z.number().int()) }),
  ]),
  sampling: z.discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('greedy') }),
    z.strictObject({
      kind: z.literal('sampled'),
      seed: z.number(),
      temperature: z.number().optional(),
      topK: z.number().optional(),
      topP: z.number().optional(),
    }),
  ]),
  limits: z.strictObject({
    maxTokens: z.number().int(),
    minTokens: z.number().int().optional(),
    stopWords: z.array(z.string()).optional(),
    stopAtEos: z.boolean().optional(),
  }),
});

const answer = z.strictObject({
  promptIds: z.array(z.number().int()),
  ids: z.array(z.number().int()),
  text: z.string(),
  finish: z.enum(['eos', 'length', 'stop-words']),
  margins: z.array(z.number()),
  runnerUps: z.array(z.number().int()),
  logProbs: z.array(z.number()),
  get engine() {
    return answer.optional();
  },
});

const oneCase = z.strictObject({
  request,
  route: z.enum(ROUTE_IDS as [string, ...string[]]),
  mode: z.enum(['stream', 'unary']),
  repeat: z.number().int(),
});

const asked = z.strictObject({
  logProbs: z.boolean().optional(),
  margins: z.boolean().optional(),
  cancel: z
    .union([
      z.strictObject({ how: z.enum(['leave', 'stop-tensor']), afterEvents: z.number().int() }),
      z.strictObject({ how: z.literal('deadline'), ms: z.number() }),
      z.strictObject({ how: z.literal('leave-when') }),
    ])
    .optional(),
});

const companion = z.strictObject({ case: oneCase, asked });

/** Fields in the order in which they are written. */
const HEADER = z.strictObject({
  protocol: z.enum(['grpc', 'http', 'openai', 'unknown']),
  recorded: z.strictObject({ at: z.string(), by: z.enum(['relay', 'client', 'import']), server: z.string().optional() }),
  note: z.string().optional(),
  profile: z.string().optional(),
  identity: z.record(z.string(), z.string()).optional(),
  case: oneCase.optional(),
  asked: asked.optional(),
  company: z.strictObject({ before: z.array(companion), beside: z.array(companion) }).optional(),
  truth: answer.optional(),
  violation: z.strictObject({ claim: z.string(), law: z.string(), code: z.string(), text: z.string() }).optional(),
});

export function headerLines(header: FixtureHeader): string[] {
  const ordered = HEADER.parse(header);
  const fields = Object.entries(ordered).filter(([, value]) => value !== undefined);
  return [`${MAGIC} ${VERSION}`, ...fields.map(([name, value]) => `${name} ${oneLine(value as object)}`), ''];
}

/** Throws an Error that says, as a phrase, what is wrong. */
export function headerOf(lines: readonly string[]): FixtureHeader {
  const fields: Record<string, unknown> = {};
  for (const line of lines) {
    const space = line.indexOf(' ');
    const name = line.slice(0, space);
    if (space < 1 || Object.hasOwn(fields, name)) throw new TypeError(`its head has a line that is no field: ${line.slice(0, 80)}`);
    fields[name] = JSON.parse(line.slice(space + 1));
  }
  const parsed = HEADER.safeParse(fields);
  if (!parsed.success) throw new TypeError(`its head is malformed: ${z.prettifyError(parsed.error).replaceAll('\n', ' ')}`);
  return parsed.data as FixtureHeader;
}
