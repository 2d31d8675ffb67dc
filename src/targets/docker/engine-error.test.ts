import { expect, test } from 'vitest';
import { LockstepError, formatError } from '#core/errors/index.ts';
import { engineError } from './engine-error.ts';
import { engineSocket } from './engine.ts';

const SOCKET = '/run/x/docker.sock';
const refused = (statusCode: number, message: string) => ({
  statusCode,
  json: { message },
  message: `(HTTP code ${statusCode}) … - ${message} `,
});

// Texts of Docker Engine 20.10.24, and of nvidia-container-cli 1.14 and later.
test.each([
  [{ code: 'ENOENT' }, 'docker-engine-missing', 'no Docker engine answers at /run/x/docker.sock'],
  [{ code: 'ECONNREFUSED' }, 'docker-engine-missing', 'no Docker engine answers at /run/x/docker.sock'],
  [{ code: 'EACCES' }, 'docker-engine-forbidden', 'this user may not use the Docker engine at /run/x/docker.sock'],
  [{ code: 'ECONNRESET', message: 'aborted' }, 'docker-engine-gone', 'the Docker engine at /run/x/docker.sock went away'],
  [refused(500, 'could not select device driver "" with capabilities: [[gpu]]'), 'nvidia-runtime-missing', 'no NVIDIA runtime'],
  [refused(400, 'Unknown runtime specified nvidia'), 'nvidia-runtime-missing', 'no NVIDIA runtime'],
  [
    refused(500, 'failed to create task for container: … nvidia-container-cli: device error: 7: unknown device: unknown'),
    'gpu-not-found',
    'the host has no GPU 7',
  ],
  [
    refused(500, '… nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown'),
    'nvidia-runtime-missing',
    'fails: initialization error: nvml error: driver not loaded',
  ],
  [
    refused(
      500,
      'driver failed programming external connectivity on endpoint lockstep-1 (abc): Error starting userland proxy: listen tcp4 127.0.0.1:8000: bind: address already in use',
    ),
    'port-taken',
    'port 8000 of 127.0.0.1 is in use',
  ],
  [refused(500, '… Bind for 127.0.0.1:8000 failed: port is already allocated'), 'port-taken', 'port 8000 of 127.0.0.1 is in use'],
  [
    refused(
      500,
      'OCI runtime create failed: … error setting rlimits for ready process: error setting rlimit type 8: operation not permitted: unknown',
    ),
    'ulimit-refused',
    'raise the limit memlock',
  ],
  [
    refused(400, 'invalid mount config for type "bind": bind source path does not exist: /data/no such'),
    'mount-source-missing',
    'there is no /data/no such on the host',
  ],
  [
    refused(400, '… starting container process caused: exec: "tritonserver": executable file not found in $PATH: unknown'),
    'image-without-server',
    'the image has no program tritonserver',
  ],
  [refused(404, 'network lab not found'), 'network-missing', 'no network lab'],
  [refused(404, 'No such image: nope:1'), 'image-missing', 'no image nope:1'],
  [refused(500, 'something new'), 'docker-refused', 'the Docker engine refuses: something new'],
])('%j is %s', (thrown, code, text) => {
  const error = engineError(thrown, SOCKET);
  expect(error.code).toBe(code);
  expect(error.message).toContain(text);
  expect(error.hint).toMatch(/\.$/);
});

test('what is no engine’s refusal keeps its words, and a LockstepError passes', () => {
  const own = new LockstepError('x', 'y');
  expect(engineError(own, SOCKET)).toBe(own);
  expect(formatError(engineError(new Error('odd'), SOCKET))).toBe('[internal] odd');
});

test('the socket is DOCKER_HOST, or the engine’s own; an engine of another host is refused without its password', () => {
  expect(engineSocket({})).toBe('/var/run/docker.sock');
  expect(engineSocket({ DOCKER_HOST: 'unix:///run/x.sock' })).toBe('/run/x.sock');
  expect(() => engineSocket({ DOCKER_HOST: 'ssh://me:secret@far' })).toThrow('[docker-host-unsupported] DOCKER_HOST is ssh://…@far');
});
