/** What a lab is made of. */
import type { Policy } from '#checks/compare/index.ts';
import type { RouteContext } from '#checks/routes/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import type { RouteId } from '#core/request/index.ts';
import type { Endpoints, Health } from '#targets/types.ts';
import type { Clients } from '#wire/clients/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { Accepted } from './accepted-answer.ts';
import type { Lab } from './lab.ts';
import type { Plan } from './plan.ts';

/** How much to do: the ordinary run, or the small one with which the suite tests itself. */
export interface Budget {
  /** Scales every number of cases; 1 = ordinary. */
  readonly scale: number;
  /** Property runs per route. */
  readonly propertyRuns: number;
  /** Tokens of an answer that is to be cancelled: long enough to be in the middle of it. */
  readonly longTokens: number;
}

export interface LabParts {
  readonly endpoints: Endpoints;
  readonly clients: Clients;
  readonly tokenizer: Tokenizer;
  readonly profile: ReleaseProfile;
  readonly policy: Policy['id'];
  readonly plan: Plan;
  readonly budget: Budget;
  readonly goldensDir: string;
  /** Which routes the target has; a reason in words for those that it has not. */
  readonly notServed: ReadonlyMap<RouteId, string>;
  /** Where raw is not served and goldens are: the answers that they tell. */
  readonly accepted: Accepted | undefined;
  /** Names of the target's models, by the route that asks them. */
  readonly models: RouteContext['models'];
  /** False: the repository has no decoupled transaction policy, so nothing streams and every answer comes whole. */
  readonly decoupled: boolean;
  /** What the ensemble's configuration lists as outputs; empty where there is no such model. */
  readonly ensembleOutputs: ReadonlySet<string>;
  /** Parameters of the raw model's configuration, as they stand there; empty where there is no such model. */
  readonly rawParameters: Readonly<Record<string, string>>;
  /** True for targets that this run started and may disturb (load, unload, restart). */
  readonly owned: boolean;
  /** Whether a server may be asked what makes some releases crash or hang (suites/dangerous): this one, or one apart from it. */
  readonly dangerous: 'no' | 'here' | 'apart';
  /** Starts a second target made the same way; undefined where that is impossible. */
  readonly restart: (() => Promise<{ readonly lab: Lab } & AsyncDisposable>) | undefined;
  readonly health: () => Promise<Health>;
  readonly deadlineMs: number;
  readonly identity: Readonly<Record<string, string>>;
  /** Streams that were over and did not end, where the release does that; undefined: every end is waited for. */
  readonly lostEnds: { count: number } | undefined;
  /** Counts one more of them; what opens streams of its own passes it on. */
  readonly onLostEnd: (() => void) | undefined;
  /** Request id that this run is narrowed to, if it is: then not every law finds a case, and that is no failure. */
  readonly only: string | undefined;
  /** File of the prompts; undefined: those of the checkpoint. */
  readonly prompts: string | undefined;
  /** Folder for the exchanges of failing cases; undefined: they are not kept. */
  readonly fixtures: string | undefined;
  /** How a claim of this run is repeated, but for its id. */
  readonly replayBase: string;
}
