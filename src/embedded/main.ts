/** The embedded server's own process: options as JSON in the first argument, news over the IPC channel. */
import { flushCompileCache } from 'node:module';
import { LockstepError } from '#core/errors/index.ts';
import type { EmbeddedOptions } from './options.ts';
import { startEmbeddedServer } from './server.ts';

const GRACE_MS = 1000;

try {
  const server = await startEmbeddedServer(JSON.parse(process.argv[2] ?? '{}') as EmbeddedOptions);
  let closing = false;
  const close = () => {
    if (closing) return;
    closing = true;
    void server.close(GRACE_MS).finally(() => process.exit(0));
    setTimeout(() => process.exit(0), 2 * GRACE_MS).unref();
  };
  // The channel closes when the parent ends, however it ended: nothing outlives a killed runner.
  process.on('disconnect', close);
  process.on('SIGTERM', close);
  process.on('SIGINT', () => {});
  process.send?.({ ready: true, endpoints: server.endpoints, identity: server.identity });
  // Node writes it at the end of a process; the next server of a run starts before the end of this one.
  flushCompileCache();
} catch (thrown) {
  const error = LockstepError.from(thrown);
  process.send?.({ ready: false, error: { code: error.code, message: error.message.replace(`[${error.code}] `, ''), hint: error.hint } });
  process.exitCode = 2;
  process.disconnect?.();
}
