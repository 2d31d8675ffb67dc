/** `lockstep bundle`: a failing case as one folder to attach to an upstream issue. */
import { basename, relative, resolve } from 'node:path';
import { fixtureOf } from '#checks/lab/fixtures.ts';
import { readFixture } from '#checks/recording/index.ts';
import { Stage, triedAgain } from '#checks/shrink/index.ts';
import { resolveSettings, toRunConfig } from '#core/config/index.ts';
import { describeCase } from '#core/request/index.ts';
import { surroundingsOf, writeBundle } from '#report/bundle/index.ts';
import { startBench } from './bench.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { givenCase } from './failing-case.ts';
import { refuseFaults } from './faults.ts';

/** Enough for a case with a long company that is tried a dozen times. */
const REQUESTS = 5000;

export async function bundle({ flags, env, cwd, signal, terminal }: CommandContext): Promise<number> {
  const settings = await resolveSettings({ command: 'bundle', flags: flags.layer, env, cwd, signal });
  const config = toRunConfig(settings, cwd);
  if (config.checkpoint !== undefined) await refuseFaults(config.faults, config.profile, config.checkpoint);
  const given = await givenCase(flags.positionals, { config, cwd, signal });
  const { failing } = given;
  const folder = resolve(cwd, settings.output ?? basename(given.fixture).replace(/\.fixture(\.zst)?$/, '-bundle'));
  terminal.out(`${describeCase(failing.case)} breaks ${failing.violation.law} (${failing.violation.code})`);
  await using bench = await startBench(config, signal);
  const stage = new Stage(bench, { budget: REQUESTS, signal, keep: folder });
  const before = await surroundingsOf(stage.lab);
  const { tries, sighting } = await triedAgain(failing, stage);
  const after = await surroundingsOf(stage.lab);
  const recorded = await readFixture(given.fixture);
  const seen = sighting ?? { text: failing.violation.text, transcript: undefined, truth: recorded.header.truth };
  const { company, violation } = failing;
  const fixture =
    seen.transcript && fixtureOf(stage.lab, seen.transcript, { company, violation: { ...violation, text: seen.text }, truth: seen.truth });
  const files = writeBundle(folder, {
    lab: stage.lab,
    failing,
    sighting: seen,
    tries,
    fixture: fixture ?? recorded,
    before,
    after,
    log: bench.target.logTail(),
  });
  terminal.out(
    tries.k === 0
      ? `it was not seen again in ${tries.n} tries on this target: the bundle has the recorded exchange, and says so`
      : `seen in ${tries.k} of ${tries.n} tries: ${seen.text}`,
  );
  terminal.out(`written to ${relative(cwd, folder) || '.'}: ${files.filter((name) => !name.startsWith('configs/')).join(', ')}`);
  return tries.k === 0 ? EXIT.failed : EXIT.held;
}
