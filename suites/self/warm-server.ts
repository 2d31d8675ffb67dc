/** A server process for the self-test: embedded servers one after another, each made new from the options that are sent. */
import { LockstepError } from '#core/errors/index.ts';
import type { EmbeddedOptions } from '#embedded/options.ts';
import { type EmbeddedServer, startEmbeddedServer } from '#embedded/server.ts';

let server: EmbeddedServer | undefined;

process.on('message', (asked: EmbeddedOptions | 'close') => void take(asked));

async function take(asked: EmbeddedOptions | 'close'): Promise<void> {
  try {
    await server?.close(0);
    server = asked === 'close' ? undefined : await startEmbeddedServer(asked);
    process.send?.({ endpoints: server?.endpoints, identity: server?.identity });
  } catch (thrown) {
    process.send?.({ error: LockstepError.from(thrown).message });
  }
}
process.on('disconnect', () => process.exit(0));
