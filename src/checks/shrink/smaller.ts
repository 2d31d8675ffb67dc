/** What can be taken away from a failing case, one kind of thing after the other. */
import { rightPromptIds } from '#checks/laws/index.ts';
import type { Companion } from '#checks/recording/index.ts';
import type { ChatMessage, Limits, Prompt, Request } from '#core/request/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { minimiseList } from './minimise-list.ts';
import type { FailingCase } from './types.ts';

/** Whether a smaller case still fails as the first one did. */
export type StillFails = (candidate: FailingCase) => Promise<boolean>;

/** Gives the smallest case that it finds; the same object where there is none. */
export type Pass = (failing: FailingCase, stillFails: StillFails) => Promise<FailingCase>;

/** Letters are tried one by one where no more than so many are left: each try is a request. */
const LETTERS = 32;

export const PASSES: readonly { readonly what: string; readonly pass: Pass; readonly size: (f: FailingCase, t: Tokenizer) => string }[] = [
  { what: 'requests before it', pass: (f, fails) => fewer(f, 'before', fails), size: (f) => String(f.company.before.length) },
  { what: 'neighbours', pass: (f, fails) => fewer(f, 'beside', fails), size: (f) => String(f.company.beside.length) },
  { what: 'max_tokens', pass: shorterAnswer, size: (f) => String(f.case.request.limits.maxTokens) },
  { what: 'parameters', pass: fewerParameters, size: (f) => parametersOf(f).join(', ') || 'none' },
  { what: 'stop words', pass: fewerStopWords, size: (f) => JSON.stringify(f.case.request.limits.stopWords ?? []) },
  {
    what: 'prompt',
    pass: shorterPrompt,
    size: (f, t) => `${promptTokens(f.case.request, t)} tokens`,
  },
  { what: "neighbours' requests", pass: smallerNeighbours, size: (f, t) => companyTokens(f, t) },
];

/** Passes that say how much company is left. */
export const COMPANY: readonly string[] = ['requests before it', 'neighbours'];

/** Ids of the prompt as the engine gets them. */
export function promptTokens(request: Request, tokenizer: Tokenizer): number {
  return rightPromptIds(tokenizer, request).length;
}

/** What is set beside prompt and max_tokens. */
export function parametersOf({ case: { request }, asked }: FailingCase): string[] {
  const { minTokens, stopWords = [], stopAtEos } = request.limits;
  const { kind, ...sampling } = request.sampling;
  return [
    ...(minTokens === undefined ? [] : ['min_tokens']),
    ...(stopWords.length === 0 ? [] : ['stop words']),
    ...(stopAtEos === false ? ['no end_id'] : []),
    ...(kind === 'greedy' ? [] : Object.keys(sampling).filter((name) => sampling[name as keyof typeof sampling] !== undefined)),
    ...(asked.logProbs === true ? ['log-probabilities'] : []),
    ...(asked.margins === true ? ['generation logits'] : []),
  ];
}

function companyTokens({ company }: FailingCase, tokenizer: Tokenizer): string {
  const all = [...company.before, ...company.beside].map(({ case: { request } }) => request);
  if (all.length === 0) return 'none';
  const prompts = all.reduce((n, request) => n + promptTokens(request, tokenizer), 0);
  const answers = all.reduce((n, { limits }) => n + limits.maxTokens, 0);
  return `${prompts} tokens, max_tokens ${answers} in all`;
}

async function fewer(f: FailingCase, which: 'before' | 'beside', stillFails: StillFails): Promise<FailingCase> {
  const having = (list: readonly Companion[]): FailingCase => ({ ...f, company: { ...f.company, [which]: list } });
  const kept = await minimiseList(f.company[which], (list) => stillFails(having(list)));
  return kept.length === f.company[which].length ? f : having(kept);
}

/** The smallest of 1, 2, 4, … that fails, and then the smallest between it and the one before. */
async function shorterAnswer(f: FailingCase, stillFails: StillFails): Promise<FailingCase> {
  const most = f.case.request.limits.maxTokens;
  // An answer that is over sooner is left in time less often: where the client leaves, it keeps its length.
  if (f.asked.cancel !== undefined) return f;
  let works = most;
  let fails = 0;
  for (let n = 1; n < most; n *= 2) {
    if (await stillFails(withMaxTokens(f, n))) {
      works = n;
      break;
    }
    fails = n;
  }
  while (works - fails > 1) {
    const n = Math.floor((works + fails) / 2);
    if (await stillFails(withMaxTokens(f, n))) works = n;
    else fails = n;
  }
  return works === most ? f : withMaxTokens(f, works);
}

function withMaxTokens(f: FailingCase, maxTokens: number): FailingCase {
  return withRequest(f, fewerTokens(f.case.request, maxTokens));
}

function fewerTokens(request: Request, maxTokens: number): Request {
  const { minTokens } = request.limits;
  return {
    ...request,
    limits: { ...request.limits, maxTokens, ...(minTokens === undefined ? {} : { minTokens: Math.min(minTokens, maxTokens) }) },
  };
}

function withRequest(f: FailingCase, request: Request): FailingCase {
  return { ...f, case: { ...f.case, request } };
}

function without<T extends object, K extends keyof T>(value: T, name: K): Omit<T, K> {
  const { [name]: _, ...rest } = value;
  return rest;
}

/** Towards what a request has when nothing is said: each parameter alone, the choice of tokens last. */
async function fewerParameters(f: FailingCase, stillFails: StillFails): Promise<FailingCase> {
  const drops: readonly ((f: FailingCase) => FailingCase | undefined)[] = [
    ({ asked, ...rest }) => (asked.margins === undefined ? undefined : { ...rest, asked: without(asked, 'margins') }),
    ({ asked, ...rest }) => (asked.logProbs === undefined ? undefined : { ...rest, asked: without(asked, 'logProbs') }),
    dropLimit('minTokens'),
    dropLimit('stopAtEos'),
    toGreedy,
    dropSampling('topK'),
    dropSampling('topP'),
    dropSampling('temperature'),
  ];
  let smallest = f;
  for (const drop of drops) {
    const candidate = drop(smallest);
    if (candidate !== undefined && (await stillFails(candidate))) smallest = candidate;
  }
  return smallest;
}

function dropLimit(name: 'minTokens' | 'stopAtEos'): (f: FailingCase) => FailingCase | undefined {
  return (f) => {
    const { request } = f.case;
    if (request.limits[name] === undefined || f.golden !== undefined) return undefined;
    return withRequest(f, { ...request, limits: without(request.limits, name) as Limits });
  };
}

function toGreedy(f: FailingCase): FailingCase | undefined {
  if (f.case.request.sampling.kind === 'greedy' || f.golden !== undefined) return undefined;
  return withRequest(f, { ...f.case.request, sampling: { kind: 'greedy' } });
}

function dropSampling(name: 'topK' | 'topP' | 'temperature'): (f: FailingCase) => FailingCase | undefined {
  return (f) => {
    const { sampling } = f.case.request;
    if (sampling.kind === 'greedy' || sampling[name] === undefined || f.golden !== undefined) return undefined;
    return withRequest(f, { ...f.case.request, sampling: without(sampling, name) as typeof sampling });
  };
}

async function fewerStopWords(f: FailingCase, stillFails: StillFails): Promise<FailingCase> {
  const { request } = f.case;
  const words = request.limits.stopWords ?? [];
  if (words.length === 0 || f.golden !== undefined) return f;
  const having = (list: readonly string[]) =>
    withRequest(f, {
      ...request,
      limits: list.length === 0 ? (without(request.limits, 'stopWords') as Limits) : { ...request.limits, stopWords: list },
    });
  const kept = await minimiseList(words, (list) => stillFails(having(list)));
  return kept.length === words.length ? f : having(kept);
}

async function shorterPrompt(f: FailingCase, stillFails: StillFails): Promise<FailingCase> {
  if (f.golden !== undefined) return f;
  const { request } = f.case;
  const prompt = await smallerPrompt(request.prompt, (p) => stillFails(withRequest(f, { ...request, prompt: p })));
  return prompt === request.prompt ? f : withRequest(f, { ...request, prompt });
}

async function smallerPrompt(prompt: Prompt, fails: (prompt: Prompt) => Promise<boolean>): Promise<Prompt> {
  if (prompt.kind === 'ids') {
    const ids = await minimiseList(prompt.ids, async (some) => some.length > 0 && fails({ kind: 'ids', ids: some }));
    return ids.length === prompt.ids.length ? prompt : { kind: 'ids', ids };
  }
  if (prompt.kind === 'text') {
    const text = await smallerText(prompt.text, (t) => fails({ kind: 'text', text: t }));
    return text === prompt.text ? prompt : { kind: 'text', text };
  }
  const before = prompt.messages;
  let messages = await minimiseList(before, async (some) => some.length > 0 && fails({ kind: 'messages', messages: some }));
  for (const [i, message] of messages.entries()) {
    const having = (content: string): readonly ChatMessage[] => messages.with(i, { ...message, content });
    const content = await smallerText(message.content, (text) => fails({ kind: 'messages', messages: having(text) }));
    messages = having(content);
  }
  const same = messages.length === before.length && messages.every(({ content }, i) => content === before[i]!.content);
  return same ? prompt : { kind: 'messages', messages };
}

/** By words, and by letters once few are left. */
async function smallerText(text: string, fails: (text: string) => Promise<boolean>): Promise<string> {
  const words = text.match(/\s*\S+|\s+$/g) ?? [];
  const kept = (await minimiseList(words, (some) => fails(some.join('')))).join('');
  const letters = Array.from(kept);
  return letters.length > LETTERS ? kept : (await minimiseList(letters, (some) => fails(some.join('')))).join('');
}

/** What is needed of the company may be needed in short: prompts, and answers of what was over before. */
async function smallerNeighbours(f: FailingCase, stillFails: StillFails): Promise<FailingCase> {
  let smallest = f;
  for (const which of ['before', 'beside'] as const) {
    for (const [i, companion] of f.company[which].entries()) {
      const having = (request: Request): FailingCase => {
        const list = smallest.company[which].with(i, { ...companion, case: { ...companion.case, request } });
        return { ...smallest, company: { ...smallest.company, [which]: list } };
      };
      let { request } = companion.case;
      // A neighbour that is over sooner is a neighbour less often: what runs beside the case keeps its length.
      const least = which === 'beside' ? request.limits.maxTokens : 1;
      for (let n = least; n < request.limits.maxTokens; n *= 4) {
        if (!(await stillFails(having(fewerTokens(request, n))))) continue;
        request = fewerTokens(request, n);
        break;
      }
      const own = request;
      const prompt = await smallerPrompt(own.prompt, (p) => stillFails(having({ ...own, prompt: p })));
      request = { ...own, prompt };
      if (request !== companion.case.request) smallest = having(request);
    }
  }
  return smallest;
}
