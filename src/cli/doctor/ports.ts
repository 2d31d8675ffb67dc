/** Whether this host lets a server listen, and whether the usual ports of `lockstep serve` are free. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { FIELDS } from '#core/config/index.ts';
import type { Examination } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

const USUAL = ['httpPort', 'grpcPort', 'metricsPort', 'openaiPort'] as const;

export const examinePorts: Examination = async () => {
  const any = await bindError(0);
  if (any !== undefined) return [fail('ports', `no port of 127.0.0.1 can be bound: ${any}`, 'Allow listening on the loopback interface.')];
  const usual = USUAL.map((name) => FIELDS[name].schema.parse(undefined));
  const taken: string[] = [];
  for (const port of usual) {
    const reason = await bindError(port);
    if (reason !== undefined) taken.push(`${port} (${reason})`);
  }
  if (taken.length === 0) return [ok('ports', `free ones can be bound; ${usual.join(', ')} are free`)];
  return [
    warn(
      'ports',
      `free ones can be bound; not ${taken.join(', ')}`,
      'Runs take free ports by themselves; give `lockstep serve` other ports, or 0.',
    ),
  ];
};

async function bindError(port: number): Promise<string | undefined> {
  const server = createServer();
  try {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return undefined;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code ?? String(thrown);
  } finally {
    server.close();
  }
}
