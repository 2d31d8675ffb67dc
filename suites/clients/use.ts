import type { Judged } from '#checks/lab/judged.ts';
import type { Lab } from '#checks/lab/lab.ts';
import type { Failure } from '#checks/lab/result.ts';
import type { RouteContext } from '#checks/routes/index.ts';
import type { RouteId } from '#core/request/index.ts';

/** One way of using an official client, and the laws that its own record can be held to. */
export interface Use {
  readonly id: string;
  readonly statement: string;
  readonly routes: readonly RouteId[];
  readonly laws: readonly string[];
  readonly deadlineMs?: number;
  /** On a server of its own, of these releases. */
  readonly profile?: string;
  /** `unary`: on a server of its own whose tensorrt_llm gives each request one response. */
  readonly repository?: 'unary';
  /** Takes long: it adds nothing to the number of uses that a day asks for, and may take the place of another. */
  readonly dear?: true;
  /** Runs the client against the lab's server, and gives what it recorded beside the accepted answers. */
  run(lab: Lab): Promise<Recorded>;
  /** A defect that the client's own record must show: the law that has to fail. */
  readonly control: { readonly fault: string; readonly law: string };
}

export interface Recorded {
  readonly cases: readonly Judged[];
  /** What the client says of its own records, and does not hold. */
  readonly failures?: readonly Failure[];
  readonly notes?: readonly string[];
}

/** What requests are made of, as the suite's own routes have it. */
export function contextOf(lab: Lab): RouteContext {
  const { clients, tokenizer, profile, models } = lab.parts;
  return { clients, tokenizer, profile, models };
}
