/** The program: signals, the last catch, the exit code. */
import { nowNs } from '#core/clock/index.ts';
import { formatError, LockstepError } from '#core/errors/index.ts';
import { execute } from './execute.ts';
import { EXIT } from './exit-codes.ts';

/** One Ctrl-C can arrive twice, from the terminal and passed on by main.js. */
const SAME_SIGNAL_NS = 300e6;

const interrupt = new AbortController();
let interruptedNs = 0;
let outputLost = false;
const onSignal = () => {
  if (!interrupt.signal.aborted) {
    interruptedNs = nowNs();
    interrupt.abort(new LockstepError('interrupted', 'stopped by the user'));
  } else if (nowNs() - interruptedNs > SAME_SIGNAL_NS) {
    process.exit(EXIT.interrupted);
  }
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
// Started by main.js: its end ends this process too, however it came.
if (process.connected) {
  process.once('disconnect', onSignal);
  process.channel?.unref();
}
// `lockstep check | head` ends the pipe early, which is no error of a command that is done, but a run whose result nobody sees stops.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE' && !outputLost) {
    outputLost = true;
    const told = new LockstepError('output-not-writable', `cannot write the output: ${error.message}`, {
      hint: 'Check where the output of this command goes, and that the disk has room.',
    });
    process.stderr.write(`${formatError(told)}\n`);
    // The command may have ended before its output did.
    process.exitCode = EXIT.impossible;
  }
  if (!interrupt.signal.aborted) onSignal();
});
process.stderr.on('error', () => undefined);

const code = await execute(process.argv.slice(2), {
  env: process.env,
  cwd: process.cwd(),
  signal: interrupt.signal,
  terminal: {
    out: (text) => process.stdout.write(`${text}\n`),
    error: (text) => process.stderr.write(`${text}\n`),
    columns: process.stdout.columns ?? 100,
  },
});
process.exitCode = outputLost ? EXIT.impossible : code;
