/** `lockstep shrink`: the smallest request that still breaks the same law in the same way. */
import { basename, dirname, join, relative, resolve } from 'node:path';
import { fixtureFileName, writeFixture } from '#checks/recording/index.ts';
import { fixtureOf } from '#checks/lab/fixtures.ts';
import { type Removal, type Shrunk, Stage, shrink as search } from '#checks/shrink/index.ts';
import { resolveSettings, toRunConfig } from '#core/config/index.ts';
import { assertWritable } from '#core/files/index.ts';
import { describeCase } from '#core/request/index.ts';
import { startBench } from './bench.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { givenCase } from './failing-case.ts';
import { refuseFaults } from './faults.ts';

export async function shrink({ flags, env, cwd, signal, terminal }: CommandContext): Promise<number> {
  const settings = await resolveSettings({ command: 'shrink', flags: flags.layer, env, cwd, signal });
  const config = toRunConfig(settings, cwd);
  if (config.checkpoint !== undefined) await refuseFaults(config.faults, config.profile, config.checkpoint);
  const { failing, fixture } = await givenCase(flags.positionals, { config, cwd, signal });
  const path = join(settings.output === undefined ? dirname(fixture) : resolve(cwd, settings.output), shrunkName(fixture));
  assertWritable(path);
  terminal.out(`${describeCase(failing.case)} breaks ${failing.violation.law} (${failing.violation.code})`);
  await using bench = await startBench(config, signal);
  const stage = new Stage(bench, { budget: settings.budget, signal, keep: dirname(path) });
  const shrunk = await search(failing, stage, { onRemoval: (removal) => terminal.out(`  ${removalLine(removal)}`) });
  for (const line of resultLines(shrunk)) terminal.out(line);
  const { smallest, sighting } = shrunk;
  const kept =
    sighting.transcript &&
    fixtureOf(stage.lab, sighting.transcript, {
      ...smallest,
      violation: { ...smallest.violation, text: sighting.text },
      truth: sighting.truth,
    });
  if (kept !== undefined) {
    writeFixture(path, kept);
    terminal.out(`written to ${relative(cwd, path)}`);
  }
  return shrunk.ended === 'interrupted' ? EXIT.interrupted : EXIT.held;
}

function shrunkName(path: string): string {
  return fixtureFileName(
    basename(path)
      .replace(/\.fixture(\.zst)?$/, '')
      .replace(/-shrunk$/, ''),
    'shrunk',
  );
}

function removalLine({ what, from, to, requests }: Removal): string {
  return `${what.padEnd(20)} ${from} → ${to}   (${requests} requests)`;
}

const ENDED: Readonly<Record<Shrunk['ended'], string>> = {
  minimal: 'nothing more can be taken away',
  budget: 'the budget is spent: what is below is the smallest case so far (--budget allows more)',
  interrupted: 'stopped: what is below is the smallest case so far',
  'server-died': 'the server died, and with it the search: what is below is the smallest case so far',
};

export function resultLines({ smallest, before, after, sighting, ended, note, requests }: Shrunk): string[] {
  const { case: c, asked, company, violation } = smallest;
  const { prompt, sampling, limits } = c.request;
  const line = (name: string, value: string) => `  ${name.padEnd(10)} ${value}`;
  const rate = after.n === 0 ? `${before.k} of ${before.n} tries, before anything was taken away` : `${after.k} of ${after.n} tries`;
  return [
    `${ENDED[ended]}${note === undefined || ended !== 'minimal' ? '' : `, but ${note}`}; ${requests} requests spent`,
    line('case', describeCase(c)),
    line('prompt', JSON.stringify(prompt.kind === 'text' ? prompt.text : prompt.kind === 'ids' ? prompt.ids : prompt.messages)),
    line('sampling', JSON.stringify(sampling)),
    line('limits', JSON.stringify(limits)),
    ...(Object.keys(asked).length === 0 ? [] : [line('asked', JSON.stringify(asked))]),
    ...company.before.map((one) =>
      line('before it', `${describeCase(one.case)} ${JSON.stringify(one.case.request.prompt)} ${JSON.stringify(one.case.request.limits)}`),
    ),
    ...company.beside.map((one) =>
      line('beside it', `${describeCase(one.case)} ${JSON.stringify(one.case.request.prompt)} ${JSON.stringify(one.case.request.limits)}`),
    ),
    line('breaks', `${violation.law} (${violation.code}) in ${rate}`),
    line('what', sighting.text),
  ];
}
