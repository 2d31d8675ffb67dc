/** What serving a streamed token costs the embedded server, against a server that only writes messages. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { rawRequest } from '#checks/routes/raw-request.ts';
import { connect } from '#wire/clients/index.ts';
import { LEANEST, bareClient, bareRequest } from './bare-client.ts';
import { processCpuUs } from './process-cpu.ts';
import { alternate, ratios, type Row } from './rounds.ts';
import { ANSWER_IDS, IN_FLIGHT, REQUESTS, inLanes, contextOf, startServer, streamCase } from './server-under-load.ts';

/**
 * The embedded server with the scripted engine, and a bare grpc-js server in a process of its own that answers every
 * request with the messages of one answer of the first, drained by the same bare client. CPU time of the servers, all
 * threads.
 */
export async function serverBench(): Promise<Row[]> {
  await using target = await startServer('scripted');
  await using clients = connect(target.endpoints);
  const context = contextOf(clients);
  const c = streamCase(0);
  const ids = Int32Array.from(c.request.prompt.kind === 'ids' ? c.request.prompt.ids : []);
  const request = bareRequest(rawRequest(c, 'load', ids, context, { deadlineMs: 60_000 }));

  // Only the fields that are set, as a handler writes them by hand; 64-bit numbers survive the IPC as strings.
  const recorder = bareClient(target.endpoints.grpc, { keepCase: true, longs: String });
  const messages = await recorder.collect(request);
  recorder.close();
  const bare = spawn(process.execPath, [join(import.meta.dirname, 'bare-server.ts')], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    serialization: 'advanced',
  });
  const embeddedPid = (await target.processes())[0]?.pid as number;
  const toEmbedded = bareClient(target.endpoints.grpc, LEANEST);
  bare.send(messages);
  const [{ port }] = (await once(bare, 'message')) as [{ port: number }];
  const toBare = bareClient(`127.0.0.1:${port}`, LEANEST);
  try {
    const perMessage = async (client: typeof toBare, pid: number): Promise<number> => {
      const before = processCpuUs(pid);
      const received = await inLanes(IN_FLIGHT, REQUESTS, () => client.drain(request));
      const us = processCpuUs(pid) - before;
      if (received !== REQUESTS * ANSWER_IDS) throw new Error(`${received} messages arrived, ${REQUESTS * ANSWER_IDS} were expected`);
      return us / received;
    };
    const us = await alternate({ embedded: () => perMessage(toEmbedded, embeddedPid), bare: () => perMessage(toBare, bare.pid as number) });
    return [
      {
        measure: 'server: embedded, scripted engine / bare grpc-js server',
        values: ratios(us.embedded, us.bare),
        unit: '×',
        goal: { atMost: 1.25 },
      },
      { measure: 'server: embedded, CPU per message', values: us.embedded, unit: 'µs' },
      { measure: 'server: bare grpc-js server, CPU per message', values: us.bare, unit: 'µs' },
    ];
  } finally {
    toEmbedded.close();
    toBare.close();
    bare.disconnect();
  }
}
