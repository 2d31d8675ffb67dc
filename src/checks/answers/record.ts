import { goldenRequests } from '#checks/lab/goldens.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { type Answer, answerOf } from '#checks/laws/index.ts';
import { sleep } from '#core/deadline/index.ts';
import type { Request } from '#core/request/index.ts';
import { rngFrom } from '#core/seed/index.ts';
import { FLAG, type Transcript } from '#core/transcript/index.ts';
import type { AnsweredRequest, AnswersRecord, Repeat } from './types.ts';

export interface RecordOptions {
  /** Requests that are asked again. */
  readonly repeated: number;
  readonly repeats: number;
  readonly signal?: AbortSignal | undefined;
}

/** As many as show a rate of a few per cent, and as often as a median needs. */
export const RECORD: RecordOptions = { repeated: 24, repeats: 2 };

/**
 * Asks what the goldens ask, once each, and some of it again: how often a target differs from itself is what a difference from
 * another is held against. One request at a time, so that a batch has no part in it.
 *
 * Errors: `server-died`, and what the lab's signal was aborted with.
 */
export async function recordAnswers(lab: Lab, options: RecordOptions = RECORD): Promise<AnswersRecord> {
  const why = lab.parts.notServed.get('raw');
  if (why !== undefined) return { notServed: why, margins: false, items: [] };
  const kinds = new Map(lab.plan.prompts.map(({ name, kind }) => [name, kind]));
  const requests = goldenRequests(lab.plan.prompts);
  const again = new Set(rngFrom(lab.plan.seed, 'upgrade repeats').shuffle(requests).slice(0, options.repeated));
  const margins = await lab.marginsServed();
  const items: AnsweredRequest[] = [];
  for (const request of requests) {
    options.signal?.throwIfAborted();
    const t = await lab.run({ request, route: 'raw', mode: 'unary', repeat: 0 }, { logProbs: true, margins });
    const answer = answerOf(t, lab.tokenizer);
    if (answer === undefined) return { notServed: whyNone(request, t), margins, items: [] };
    const repeats: Repeat[] = [];
    for (let repeat = 1; again.has(request) && repeat <= options.repeats; repeat++) {
      const other = await lab.run({ request, route: 'raw', mode: lab.mode, repeat });
      const repeated = repeatOf(other, answerOf(other, lab.tokenizer));
      if (repeated !== undefined) repeats.push(repeated);
    }
    items.push({ request, kind: kinds.get(request.id) ?? 'shared-tail', answer: rounded(answer), repeats });
    // An interruption reaches the program between two requests.
    await sleep(0);
  }
  return { notServed: '', margins, items };
}

function whyNone(request: Request, { errors, ending }: Transcript): string {
  const [first] = errors;
  return `${request.id} got no answer: ${first === undefined ? `it ended as ${ending}` : `${first.code} ${first.message}`}`;
}

function repeatOf(t: Transcript, answer: Answer | undefined): Repeat | undefined {
  if (answer === undefined) return undefined;
  const at = Array.from(t.atNs).filter((_, i) => ((t.flags[i] as number) & FLAG.data) !== 0);
  const gaps = at.slice(1).map((ns, i) => ns - at[i]!);
  const spanNs = at.length < 2 ? 0 : at.at(-1)! - at[0]!;
  const ms = (ns: number) => Number((ns / 1e6).toFixed(3));
  return {
    ids: answer.ids,
    finish: answer.finish,
    firstTokenMs: ms(at[0] ?? t.endedNs),
    betweenTokensMs: gaps.length < 2 ? undefined : ms(gaps.toSorted((a, b) => a - b)[gaps.length >> 1]!),
    tokensPerSecond: spanNs === 0 ? undefined : Number(((gaps.length / spanNs) * 1e9).toFixed(2)),
  };
}

/** Digits below the resolution of float32 say nothing and fill files. */
function rounded(answer: Answer): Answer {
  const short = (values: readonly number[]) => values.map((value) => Number(value.toFixed(7)));
  return { ...answer, margins: short(answer.margins), logProbs: short(answer.logProbs) };
}
