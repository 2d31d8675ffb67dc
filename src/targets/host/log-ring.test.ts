import { expect, test } from 'vitest';
import { LogRing } from './log-ring.ts';

test('the tail of a dead server is its stack, whatever its stubs say afterwards', () => {
  const ring = new LogRing();
  const write = ring.sink();
  const stack = [
    'Signal (11) received.',
    ...Array.from({ length: 9 }, (_, i) => ` ${i}# 0x0000563AFB5EF80D in /opt/tritonserver/bin/tritonserver`),
  ];
  write(`I1201 grpc_server.cc:2463] "Started"\n| id | GPUs |\n${stack.join('\n').slice(0, 200)}`);
  write(`${stack.join('\n').slice(200)}\n`);
  for (let stub = 0; stub < 8; stub++) write(`I1201 18:05:51.653213 ${stub} pb_stub.cc:2049]  Non-graceful termination detected. \n`);
  expect(ring.tail().split('\n')).toEqual(['I1201 grpc_server.cc:2463] "Started"', ...stack]);
  expect(ring.lines()).toHaveLength(20);
});
