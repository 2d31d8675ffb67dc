/** Stands in for the embedded server's process: the profile's name says how it behaves. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const options = JSON.parse(process.argv[2] ?? '{}') as { readonly profile: string };
process.on('disconnect', () => process.exit(0));
console.log(`behaving as ${options.profile}`);

switch (options.profile) {
  case 'dies':
    console.error('no checkpoint there');
    process.exit(3);
    break;
  case 'refuses':
    process.send?.({ ready: false, error: { code: 'port-taken', message: '[port-taken] 8001 is in use', hint: 'Use another port.' } });
    break;
  case 'silent':
    setInterval(() => {}, 1_000);
    break;
  case 'deaf':
    process.removeAllListeners('disconnect');
    process.on('disconnect', () => {});
    listen();
    break;
  default:
    listen();
}

function listen(): void {
  const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.send?.({ ready: true, endpoints: { grpc: `127.0.0.1:${port}`, http: `127.0.0.1:${port}` }, identity: { server: 'sample' } });
  });
}
