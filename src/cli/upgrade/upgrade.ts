/** `lockstep upgrade`: two targets, one after the other; what changed, whether it is noise, and one verdict. */
import { resolve } from 'node:path';
import { wallClock } from '#core/clock/index.ts';
import { htmlFile, resolveSettings, type RunConfig, TINY_CHECKPOINT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { assertWritable, writeFileAtomic } from '#core/files/index.ts';
import { renderUpgradeHtml } from '#report/html/index.ts';
import { styleFor } from '#report/index.ts';
import { judgeUpgrade, readPolicy, readSide, recordSide, type Side, upgradeMarkdown, type Upgrade } from '#report/upgrade/index.ts';
import { sameRepository } from '#targets/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { type Named, namedTarget } from './target-config.ts';

export async function upgrade(context: CommandContext): Promise<number> {
  const { flags, env, cwd, signal, terminal } = context;
  const settings = await resolveSettings({ command: 'upgrade', flags: flags.layer, env, cwd, signal });
  const policy = readPolicy(settings.upgradePolicy === undefined ? undefined : resolve(cwd, settings.upgradePolicy));
  const [old, now] = alike([named('from', settings.from), named('to', settings.to)]);
  const files = [settings.json, settings.markdown, htmlFile(settings.report, 'reports/upgrade.html')].map((path) =>
    path === undefined ? undefined : resolve(cwd, path),
  );
  for (const path of files) if (path !== undefined) assertWritable(path);
  const notice = (line: string) => terminal.error(line);
  const record = async (one: Named, before?: Side) =>
    'file' in one
      ? readSide(one.file)
      : recordSide({
          name: one.name,
          config: one.config,
          claims: flags.positionals,
          notice,
          signal,
          ...(before === undefined ? {} : { old: before }),
        });
  const from = await record(old);
  const to = await record(now, from);
  const tokenizer = loadTokenizer(tokenizerOf([now, old]));
  const result = judgeUpgrade(from, to, { policy, tokenizer, at: wallClock() });
  const [json, markdown, html] = files;
  if (json !== undefined) writeFileAtomic(json, `${JSON.stringify(result, null, 1)}\n`);
  if (markdown !== undefined) writeFileAtomic(markdown, upgradeMarkdown(result));
  if (html !== undefined) writeFileAtomic(html, renderUpgradeHtml(result));
  tell(result, context);
  return { SAFE: EXIT.held, REVIEW: EXIT.review, UNSAFE: EXIT.failed }[result.verdict];

  function named(flag: string, text: string | undefined): Named {
    if (text !== undefined) return namedTarget(text, settings, cwd);
    throw new LockstepError('setting-missing', `upgrade needs both sides: --${flag} is not set`, {
      hint: 'Write: lockstep upgrade --from process:2.41 --to process:2.42, or docker:IMAGE, or external:HOST:GRPC,HTTP,METRICS.',
    });
  }
}

/** What is served must not differ by which release serves it. */
function alike([a, b]: readonly [Named, Named]): readonly [Named, Named] {
  if ('file' in a || 'file' in b) return [a, b];
  const repository = sameRepository([a.config, b.config]);
  const served = (config: RunConfig): RunConfig => (repository === undefined ? config : { ...config, repository });
  return [
    { ...a, config: served(a.config) },
    { ...b, config: served(b.config) },
  ];
}

function tokenizerOf(sides: readonly Named[]): string {
  for (const side of sides) if (!('file' in side)) return side.config.tokenizer;
  return TINY_CHECKPOINT;
}

function tell({ verdict, findings, from, to }: Upgrade, { env, terminal }: CommandContext): void {
  const style = styleFor(process.stdout, env);
  const colour = { SAFE: style.good, REVIEW: style.accent, UNSAFE: style.bad }[verdict];
  const marks = { UNSAFE: style.bad('✗'), REVIEW: style.accent('?'), note: style.dim('·') };
  for (const { weight, text } of findings) terminal.out(`${marks[weight]} ${text}`);
  terminal.out(`${colour(style.bold(verdict))} ${from.name} → ${to.name}`);
}
