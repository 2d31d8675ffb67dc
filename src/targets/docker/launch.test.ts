import { expect, test } from 'vitest';
import { INNER, type ContainerParts, containerOptions, serverCommand } from './launch.ts';

const ID = `sha256:${'ab'.repeat(32)}`;
const PORTS = { http: 0, grpc: 0, metrics: 0, openai: 0 };
const parts: ContainerParts = {
  name: 'lockstep-0a1b2c',
  image: { reference: ID, id: ID, digests: [], labels: {}, env: {} },
  command: ['tritonserver'],
  mounts: { all: [{ source: '/data/my repo', target: '/models' }], tokenizer: undefined },
  settings: {
    image: ID,
    allowFloatingTag: false,
    repository: '/data/my repo',
    engineDir: undefined,
    tokenizer: undefined,
    gpus: undefined,
    shmSize: '1g',
    ulimits: [],
    env: [],
    user: undefined,
    network: undefined,
    serverArgs: [],
    frontend: 'kserve',
  },
  ulimits: ['memlock=-1', 'nofile=1024:4096'],
  gpus: 'none',
  env: ['NAME=value'],
  ports: PORTS,
  run: '1-aabbccddeeff',
  owner: '1:2:boot@host',
};

const base = {
  listen: INNER,
  onHostNetwork: false,
  models: ['ensemble', 'tensorrt_llm'],
  tokenizer: '/tokenizer',
  serverArgs: ['--log-verbose=1'],
};

test('tritonserver gets its repository, its own default ports, every model by name, and what the user adds last', () => {
  expect(serverCommand({ ...base, frontend: 'kserve' }).join(' ')).toBe(
    'tritonserver --model-repository=/models --http-port=8000 --grpc-port=8001 --metrics-port=8002 --exit-timeout-secs=5 ' +
      '--model-control-mode=explicit --load-model=ensemble --load-model=tensorrt_llm --log-verbose=1',
  );
});

test('on the network of the host it listens on loopback alone', () => {
  const listen = { http: 1, grpc: 2, metrics: 3, openai: 4 };
  expect(serverCommand({ ...base, listen, onHostNetwork: true, models: [], serverArgs: [], frontend: 'kserve' }).join(' ')).toBe(
    'tritonserver --model-repository=/models --http-address=127.0.0.1 --grpc-address=127.0.0.1 --metrics-address=127.0.0.1 ' +
      '--http-port=1 --grpc-port=2 --metrics-port=3 --exit-timeout-secs=5',
  );
});

// Flags of server/python/openai/openai_frontend/main.py, branch r25.12; it cannot run without a GPU image.
test("NVIDIA's OpenAI front end is started with its KServe front ends", () => {
  expect(serverCommand({ ...base, frontend: 'openai' }).join(' ')).toBe(
    'python3 /opt/tritonserver/python/openai/openai_frontend/main.py --model-repository=/models --tokenizer=/tokenizer ' +
      '--host=0.0.0.0 --openai-port=9000 --enable-kserve-frontends --kserve-http-port=8000 --kserve-grpc-port=8001 --log-verbose=1',
  );
});

test('the container is what docker run would make, with ports on loopback and labels from the beginning', () => {
  expect(containerOptions(parts)).toEqual({
    name: 'lockstep-0a1b2c',
    Image: ID,
    Cmd: ['tritonserver'],
    Env: ['NAME=value'],
    Labels: { 'lockstep.run': '1-aabbccddeeff', 'lockstep.owner': '1:2:boot@host' },
    ExposedPorts: { '8000/tcp': {}, '8001/tcp': {}, '8002/tcp': {} },
    HostConfig: {
      Mounts: [{ Type: 'bind', Source: '/data/my repo', Target: '/models', ReadOnly: true }],
      ShmSize: 2 ** 30,
      Ulimits: [
        { Name: 'memlock', Soft: -1, Hard: -1 },
        { Name: 'nofile', Soft: 1024, Hard: 4096 },
      ],
      DeviceRequests: [],
      PortBindings: {
        '8000/tcp': [{ HostIp: '127.0.0.1', HostPort: '0' }],
        '8001/tcp': [{ HostIp: '127.0.0.1', HostPort: '0' }],
        '8002/tcp': [{ HostIp: '127.0.0.1', HostPort: '0' }],
      },
    },
  });
});

test.each([
  ['all', [{ Driver: '', Capabilities: [['gpu']], Count: -1 }]],
  ['0,GPU-5ac1', [{ Driver: '', Capabilities: [['gpu']], DeviceIDs: ['0', 'GPU-5ac1'] }]],
])('--gpus %s asks for those, by count or by name and never both', (gpus, requests) => {
  expect(containerOptions({ ...parts, gpus }).HostConfig?.DeviceRequests).toEqual(requests);
});

test('with the OpenAI front end, on a network, as a user', () => {
  const settings = { ...parts.settings, frontend: 'openai' as const, network: 'host', user: '1000:1000' };
  const made = containerOptions({ ...parts, settings });
  expect(made).toMatchObject({ User: '1000:1000', HostConfig: { NetworkMode: 'host' } });
  expect(made).not.toHaveProperty('ExposedPorts');
  expect(made.HostConfig).not.toHaveProperty('PortBindings');
  const bridged = containerOptions({ ...parts, settings: { ...settings, network: 'lab' } });
  expect(Object.keys(bridged.HostConfig?.PortBindings as object)).toEqual(['8000/tcp', '8001/tcp', '9000/tcp']);
});
