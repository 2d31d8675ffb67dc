/** What the claims of this suite share on one lab: answers that were asked for once, and the prompts that probes are made from. */
import {
  Asker,
  Subjects,
  type Extra,
  type ProbeContext,
  type Reply,
  type Subject,
  type Words,
  baseOf,
  greedyOn,
  jsonOf,
  LENGTH,
} from '#checks/surface/index.ts';
import type { Lab } from '#checks/lab/lab.ts';
import type { RouteId } from '#core/request/index.ts';

export interface Work extends ProbeContext {
  readonly lab: Lab;
  readonly asker: Asker;
  readonly subjects: Subjects;
  /** Whether an answer that differs in one token is wrong: the policy `exact`. */
  readonly exact: boolean;
}

const known = new WeakMap<Lab, Work>();

export function workOf(lab: Lab): Work {
  let work = known.get(lab);
  if (work === undefined) {
    const asker = new Asker(lab);
    const { tokenizer, profile, policy } = lab;
    known.set(lab, (work = { lab, tokenizer, profile, asker, subjects: new Subjects(lab, asker), exact: policy.id === 'exact' }));
  }
  return work;
}

/** One prompt with words on top of those of every greedy question. */
export function askGreedy(work: Work, route: RouteId, subject: Subject, words: Words): Promise<Reply> {
  return askWith(work, route, subject, { ...greedyOn(route), ...words });
}

/** The same without any word about sampling but the given ones. */
export function askWith(work: Work, route: RouteId, prompt: Subject, words: Words, repeat = 0): Promise<Reply> {
  return work.asker.ask({ route, rows: [{ prompt, words: { ...baseOf(route, work), ...words } }], repeat });
}

type Members = Readonly<Record<string, unknown>>;

/** A greedy question with more members, on a JSON route. */
export function askMembers(work: Work, route: RouteId, prompt: Subject, members: Members): Promise<Reply> {
  const words = { ...baseOf(route, work), ...greedyOn(route), maxTokens: LENGTH };
  return work.asker.ask({ route, rows: [{ prompt, words }], members });
}

/** A greedy question with one more input. */
export function askExtra(work: Work, route: RouteId, prompt: Subject, words: Words, extra: Extra, beside: Members = {}): Promise<Reply> {
  const rows = [{ prompt, words: { ...baseOf(route, work), ...greedyOn(route), ...words } }];
  const { name, value } = extra;
  if ('json' in value) return work.asker.ask({ route, rows, members: { ...beside, [name]: value.json } });
  return work.asker.ask(route === 'generate' ? { route, rows, members: { [name]: jsonOf(value) } } : { route, rows, tensors: [value] });
}
