/** `lockstep goldens review FILE`: answers that an upgrade changed, accepted or rejected as goldens case by case. */
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { wallClock } from '#core/clock/index.ts';
import { projectVersion, type RunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { assertWritable, writeFileAtomic } from '#core/files/index.ts';
import { GREEDY, goldenStore } from '#checks/lab/goldens.ts';
import { readUpgrade, type AnswerDifference } from '#report/upgrade/index.ts';
import { styleFor } from '#report/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';

type Decision = 'accept' | 'reject';
type Decisions = Readonly<Record<string, Decision>>;

/**
 * Asks on the terminal, or reads a file of decisions; what is accepted replaces its golden, all in one atomic write, under the new
 * side's identity. Exit code 0 when every case is decided, else 1.
 *
 * Errors: `upgrade-unreadable`, `setting-missing`, `decisions-unreadable`, `file-not-writable`, those of the store.
 */
export async function reviewGoldens(
  context: CommandContext,
  options: { readonly config: RunConfig; readonly files: readonly string[]; readonly decisions: string | undefined },
): Promise<number> {
  const { cwd, signal, terminal, env } = context;
  const [file, ...rest] = options.files;
  if (file === undefined || rest.length > 0) {
    throw new LockstepError('setting-missing', 'review needs the JSON of one upgrade', {
      hint: 'Write: lockstep goldens review upgrade.json, a file of `lockstep upgrade --json`.',
    });
  }
  const upgrade = readUpgrade(resolve(cwd, file));
  const store = goldenStore({ goldensDir: options.config.goldens, tokenizer: loadTokenizer(options.config.tokenizer) });
  const known = store.list().includes(GREEDY) ? store.load(GREEDY) : new Map();
  const items = new Map((upgrade.to.answers?.items ?? []).map((item) => [item.request.id, item]));
  // What is accepted already needs no second word.
  const cases = (upgrade.answers?.differences ?? []).filter(
    ({ request, after }) => known.get(request)?.answer.ids.join() !== after.ids.join(),
  );
  const path = options.decisions === undefined ? undefined : resolve(cwd, options.decisions);
  const given = path !== undefined && existsSync(path);
  if (path !== undefined && !given) assertWritable(path);
  const decisions = given
    ? readDecisions(path, cases)
    : await ask(cases, { style: styleFor(process.stdout, env), out: terminal.out, signal });
  if (path !== undefined && !given) writeFileAtomic(path, `${JSON.stringify(decisions, null, 2)}\n`);
  const accepted = cases.filter(({ request }) => decisions[request] === 'accept').flatMap(({ request }) => items.get(request) ?? []);
  if (accepted.length > 0) store.save(GREEDY, accepted, { date: wallClock(), version: projectVersion(), identity: upgrade.to.identity });
  const rejected = cases.filter(({ request }) => decisions[request] === 'reject').length;
  const open = cases.length - accepted.length - rejected;
  terminal.out(`${store.folder}: ${accepted.length} accepted, ${rejected} rejected, ${open} open`);
  return open === 0 ? EXIT.held : EXIT.failed;
}

const DECISIONS = z.record(z.string(), z.enum(['accept', 'reject']));

function readDecisions(path: string, cases: readonly AnswerDifference[]): Decisions {
  const hint = 'It is one object, request id to "accept" or "reject", such as review writes with --decisions.';
  let json: unknown;
  try {
    json = JSON.parse(readFileSync(path, 'utf8'));
  } catch (thrown) {
    throw new LockstepError('decisions-unreadable', `cannot read the decisions in ${path}: ${(thrown as Error).message}`, {
      hint,
      cause: thrown,
    });
  }
  const parsed = DECISIONS.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new LockstepError('decisions-unreadable', `${path}: ${issue?.path.join('.') || 'the whole'}: ${issue?.message}`, { hint });
  }
  const unknown = Object.keys(parsed.data).find((id) => !cases.some(({ request }) => request === id));
  if (unknown === undefined) return parsed.data;
  throw new LockstepError(
    'decisions-unreadable',
    `${path} decides ${unknown}, which this upgrade did not change, or whose golden is the new answer already`,
    {
      hint: 'Take it out, or name the upgrade that it belongs to.',
    },
  );
}

interface Asking {
  readonly style: ReturnType<typeof styleFor>;
  readonly out: (text: string) => void;
  readonly signal: AbortSignal;
}

const KEYS = 'a accept · r reject · s skip · q stop';

/** One line of input for each case; where the input ends the rest stays open. */
async function ask(cases: readonly AnswerDifference[], { style, out, signal }: Asking): Promise<Decisions> {
  const decisions: Record<string, Decision> = {};
  if (cases.length === 0) return decisions;
  const input = createInterface({ input: process.stdin });
  signal.addEventListener('abort', () => input.close(), { once: true });
  const lines = input[Symbol.asyncIterator]();
  try {
    for (const [i, one] of cases.entries()) {
      out(`${style.bold(`${i + 1}/${cases.length} ${one.request}`)} ${style.dim(one.verdict)} ${shown(one.text)}`);
      out(`  ${style.dim('prompt')}  ${shown(one.prompt)}`);
      out(`  ${style.bad('before')}  ${shown(one.before.text)} ${style.dim(one.before.finish)}`);
      out(`  ${style.good('after')}   ${shown(one.after.text)} ${style.dim(one.after.finish)}`);
      for (;;) {
        out(`  ${style.dim(KEYS)}`);
        const { value, done } = await lines.next();
        signal.throwIfAborted();
        const word = done === true ? 'q' : value.trim().toLowerCase();
        if (word === 'q') return decisions;
        if (word === 's') break;
        if (word !== 'a' && word !== 'r') continue;
        decisions[one.request] = word === 'a' ? 'accept' : 'reject';
        break;
      }
    }
    return decisions;
  } finally {
    input.close();
  }
}

/** What came from a model must not move the cursor. */
const shown = (text: string): string => JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"');
