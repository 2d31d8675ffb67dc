/** `lockstep replay send`: recorded requests to a live server, and what it answers now beside what was recorded. */
import { join, relative, resolve } from 'node:path';
import { POLICIES } from '#checks/compare/index.ts';
import { type Again, compareAgain } from '#checks/lab/recorded-again.ts';
import { quoted } from '#checks/lab/replay-command.ts';
import { writeFixture } from '#checks/recording/index.ts';
import { sendFixture } from '#checks/recording/replay/index.ts';
import { TINY_CHECKPOINT, resolveSettings, toRunConfig } from '#core/config/index.ts';
import { makeFolders } from '#core/files/index.ts';
import { type Style, styleFor } from '#report/index.ts';
import { identityAsLoaded, startTarget } from '#targets/index.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { refuseFaults } from '../faults.ts';
import { namedFixtures } from './fixtures.ts';
import { printable } from './printable.ts';
import { speedOf } from './speed.ts';

/** As long as a case of a run may take. */
const DEADLINE_MS = 30_000;

export async function send({ flags, env, cwd, signal, terminal }: CommandContext): Promise<number> {
  const settings = await resolveSettings({ command: 'replay', flags: flags.layer, env, cwd, signal });
  const config = toRunConfig(settings, cwd, { tokenizer: 'optional' });
  const fixtures = await namedFixtures(flags.positionals, cwd, 'send');
  await refuseFaults(config.faults, config.profile, config.checkpoint ?? TINY_CHECKPOINT);
  const output = settings.output === undefined ? undefined : resolve(cwd, settings.output);
  if (output !== undefined) makeFolders(output);
  const style = styleFor(process.stdout, env);
  await using target = await startTarget(config, { signal });
  const identity = await identityAsLoaded(target, signal);
  let failed = 0;
  for (const { name, shown, fixture } of fixtures) {
    if (fixture.header.protocol === 'openai' && target.endpoints.openai === undefined && fixtures.length > 1) {
      terminal.error(printable(`passed over: ${shown} is for an OpenAI front end, and the target has none`));
      continue;
    }
    const now = await sendFixture(fixture, name, {
      endpoints: target.endpoints,
      speed: speedOf(settings.speed),
      deadlineMs: DEADLINE_MS,
      signal,
      identity,
      profile: config.profile,
    });
    if (output !== undefined) writeFixture(join(output, name.replace(/\.zst$/, '')), now);
    const again = await compareAgain(fixture, now, name, {
      tokenizer: config.tokenizer === '' ? undefined : config.tokenizer,
      profile: config.profile,
      goldensDir: config.goldens,
      policy: POLICIES[config.policy],
      replay: `npx lockstep replay send ${quoted(shown)}`,
      signal,
    });
    if (again.fails) failed++;
    terminal.out(`${again.fails ? style.bad('✗') : style.good('✓')} ${style.bold(printable(shown))}`);
    for (const line of lines(again, style)) terminal.out(`  ${line}`);
    const { alive, detail } = await target.health();
    if (alive) continue;
    terminal.out(`  ${style.bad('the server died of it')}: ${printable(detail)}`);
    return EXIT.failed;
  }
  if (output !== undefined) terminal.out(`what it answered is in ${relative(cwd, output) || '.'}`);
  return failed === 0 ? EXIT.held : EXIT.failed;
}

function lines({ answers, judged, violation }: Again, style: Style): string[] {
  const all = judged?.answers.flatMap(({ findings }) => findings) ?? [];
  const violated = all.filter(({ status }) => status === 'violated');
  const held = all.filter(({ status }) => status === 'held').length;
  return [
    ...answers.map(({ label, comparison }) =>
      printable(
        `${label}: ${comparison === undefined ? 'answered; no answer was recorded' : `${comparison.verdict}${comparison.verdict === 'identical' ? '' : `, ${comparison.text}`}`}`,
      ),
    ),
    ...(all.length === 0
      ? []
      : [
          `${held} of ${all.length} laws held${style.dim(all.length - held - violated.length > 0 ? `, ${all.length - held - violated.length} met known gaps` : '')}`,
        ]),
    ...violated.flatMap(({ law, violations }) =>
      violations.map(({ code, text }) => `${style.bad('✗')} ${law} ${printable(`${code}: ${text}`)}`),
    ),
    ...(violation === undefined ? [] : [`what was wrong when it was recorded ${violation}`]),
  ];
}
