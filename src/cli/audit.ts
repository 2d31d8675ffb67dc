/** `lockstep audit`: the knobs of a model repository, of a running server, or of both, and what behaviour says of them. */
import { relative, resolve } from 'node:path';
import { accessFiles, addressesOf, resolveSettings, type Settings } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { assertWritable, writeFileAtomic } from '#core/files/index.ts';
import { auditJson, type AuditReport, auditSarif, isClean, renderAudit } from '#report/audit/index.ts';
import { styleFor } from '#report/index.ts';
import { readAccess } from '#targets/external/index.ts';
import {
  type Audit,
  auditLoaded,
  auditRepository,
  loadedModels,
  patchOf,
  readStatistics,
  type Trial,
  tryBehaviour,
} from '#targets/repository/index.ts';
import { connect } from '#wire/clients/index.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';

export async function audit({ flags, env, cwd, signal, terminal }: CommandContext): Promise<number> {
  const [folder, ...rest] = flags.positionals;
  if (rest[0] !== undefined)
    throw new LockstepError('action-unknown', `audit looks at one repository; ${rest[0]} is another`, { hint: 'Call it once for each.' });
  const settings = await resolveSettings({ command: 'audit', flags: flags.layer, env, cwd, signal });
  if (folder === '')
    throw new LockstepError('value-invalid', 'the repository to audit is an empty word', { hint: 'Name a folder, such as ./models.' });
  const repository = folder === undefined ? undefined : resolve(cwd, folder);
  if (repository === undefined && settings.http === undefined) {
    throw new LockstepError('setting-missing', 'audit needs a model repository, or --http HOST:PORT of a running server', {
      hint: 'Write: lockstep audit ./models, or lockstep audit --http HOST:8000 --grpc HOST:8001.',
    });
  }
  if (settings.fix && repository === undefined) {
    throw new LockstepError('flags-contradict', '--fix prints a change of files, and no repository is given', {
      hint: 'Give the folder that the server was started on.',
    });
  }
  for (const path of [settings.json, settings.sarif]) if (path !== undefined) assertWritable(resolve(cwd, path));
  const written = repository === undefined ? undefined : auditRepository(repository, settings.release);
  if (settings.fix && written !== undefined) {
    terminal.out(patchOf(written.findings, shownFrom(cwd)).trimEnd());
    return isClean({ findings: written.findings, trials: [] }) ? EXIT.held : EXIT.failed;
  }
  const running = settings.http === undefined ? undefined : await auditRunning(settings, { cwd, repository, signal });
  const report: AuditReport = {
    read: [...(written?.read ?? []), ...(running?.read ?? [])],
    findings: [...(written?.findings ?? []), ...(running?.findings ?? [])],
    trials: running?.trials ?? [],
    shown: shownFrom(cwd),
  };
  if (settings.json !== undefined) writeFileAtomic(resolve(cwd, settings.json), auditJson(report));
  if (settings.sarif !== undefined) writeFileAtomic(resolve(cwd, settings.sarif), auditSarif(report));
  terminal.out(renderAudit(report, { style: styleFor(process.stdout, env), columns: terminal.columns }));
  return isClean(report) ? EXIT.held : EXIT.failed;
}

/** Without a gRPC address nothing is asked: configurations are read, and the statistics of the time since the start. */
async function auditRunning(
  settings: Settings,
  { cwd, repository, signal }: { readonly cwd: string; readonly repository: string | undefined; readonly signal: AbortSignal },
): Promise<Audit & { readonly trials: readonly Trial[] }> {
  const { http = '', grpc } = settings;
  for (const [flag, text] of [
    ['--http', http],
    ['--grpc', grpc],
  ] as const) {
    const count = text === undefined ? 1 : addressesOf(text).length;
    if (count === 1) continue;
    throw new LockstepError('flags-contradict', `audit looks at one server, and ${flag} names ${count}`, {
      hint: 'Call it once for each.',
    });
  }
  const access = readAccess(accessFiles(settings, cwd));
  await using clients = connect({ grpc: grpc ?? http, http, metrics: undefined, openai: undefined, access });
  const models = await loadedModels(clients.http, signal);
  const loaded = auditLoaded(models, settings.release, repository);
  const trials =
    grpc === undefined
      ? await readStatistics(clients, signal)
      : await tryBehaviour(
          clients,
          models.map(({ config }) => config),
          signal,
        );
  return { ...loaded, trials };
}

function shownFrom(cwd: string): (file: string) => string {
  return (file) => {
    const short = relative(cwd, file);
    return /^https?:/.test(file) || short === '' || short.startsWith('..') ? file : short;
  };
}
