/** `lockstep bisect`: the first of several targets on which a case fails, with as few starts as that takes. */
import { resolveSettings, type RunConfig, type Settings } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { compareReleases } from '#core/profile/index.ts';
import { styleFor } from '#report/index.ts';
import { bisectCase, firstBad } from '#report/upgrade/index.ts';
import { sameRepository } from '#targets/index.ts';
import { serverTable } from '#targets/process/releases.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { namedTarget } from '../upgrade/target-config.ts';

export async function bisect(context: CommandContext): Promise<number> {
  const { flags, env, cwd, signal, terminal } = context;
  const settings = await resolveSettings({ command: 'bisect', flags: flags.layer, env, cwd, signal });
  const targets = between(settings, flags.positionals).map((text) => startable(text, settings, cwd));
  const repository = sameRepository(targets.map(({ config }) => config));
  const configs = targets.map(({ config }): RunConfig => (repository === undefined ? config : { ...config, repository }));
  const style = styleFor(process.stdout, env);
  const asked = await bisectCase(flags.positionals, configs[0]!, signal);
  const names = targets.map(({ name }) => name);
  const { first, before, tried } = await firstBad(names, (index) => asked.open(configs[index]!), {
    failureRate: settings.failureRate / 100,
    signal,
    told: ({ name, failed, trials, bad }) =>
      terminal.out(`${bad ? style.bad('✗') : style.good('✓')} ${name}: fails ${failed} of ${trials}`),
  });
  terminal.out(`${style.bold('first bad')} ${first}, after ${before} · ${tried.length} of ${targets.length} started`);
  const shown = asked.shown();
  if (shown !== '') terminal.out(shown);
  return EXIT.held;
}

/** The ends and what is between them, oldest first. Errors: `setting-missing`, `target-unclear`. */
function between({ good, bad, among }: Settings, words: readonly string[]): readonly string[] {
  if (good === undefined || bad === undefined || words.length === 0) {
    throw new LockstepError('setting-missing', 'bisect needs a good target, a bad one and a case', {
      hint: 'Write: lockstep bisect --good process:2.42 --bad process:2.49 CASE; a case is a part of a claim, or contract/ and the name of an exchange.',
    });
  }
  if (among.length > 0) return [good, ...among, bad];
  const [a, b] = [good, bad].map((text) => /^(process|docker):(\d+\.\d+)(\.\d+)?$/.exec(text));
  if (a === null || a === undefined || b === null || b === undefined || a[1] !== b[1]) {
    throw new LockstepError('target-unclear', `nobody knows what lies between ${good} and ${bad}`, {
      hint: 'Name the targets between them, oldest first, each with --among.',
    });
  }
  if (compareReleases(a[2]!, b[2]!) >= 0) {
    throw new LockstepError('target-unclear', `${good} is not before ${bad}`, { hint: 'Name the older one with --good.' });
  }
  const inside = serverTable()
    .releases.map(({ version }) => version.replace(/\.0$/, ''))
    .filter((version) => compareReleases(a[2]!, version) < 0 && compareReleases(version, b[2]!) < 0);
  return [good, ...inside.map((version) => `${a[1]}:${version}`), bad];
}

function startable(text: string, settings: Settings, cwd: string): { readonly name: string; readonly config: RunConfig } {
  const named = namedTarget(text, settings, cwd);
  if ('config' in named) return named;
  throw new LockstepError('target-unclear', `${text} is a file, and bisect starts what it asks`, {
    hint: 'Name targets: process:VERSION or docker:IMAGE.',
  });
}
