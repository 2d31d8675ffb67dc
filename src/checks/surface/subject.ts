/** The prompts that probes are made from: what the greedy answer is, and how the model weighed each of its tokens. */
import type { Lab } from '#checks/lab/lab.ts';
import { type PoolPrompt, requestOf } from '#checks/lab/plan.ts';
import { servedPromptIds } from '#checks/laws/index.ts';
import { promptText } from '#checks/routes/prompt.ts';
import type { Request, RouteId } from '#core/request/index.ts';
import type { AskedPrompt, Asker } from './ask.ts';
import { baseOf } from './base.ts';

/** Tokens of the greedy answers that probes look at. */
export const LENGTH = 12;

/** Prompts that are looked at, at most, for those that can show an effect; fewer where little is to be done. */
const CANDIDATES = 30;
const LEAST = 20;

export interface Subject extends AskedPrompt {
  /** The prompt as a request of the plan, for reports and replays. */
  readonly request: Request;
  /** Greedy answer of tensorrt_llm, at most LENGTH ids, EOS excluded. */
  readonly greedy: readonly number[];
  /** Raw logits [vocabulary] of every sampled step, the one that drew EOS included. */
  readonly logits: readonly Float32Array[];
  /** Whether EOS ended it. */
  readonly ended: boolean;
}

/** Draws prompts from the plan and asks tensorrt_llm for their greedy answers, each once. */
export class Subjects {
  readonly #lab: Lab;
  readonly #asker: Asker;
  readonly #known = new Map<string, Promise<Subject | undefined>>();

  constructor(lab: Lab, asker: Asker) {
    this.#lab = lab;
    this.#asker = asker;
  }

  /** The first `count` prompts that the route can carry and that fit. */
  async pick(route: RouteId, count: number, fits: (s: Subject) => boolean): Promise<Subject[]> {
    const chat = route === 'openai-chat';
    const found: Subject[] = [];
    const drawn = this.#lab.plan.draw(
      'parameters',
      this.#lab.count(CANDIDATES, LEAST),
      (p) => p.messages !== undefined || (!chat && p.text !== ''),
    );
    for (const prompt of drawn) {
      if (found.length === count) break;
      const subject = await this.#subject(prompt, route);
      if (subject !== undefined && fits(subject)) found.push(subject);
    }
    return found;
  }

  #subject(prompt: PoolPrompt, route: RouteId): Promise<Subject | undefined> {
    const { tokenizer, profile } = this.#lab;
    const ids = servedPromptIds(requestOf(prompt, { maxTokens: LENGTH }), route, tokenizer, profile);
    const key = ids.join();
    let subject = this.#known.get(key);
    if (subject === undefined) this.#known.set(key, (subject = this.#answered(prompt, ids)));
    return subject;
  }

  /** Undefined where the engine serves no generation logits, or no answer. */
  async #answered(p: PoolPrompt, ids: readonly number[]): Promise<Subject | undefined> {
    const { tokenizer } = this.#lab;
    const request = requestOf(p, { maxTokens: LENGTH });
    const prompt: AskedPrompt = { ids, text: promptText(request.prompt, tokenizer), messages: p.messages };
    const words = { ...baseOf('raw', this.#lab), maxTokens: LENGTH, generationLogits: true };
    const { refusal, answers, outputs } = await this.#asker.ask({ route: 'raw', rows: [{ prompt, words }] });
    const greedy = answers[0]?.ids;
    const [logits] = outputs.get('generation_logits') ?? [];
    if (refusal !== undefined || greedy === undefined || logits === undefined) return undefined;
    const vocabulary = logits.shape.at(-1) ?? 0;
    const values = Float32Array.from(logits.values);
    const rows = Array.from({ length: Math.floor(values.length / vocabulary) }, (_, i) =>
      values.subarray(i * vocabulary, (i + 1) * vocabulary),
    );
    return { ...prompt, request, greedy, logits: rows, ended: greedy.length < LENGTH };
  }
}
