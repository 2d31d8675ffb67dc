/** A grpc-js server that knows nothing but one answer: messages come by IPC, every stream is answered with them. */
import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { DOCUMENTED, serviceOf } from './bare-client.ts';

process.once('message', (messages: readonly object[]) => {
  const server = new Server();
  server.addService(serviceOf(DOCUMENTED).service, {
    ModelStreamInfer: (call: ServerDuplexStream<object, object>) => {
      call.on('data', () => {
        for (const message of messages) call.write(message);
      });
      call.on('end', () => call.end());
    },
  });
  server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
    if (error !== null) throw error;
    process.send?.({ port });
  });
});
process.on('disconnect', () => process.exit(0));
