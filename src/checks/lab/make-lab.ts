import type { RunConfig } from '#core/config/index.ts';
import { profileOf } from '#core/profile/index.ts';
import type { Endpoints, Health } from '#targets/types.ts';
import { connect } from '#wire/clients/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { Lab } from './lab.ts';
import type { Budget, LabParts } from './parts.ts';
import { type Accepted, acceptedAnswers } from './accepted-answer.ts';
import { GREEDY, goldenStore } from './goldens.ts';
import { promptsOf } from './prompts-of.ts';
import { type PoolPrompt, makePlan, requestOf } from './plan.ts';
import { replayCommand } from './replay-command.ts';
import { frontEndServing, servingOf } from './serving.ts';

/** One answer of a few dozen tokens takes milliseconds here and seconds on a busy GPU; half a minute means it hangs. */
const CASE_DEADLINE_MS = 30_000;

export const ORDINARY: Budget = { scale: 1, propertyRuns: 12, longTokens: 400 };

export interface LabOptions {
  readonly config: RunConfig;
  readonly endpoints: Endpoints;
  readonly identity: Readonly<Record<string, string>>;
  readonly health: () => Promise<Health>;
  readonly budget?: Budget;
  readonly restart?: LabParts['restart'];
  readonly deadlineMs?: number;
  /** Folder for the exchanges of failing cases; absent: they are not kept. */
  readonly fixtures?: string | undefined;
}

/** Connects to a running target. The connections close when the lab's parts are disposed. */
export async function makeLab(options: LabOptions): Promise<{ readonly lab: Lab } & AsyncDisposable> {
  const { config, endpoints } = options;
  const profile = profileOf(config.profile);
  const tokenizer = loadTokenizer(config.tokenizer);
  const lostEnds = profile.core.streamsEnd.value ? undefined : { count: 0 };
  const onLostEnd = lostEnds && (() => void lostEnds.count++);
  const clients = connect(endpoints, { onLostEnd });
  const frontEndOnly = endpoints.grpc === '';
  const goldens = goldenStore({ goldensDir: config.goldens, tokenizer });
  const accepted = frontEndOnly && goldens.list().includes(GREEDY) ? acceptedAnswers(goldens.load(GREEDY).values(), tokenizer) : undefined;
  const serving = frontEndOnly
    ? await frontEndServing(clients, profile, { goldens: accepted !== undefined, tokenizer })
    : await servingOf(clients, endpoints, profile);
  const started = config.target !== 'external' && config.target !== 'openai';
  const lab = new Lab({
    ...serving,
    accepted,
    endpoints,
    clients,
    tokenizer,
    profile,
    policy: config.policy,
    plan: makePlan(known(promptsOf(config, tokenizer), accepted), config.seed),
    only: config.only,
    budget: options.budget ?? ORDINARY,
    goldensDir: config.goldens,
    owned: started,
    dangerous: config.target === 'embedded' ? 'here' : !config.dangerous ? 'no' : started ? 'apart' : 'here',
    restart: options.restart,
    health: options.health,
    deadlineMs: options.deadlineMs ?? CASE_DEADLINE_MS,
    identity: options.identity,
    lostEnds,
    onLostEnd,
    prompts: config.prompts,
    fixtures: options.fixtures,
    replayBase: replayCommand(config),
  });
  return { lab, [Symbol.asyncDispose]: () => clients[Symbol.asyncDispose]() };
}

/** Without raw only those prompts can be judged whose answers the goldens tell. */
function known(prompts: readonly PoolPrompt[], accepted: Accepted | undefined): readonly PoolPrompt[] {
  return accepted === undefined ? prompts : prompts.filter((p) => accepted(requestOf(p, { maxTokens: 1 })) !== undefined);
}
