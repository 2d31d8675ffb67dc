/** Asks a running server the same things alone and together, and looks at what its statistics say then. */
import type { Clients } from '#wire/clients/index.ts';
import type { ModelConfig } from '#wire/protocol/model-config.ts';
import type { ModelStatistics } from '#wire/protocol/server-state.ts';
import { ask, type Asked, textModel } from './ask.ts';
import { stubsBehind } from './stubs.ts';
import { judged, type Trial } from './trial.ts';

export type { Trial } from './trial.ts';

const PROMPTS = ['Count from 1 to 9.', 'Name the colours of the rainbow.', 'The sky is', 'Write one sentence about the sea.'];
const MAX_TOKENS = 40;
/** Each prompt alone; enough to meet a cache, and what a restart or warm blocks change. */
const ALONE = 3;
/** Streams at a time. Four instances of postprocessing reorder most of them (docs/observed.md#model-repository-1-x). */
const TOGETHER = 64;
const CALL_MS = 60_000;

/** Errors: those of the clients. What a server answers wrongly is a verdict, no error. */
export async function tryBehaviour(
  clients: Pick<Clients, 'grpc' | 'http'>,
  configs: readonly ModelConfig[],
  signal: AbortSignal,
): Promise<readonly Trial[]> {
  const asked = textModel(configs, (config) => isDecoupled(config, configs));
  const processes = oneProcessEach(clients.grpc.address);
  if (asked === undefined) return [processes];
  const options = { signal, deadlineMs: CALL_MS };
  const before = await clients.http.statistics('', '', options);
  const alone = await askAlone(clients, asked, signal);
  const together = await askTogether(clients, asked, signal);
  const after = await clients.http.statistics('', '', options);
  const accepted = PROMPTS.map((_, prompt) => mostFrequent(alone.filter((one) => one.prompt === prompt)));
  const apart = sorted(alone, accepted);
  const amid = sorted(together, accepted);
  return [
    judged(
      'equal-answers',
      'equal requests, one after another, get equal answers',
      alone.length - PROMPTS.length - apart.shuffled.length,
      apart.other,
    ),
    judged(
      'alone-and-together',
      'a request gets the same answer alone and with others under way',
      together.length - amid.shuffled.length,
      amid.other,
    ),
    asked.streams
      ? judged('stream-order', IN_ORDER, alone.length + together.length, [...apart.shuffled, ...amid.shuffled])
      : { id: 'stream-order', statement: IN_ORDER, n: 0, verdict: 'not tried', detail: 'this deployment does not stream' },
    singleBatches(before, after),
    noCache(before, after, alone.length + together.length),
    processes,
  ];
}

const IN_ORDER = 'the parts of a stream come in their order';

/** What the statistics of a server say of the time since it started; nothing is asked. Errors: those of the HTTP client. */
export async function readStatistics({ http }: Pick<Clients, 'http'>, signal: AbortSignal): Promise<readonly Trial[]> {
  const now = await http.statistics('', '', { signal, deadlineMs: CALL_MS });
  const answered = now.reduce((sum, { inference_stats }) => sum + inference_stats.success.count, 0);
  return [singleBatches([], now), noCache([], now, answered)];
}

interface Answer {
  readonly prompt: number;
  readonly texts: readonly string[];
}

async function askAlone(
  { grpc }: Pick<Clients, 'grpc'>,
  asked: Asked & { readonly streams: boolean },
  signal: AbortSignal,
): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let repeat = 0; repeat < ALONE; repeat++) {
    for (const [prompt, text] of PROMPTS.entries()) {
      const request = { id: `alone-${prompt}-${repeat}`, prompt: text, maxTokens: MAX_TOKENS };
      answers.push({ prompt, texts: await ask(grpc, asked, request, { signal, deadlineMs: CALL_MS }) });
    }
  }
  return answers;
}

async function askTogether(
  { grpc }: Pick<Clients, 'grpc'>,
  asked: Asked & { readonly streams: boolean },
  signal: AbortSignal,
): Promise<readonly Answer[]> {
  return Promise.all(
    Array.from({ length: TOGETHER }, async (_, index) => {
      const prompt = index % PROMPTS.length;
      const request = { id: `together-${index}`, prompt: PROMPTS[prompt] ?? '', maxTokens: MAX_TOKENS };
      return { prompt, texts: await ask(grpc, asked, request, { signal, deadlineMs: CALL_MS }) };
    }),
  );
}

/** What stands out among several answers to one request is the odd one, not the first. */
function mostFrequent(answers: readonly Answer[]): readonly string[] {
  const count = (texts: readonly string[]) => answers.filter((other) => other.texts.join('\0') === texts.join('\0')).length;
  return answers.map(({ texts }) => texts).reduce((best, texts) => (count(texts) > count(best) ? texts : best), answers[0]?.texts ?? []);
}

/** A stream whose parts are the right ones in another order is shuffled; one with other parts is another answer. */
function sorted(
  answers: readonly Answer[],
  accepted: readonly (readonly string[])[],
): { readonly shuffled: readonly string[]; readonly other: readonly string[] } {
  const shuffled: string[] = [];
  const other: string[] = [];
  for (const { prompt, texts } of answers) {
    const right = accepted[prompt] ?? [];
    const at = texts.findIndex((text, index) => text !== right[index]);
    if (isPermutation(texts, right)) {
      shuffled.push(`“${PROMPTS[prompt]}”: part ${at + 1} was ${JSON.stringify(texts[at])} in place of ${JSON.stringify(right[at])}`);
    } else {
      other.push(...differing(prompt, texts, right));
    }
  }
  return { shuffled, other };
}

function isPermutation(texts: readonly string[], right: readonly string[]): boolean {
  const same = texts.every((text, index) => text === right[index]);
  return !same && texts.length === right.length && texts.toSorted().join('\0') === right.toSorted().join('\0');
}

function differing(prompt: number, texts: readonly string[], right: readonly string[]): readonly string[] {
  const [ours, theirs] = [texts.join(''), right.join('')];
  if (ours === theirs) return [];
  let at = 0;
  while (at < ours.length && ours[at] === theirs[at]) at++;
  return [
    `“${PROMPTS[prompt]}”: ${JSON.stringify(ours.slice(at, at + 24))} in place of ${JSON.stringify(theirs.slice(at, at + 24))} at character ${at}`,
  ];
}

function singleBatches(before: readonly ModelStatistics[], after: readonly ModelStatistics[]): Trial {
  let n = 0;
  const against: string[] = [];
  for (const now of after) {
    const then = matching(before, now);
    for (const { batch_size, compute_infer } of now.batch_stats) {
      const count = compute_infer.count - (then?.batch_stats.find((one) => one.batch_size === batch_size)?.compute_infer.count ?? 0);
      n += count;
      if (batch_size > 1 && count > 0) against.push(`${now.name} ran ${count} ${count === 1 ? 'batch' : 'batches'} of ${batch_size}`);
    }
    // A model that reports no batches still counts what it was given and how often it ran.
    const given = now.inference_count - (then?.inference_count ?? 0);
    const ran = now.execution_count - (then?.execution_count ?? 0);
    if (now.batch_stats.length === 0 && ran > 0) {
      n += ran;
      if (given > ran) against.push(`${now.name} ran ${ran} times for ${given} requests`);
    }
  }
  return judged('single-batches', 'no model is given two requests at once', n, against);
}

function noCache(before: readonly ModelStatistics[], after: readonly ModelStatistics[], n: number): Trial {
  const against = after.flatMap((now) => {
    const then = matching(before, now);
    const hits = now.inference_stats.cache_hit.count - (then?.inference_stats.cache_hit.count ?? 0);
    const misses = now.inference_stats.cache_miss.count - (then?.inference_stats.cache_miss.count ?? 0);
    return hits + misses === 0
      ? []
      : [`${now.name} looked ${hits + misses} times into its response cache and took ${hits} answers from there`];
  });
  return judged('no-response-cache', 'every answer is computed', n, against);
}

function oneProcessEach(address: string): Trial {
  const statement = 'every Python model is one process';
  const stubs = stubsBehind(address);
  if (stubs === undefined || stubs.size === 0) {
    return {
      id: 'one-process-each',
      statement,
      n: 0,
      verdict: 'not tried',
      detail: 'no Python process of this server can be seen from here',
    };
  }
  const against = [...stubs].filter(([, count]) => count > 1).map(([model, count]) => `${model} has ${count} processes`);
  return judged('one-process-each', statement, stubs.size, against);
}

function matching(all: readonly ModelStatistics[], one: ModelStatistics): ModelStatistics | undefined {
  return all.find(({ name, version }) => name === one.name && version === one.version);
}

/** An ensemble is decoupled when one of its steps is, whatever its own configuration says. */
function isDecoupled(config: ModelConfig, all: readonly ModelConfig[]): boolean {
  const steps = config.ensemble_scheduling?.step ?? [];
  if (steps.length === 0) return config.model_transaction_policy?.decoupled === true;
  return steps.some(({ model_name }) => {
    const step = all.find(({ name }) => name === model_name);
    return step !== undefined && isDecoupled(step, all);
  });
}
