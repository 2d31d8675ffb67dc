/** `lockstep record`: what passes between any client and any Triton, as fixtures. */
import { relative, resolve } from 'node:path';
import { type Recording, startRecorder } from '#checks/recording/index.ts';
import { addressesOf, resolveSettings } from '#core/config/index.ts';
import { formatError, LockstepError } from '#core/errors/index.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';

export async function record({ flags, env, cwd, signal, terminal }: CommandContext): Promise<number> {
  const { upstream, output } = await resolveSettings({ command: 'record', flags: flags.layer, env, cwd });
  if (upstream === undefined || output === undefined) {
    throw new LockstepError('setting-missing', `record needs ${upstream === undefined ? '--upstream HOST:PORT' : '--output DIR'}`, {
      hint: 'Write: lockstep record --upstream gpu1:8001,8000 --output recorded.',
    });
  }
  const folder = resolve(cwd, output);
  await using recorder = await startRecorder({
    folder,
    upstreams: addressesOf(upstream),
    onNotice: (notice) => terminal.error(formatError(notice)),
  });
  for (const { address, upstream: server } of recorder.relays) terminal.out(`${address} is ${server}, recorded`);
  terminal.out('ready; send what is to be recorded there, Ctrl-C ends the recording');
  if (!signal.aborted) await new Promise((stop) => signal.addEventListener('abort', stop, { once: true }));
  const recording = await recorder.stop();
  for (const line of summary(recording, folder, cwd)) terminal.out(line);
  return recording.lost > 0 ? EXIT.impossible : EXIT.held;
}

/** What there is now, in words. */
function summary({ written, cut, lost }: Recording, folder: string, cwd: string): string[] {
  const counts = Object.entries(written).filter(([, files]) => files.length > 0);
  const all = counts.reduce((n, [, files]) => n + files.length, 0);
  const byProtocol = counts.map(([protocol, files]) => `${files.length} ${protocol}`).join(', ');
  const which = cut.length === 1 ? 'it' : 'them';
  return [
    all === 0
      ? 'nothing was recorded'
      : `recorded ${all} ${all === 1 ? 'exchange' : 'exchanges'} in ${relative(cwd, folder) || '.'}: ${byProtocol}`,
    ...(cut.length > 0
      ? [`${cut.length} had not ended; what was seen of ${which} is in`, ...cut.map((path) => `  ${relative(cwd, path)}`)]
      : []),
    ...(lost > 0 ? [`${lost} could not be written`] : []),
  ];
}
