import { projectVersion, type RunConfig } from '#core/config/index.ts';
import { compareIds, failsUnder } from '#checks/compare/index.ts';
import type { Answer } from '#checks/laws/index.ts';
import { wallClock } from '#core/clock/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { followCore } from '#core/profile/index.ts';
import type { Request } from '#core/request/index.ts';
import { connectReplicas, identityAsLoaded, startTarget } from '#targets/index.ts';
import { assertReplicasAlike } from '#checks/replicas/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { GREEDY, goldenRequests, goldenStore } from '#checks/lab/goldens.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { makeLab } from '#checks/lab/make-lab.ts';

export type GoldensAction = 'record' | 'verify' | 'update' | 'list';

export interface GoldensOptions {
  readonly config: RunConfig;
  /** Parts of request ids; empty: all. */
  readonly filters: readonly string[];
  readonly signal: AbortSignal;
  readonly out: (line: string) => void;
}

/** Repeats before an answer is accepted: a target that does not agree with itself has no golden answers. */
const REPEATS = 2;

/**
 * `record` writes answers that are not there yet, `update` replaces those that changed, `verify` compares and writes
 * nothing, `list` needs no target. Exit code 0, or 1 when answers differ.
 *
 * Errors: those of targets, tokenizers and stores; `target-disagrees` when equal requests got different answers.
 */
export async function runGoldens(action: GoldensAction, options: GoldensOptions): Promise<{ readonly code: number }> {
  if (action === 'list') return list(options);
  const { signal } = options;
  await using target = await startTarget(options.config, { signal });
  const reported = options.config.target === 'embedded' ? undefined : target.identity['triton'];
  const config = { ...options.config, profile: followCore(options.config.profile, reported).profile };
  await assertReplicasAlike(config, [target, ...(await connectReplicas(config, { signal }))], signal);
  await using made = await makeLab({
    config,
    endpoints: target.endpoints,
    identity: await identityAsLoaded(target, signal),
    health: () => target.health(),
  });
  return await (action === 'verify' ? verify(made.lab, options) : record(made.lab, action, options));
}

function list({ config, filters, out }: GoldensOptions): { readonly code: number } {
  const store = openStore(config);
  for (const suite of store.list()) {
    const goldens = [...store.load(suite).values()].filter((g) => wanted(g.request, filters));
    out(`${store.folder}/${suite}.json  ${goldens.length} goldens`);
    for (const { request, answer } of goldens)
      out(
        `  ${request.id.padEnd(16)} ${String(answer.ids.length).padStart(3)} ids, ${answer.finish.padEnd(10)} ${JSON.stringify(answer.text.slice(0, 60))}`,
      );
  }
  if (store.list().length === 0) out(`${store.folder} has no goldens; record them with: npx lockstep goldens record`);
  return { code: 0 };
}

/** What is misspelt in a script must not pass for goldens that hold. */
function noneMatches(filters: readonly string[]): LockstepError {
  return new LockstepError('golden-missing', `no golden matches ${filters.join(' or ')}`, {
    hint: 'A filter is a part of the id of a request: `npx lockstep goldens list` shows them.',
  });
}

async function verify(lab: Lab, { filters, out, signal }: GoldensOptions): Promise<{ readonly code: number }> {
  const store = goldenStore(lab.parts);
  const goldens = [...store.load(GREEDY).values()].filter((g) => wanted(g.request, filters));
  if (goldens.length === 0) throw noneMatches(filters);
  let failed = 0;
  await inParallel(goldens, 4, async ({ request, answer }) => {
    signal.throwIfAborted();
    const observed = await lab.truth(request);
    const comparison = compareIds(answer, { ids: observed.ids, finish: observed.finish }, await lab.compareOptions());
    if (comparison.verdict === 'identical') return;
    const fails = failsUnder(lab.policy, comparison.verdict);
    if (fails) failed++;
    out(`${fails ? '✗' : '~'} ${request.id}: ${comparison.verdict}, ${comparison.text}`);
  });
  out(`${goldens.length - failed} of ${goldens.length} goldens of ${store.folder} hold`);
  return { code: failed === 0 ? 0 : 1 };
}

async function record(lab: Lab, action: 'record' | 'update', { filters, out, signal }: GoldensOptions): Promise<{ readonly code: number }> {
  const store = goldenStore(lab.parts);
  const known = store.list().includes(GREEDY) ? store.load(GREEDY) : new Map();
  const meant = goldenRequests(lab.plan.prompts).filter((r) => wanted(r, filters));
  if (meant.length === 0) throw noneMatches(filters);
  const asked = meant.filter((r) => action === 'update' || !known.has(r.id));
  if (asked.length === 0) {
    out(`nothing to record: ${store.folder} has every golden asked for; \`goldens update\` replaces answers that changed`);
    return { code: 0 };
  }
  const answers = await inParallel(asked, 1, async (request) => {
    signal.throwIfAborted();
    return { request, answer: await agreed(lab, request) };
  });
  const provenance = { date: wallClock(), version: projectVersion(), identity: lab.parts.identity };
  const { added, changed, unchanged } = store.save(GREEDY, answers, provenance);
  for (const id of changed) out(`changed ${id}`);
  out(`${store.folder}: ${added.length} added, ${changed.length} changed, ${unchanged} unchanged`);
  return { code: 0 };
}

async function agreed(lab: Lab, request: Request): Promise<Answer> {
  const first = await lab.truth(request);
  for (let repeat = 1; repeat < REPEATS; repeat++) {
    const { verdict, text } = await lab.judge(await lab.run({ request, route: 'raw', mode: lab.mode, repeat }), first);
    if (verdict !== 'identical') {
      throw new LockstepError(
        'target-disagrees',
        `${request.id} did not get its answer twice from this target, one after the other: ${text}`,
        {
          hint: 'Run `npx lockstep check determinism` first: a target that does not repeat itself cannot say what is right. Nothing was written.',
        },
      );
    }
  }
  return first;
}

function wanted(request: Request, filters: readonly string[]): boolean {
  return filters.length === 0 || filters.some((f) => request.id.includes(f));
}

function openStore(config: RunConfig) {
  return goldenStore({ goldensDir: config.goldens, tokenizer: loadTokenizer(config.tokenizer) });
}
