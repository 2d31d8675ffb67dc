import { z } from 'zod';
import type { Answer } from '#checks/laws/index.ts';
import type { Request } from '#core/request/index.ts';

/** The format this project writes. A larger number in a file means a newer project wrote it. */
export const FORMAT = 1;

/** The accepted answer to one request, for one checkpoint and tokenizer. */
export interface Golden {
  readonly request: Request;
  readonly answer: Answer;
  /** Key into `GoldenIndex.recordings`. */
  readonly recorded: string;
}

/** Where and when goldens were recorded. */
export interface Provenance {
  /** ISO 8601, UTC. */
  readonly date: string;
  /** Version of this project. */
  readonly version: string;
  /** The identity of the target: image, versions, GPU, engine hash, … */
  readonly identity: Readonly<Record<string, string>>;
}

export interface GoldenIndex {
  readonly format: typeof FORMAT;
  readonly checkpoint: string;
  readonly tokenizerHash: string;
  readonly recordings: Readonly<Record<string, Provenance>>;
}

/** Checked by a loop: `z.array(z.int())` doubles the time to load a large suite. */
const ids = z.custom<number[]>((value) => Array.isArray(value) && value.every(Number.isInteger), 'expected a list of whole numbers');
const numbers = z.custom<number[]>((value) => Array.isArray(value) && value.every(Number.isFinite), 'expected a list of numbers');
const count = z.int().positive();

const promptSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('text'), text: z.string() }),
  z.strictObject({
    kind: z.literal('messages'),
    messages: z.array(z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: z.string() })),
  }),
  z.strictObject({ kind: z.literal('ids'), ids }),
]);

const samplingSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('greedy') }),
  z.strictObject({
    kind: z.literal('sampled'),
    seed: z.int(),
    temperature: z.number().exactOptional(),
    topK: z.int().exactOptional(),
    topP: z.number().exactOptional(),
  }),
]);

const limitsSchema = z.strictObject({
  maxTokens: count,
  minTokens: z.int().exactOptional(),
  stopWords: z.array(z.string()).exactOptional(),
  stopAtEos: z.boolean().exactOptional(),
});

/** One block of a suite's file; the key of the block is the request's id. */
export const goldenSchema = z
  .strictObject({
    prompt: promptSchema,
    sampling: samplingSchema,
    limits: limitsSchema,
    finish: z.enum(['eos', 'length', 'stop-words']),
    text: z.string(),
    promptIds: ids,
    ids,
    margins: numbers,
    runnerUps: ids,
    logProbs: numbers,
    recorded: z.string(),
  })
  .superRefine(({ ids: { length }, margins, runnerUps, logProbs }, context) => {
    const wrong = (field: string, lengths: readonly number[], list: readonly number[]) => {
      if (lengths.includes(list.length)) return;
      context.addIssue({ code: 'custom', path: [field], message: `expected ${lengths.join(' or ')} numbers, received ${list.length}` });
    };
    // None where the server gave none; one more where the step of EOS was measured too.
    wrong('margins', [0, length, length + 1], margins);
    wrong('runnerUps', [margins.length], runnerUps);
    wrong('logProbs', [0, length], logProbs);
  });
export type GoldenBlock = z.infer<typeof goldenSchema>;

export const indexSchema = z.strictObject({
  format: z.literal(FORMAT),
  checkpoint: z.string(),
  tokenizerHash: z.string(),
  recordings: z.record(z.string(), z.strictObject({ date: z.string(), version: z.string(), identity: z.record(z.string(), z.string()) })),
});

export function fromBlock(id: string, block: GoldenBlock): Golden {
  const { prompt, sampling, limits, recorded, finish, text, promptIds, ids: answerIds, margins, runnerUps, logProbs } = block;
  return {
    request: { id, prompt, sampling, limits },
    answer: { promptIds, ids: answerIds, text, finish, margins, runnerUps, logProbs },
    recorded,
  };
}
