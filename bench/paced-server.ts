/**
 * A grpc-js server that sends at a pace, whoever is slow: every millisecond two messages, to the streams in turn. The id of
 * a message is the moment at which it was handed over, in nanoseconds of the clock that all processes share.
 */
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { nowNs } from '#core/clock/index.ts';
import { DOCUMENTED, serviceOf } from './bare-client.ts';

const PER_MS = 2;
const TICK_MS = 1;

const streams: ServerDuplexStream<object, object>[] = [];
const outputs = [
  { name: 'output_ids', datatype: 'INT32', shape: [1, 1, 1] },
  { name: 'sequence_length', datatype: 'INT32', shape: [1, 1] },
];
const raw = [Buffer.of(1, 2, 0, 0), Buffer.of(1, 0, 0, 0)];

const startNs = nowNs();
let sent = 0;
setInterval(() => {
  const due = Math.floor(((nowNs() - startNs) / 1e6) * PER_MS);
  for (; sent < due; sent++) {
    const id = String(process.hrtime.bigint());
    streams[sent % streams.length]?.write({
      infer_response: { id, model_name: 'tensorrt_llm', model_version: '1', outputs, raw_output_contents: raw },
    });
  }
}, TICK_MS);

const server = new Server();
server.addService(serviceOf(DOCUMENTED).service, {
  ModelStreamInfer: (call: ServerDuplexStream<object, object>) => {
    call.on('data', () => streams.push(call));
    const leave = (): void => {
      if (streams.includes(call)) streams.splice(streams.indexOf(call), 1);
    };
    call.on('cancelled', leave);
    call.on('end', () => {
      leave();
      call.end();
    });
  },
});
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  process.send?.({ address: `127.0.0.1:${port}` });
});
process.on('disconnect', () => process.exit(0));
