import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';

/** Looks again after it removed: one may be under way while its owner is killed. */
const LOOKS = 3;
const BETWEEN_LOOKS_MS = 300;
const ASK_WITHIN_MS = 10_000;

/**
 * Removes every container of a run, by its label. Plain HTTP on the engine's socket: this runs after a kill, on a machine that may be
 * busy, and must not first load a client. An engine that is gone has nothing to ask; what it left is swept by the next start.
 */
export async function removeContainers(socket: string, label: string): Promise<void> {
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }));
  for (let look = 0; look < LOOKS; look += 1) {
    const found = JSON.parse(await ask(socket, 'GET', `/containers/json?all=1&filters=${filters}`)) as readonly { readonly Id: string }[];
    if (found.length === 0 && look > 0) return;
    await Promise.all(found.map(({ Id }) => ask(socket, 'DELETE', `/containers/${Id}?force=1&v=1`)));
    await pause(BETWEEN_LOOKS_MS);
  }
}

async function ask(socketPath: string, method: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, method, path, agent: false, timeout: ASK_WITHIN_MS }, (reply) => {
      let body = '';
      reply.setEncoding('utf8').on('data', (text: string) => (body += text));
      reply.on('end', () => resolve(body));
      reply.on('error', reject);
    });
    call.on('error', reject);
    call.on('timeout', () => call.destroy(new Error('the engine does not answer')));
    call.end();
  });
}
