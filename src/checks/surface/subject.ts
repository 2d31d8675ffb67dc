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

/** Prompts that are looked at, one after the other, for those that can show an effect. */
const CANDIDATES = 80;

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
  readonly #drawn = new Map<boolean, readonly PoolPrompt[]>();
  readonly #picked = new Map<string, Promise<Subject[]>>();

  constructor(lab: Lab, asker: Asker) {
    this.#lab = lab;
    this.#asker = asker;
  }

  /**
   * The first `count` prompts that the route can carry and that fit. `label` stands for what `fits` asks: routes that
   * are sent the same prompts share what was picked.
   */
  pick(route: RouteId, count: number, label: string, fits: (s: Subject) => boolean): Promise<Subject[]> {
    const chat = route === 'openai-chat';
    const key = `${chat} ${count} ${label}`;
    let picked = this.#picked.get(key);
    if (picked === undefined) this.#picked.set(key, (picked = this.#pick(chat, count, fits)));
    return picked;
  }

  async #pick(chat: boolean, count: number, fits: (s: Subject) => boolean): Promise<Subject[]> {
    const found: Subject[] = [];
    for (const prompt of this.#candidates(chat)) {
      if (found.length === count) break;
      const subject = await this.#subject(prompt, chat);
      if (subject !== undefined && fits(subject)) found.push(subject);
    }
    return found;
  }

  #candidates(chat: boolean): readonly PoolPrompt[] {
    let drawn = this.#drawn.get(chat);
    if (drawn === undefined) {
      const { plan } = this.#lab;
      drawn = plan.draw('parameters', CANDIDATES, (p) => p.messages !== undefined || (!chat && p.text !== ''));
      this.#drawn.set(chat, drawn);
    }
    return drawn;
  }

  #subject(prompt: PoolPrompt, chat: boolean): Promise<Subject | undefined> {
    const key = `${chat} ${prompt.name}`;
    let subject = this.#known.get(key);
    if (subject === undefined) {
      const { tokenizer, profile } = this.#lab;
      const ids = servedPromptIds(requestOf(prompt, { maxTokens: LENGTH }), chat ? 'openai-chat' : 'raw', tokenizer, profile);
      this.#known.set(key, (subject = this.#answered(prompt, ids)));
    }
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
