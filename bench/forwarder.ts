/** In front of an upstream, as a process: `plain` pipes sockets, `recorded` is what `lockstep record` runs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startRecorder } from '#checks/recording/index.ts';

const [kind, upstream = ''] = process.argv.slice(2);
const [host, port] = upstream.split(':');

if (kind === 'plain') {
  const server = createServer({ noDelay: true }, (client) => {
    const onward = connect({ host: host!, port: Number(port), noDelay: true });
    client.pipe(onward).on('error', () => client.destroy());
    onward.pipe(client).on('error', () => onward.destroy());
  });
  server.listen(0, '127.0.0.1', () => process.send?.({ address: `127.0.0.1:${(server.address() as AddressInfo).port}` }));
  process.on('disconnect', () => process.exit(0));
} else {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-bench-'));
  const recorder = await startRecorder({ folder, upstreams: [upstream], onNotice: (notice) => console.error(notice.message) });
  process.send?.({ address: recorder.relays[0]!.address });
  process.on('message', () => {
    void recorder.stop().then(({ written, cut, lost }) => process.send?.({ written: written.grpc.length, cut: cut.length, lost }));
  });
  process.on('disconnect', () => {
    rmSync(folder, { recursive: true, force: true });
    process.exit(0);
  });
}
