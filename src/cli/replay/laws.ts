/** `lockstep replay laws`: what the laws say of recorded answers, without a server. */
import { type JudgedRecording, judgeRecording } from '#checks/lab/recorded.ts';
import { quoted } from '#checks/lab/replay-command.ts';
import { POLICIES } from '#checks/compare/index.ts';
import { resolveSettings, toRunConfig } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { describeCase } from '#core/request/index.ts';
import { type ClaimResult, renderFailedClaim, styleFor } from '#report/index.ts';
import type { CommandContext, Terminal } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { type NamedFixture, namedFixtures } from './fixtures.ts';
import { printable } from './printable.ts';

export async function laws({ flags, env, cwd, signal, terminal }: CommandContext): Promise<number> {
  const settings = await resolveSettings({ command: 'replay', flags: flags.layer, env, cwd, signal });
  const config = toRunConfig(settings, cwd, { tokenizer: 'optional' });
  const style = styleFor(process.stdout, env);
  const marks = { held: style.good('✓'), violated: style.bad('✗'), gap: style.warn('~'), unjudged: style.warn('?') };
  const fixtures = await namedFixtures(flags.positionals, cwd, 'laws');
  let broken = 0;
  for (const one of fixtures) {
    const judged = await judgedOr(fixtures.length > 1, terminal, () =>
      judgeRecording(one.fixture, one.name, {
        tokenizer: flags.layer.has('tokenizer') ? config.tokenizer : undefined,
        profile: flags.layer.has('profile') ? config.profile : undefined,
        goldensDir: config.goldens,
        policy: POLICIES[config.policy],
        replay: `npx lockstep replay laws ${quoted(one.shown)}`,
        signal,
      }),
    );
    if (judged === undefined) continue;
    terminal.out(style.bold(printable(one.shown)));
    for (const { transcript, truth, findings } of judged.answers) {
      terminal.out(`  ${printable(describeCase(transcript.case))}${truth === undefined ? style.dim('  no accepted answer is known') : ''}`);
      for (const { law, status, violations, gaps } of findings) {
        const what = [
          ...violations.map(({ code, text }) => printable(`${code}: ${text}`)),
          ...gaps.map(({ id, thread }) => `${id}  ${style.dim(thread)}`),
        ];
        terminal.out(`  ${marks[status]} ${law.padEnd(LAW_CELLS)}${what.join('\n'.padEnd(LAW_CELLS + 5))}`.trimEnd());
      }
    }
    if (judged.failures.length === 0) continue;
    broken++;
    terminal.out('');
    terminal.out(renderFailedClaim(asClaim(one, judged), { style, columns: terminal.columns }));
  }
  return broken === 0 ? EXIT.held : EXIT.failed;
}

/** Among many there are requests that are none of a model's, such as those for metadata: they are told, and passed over. */
async function judgedOr(
  passOver: boolean,
  { error }: Terminal,
  work: () => Promise<JudgedRecording>,
): Promise<JudgedRecording | undefined> {
  try {
    return await work();
  } catch (thrown) {
    if (!passOver || !(thrown instanceof LockstepError) || thrown.code !== 'fixture-not-replayable') throw thrown;
    error(printable(`passed over: ${thrown.message.replace(/^\[[\w-]+\] /, '')}`));
    return undefined;
  }
}

const LAW_CELLS = 24;

/** As the failure screen of the suite wants it. */
function asClaim({ name, fixture }: NamedFixture, { answers, failures }: JudgedRecording): ClaimResult {
  return {
    id: printable(name),
    suite: 'recordings',
    statement: printable(fixture.header.note ?? 'The recorded answer obeys every law that speaks of it.'),
    routes: [],
    laws: [],
    status: 'failed',
    verdict: undefined,
    evidence: {
      n: answers.length,
      k: new Set(failures.map(({ case: c }) => c?.label)).size,
      bound: undefined,
      unit: 'recorded answers',
      notes: [],
    },
    failures,
    gaps: [],
    gapsGone: [],
    durationMs: 0,
  };
}
