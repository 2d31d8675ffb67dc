/** A server in a container: how it starts, what it says of itself, how it ends, and why it does not start. */
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { pollUntil } from '#core/deadline/index.ts';
import { formatError, LockstepError } from '#core/errors/index.ts';
import { healthOf } from '#targets/alive.ts';
import { connectEngine, cpuImage, listServers, startDockerServer } from '#targets/docker/index.ts';
import { type Bench, openBench } from './bench.ts';
import { startRegistry } from './registry.ts';

let bench: Bench;
beforeAll(async () => void (bench = await openBench()), 300_000);
afterAll(() => bench[Symbol.dispose]());
afterEach(() => bench.leftNothing());

const failing = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable('it started'),
    (thrown: unknown) => LockstepError.from(thrown),
  );

describe('a server', { timeout: 60_000 }, () => {
  test('is started as the image is pinned, says what it is, and leaves nothing; no value of its environment is shown', async () => {
    const secret = 'hf_not-to-be-seen';
    const env = { ...process.env, HF_TOKEN: secret };
    await using server = await startDockerServer(
      bench.options({ env: ['HF_TOKEN', 'LEVEL=3'], user: '65534:65534', serverArgs: ['--log-verbose=0'] }, { env }),
    );
    const { Image, Config, HostConfig } = await bench.engine.docker.getContainer(server.id).inspect();
    expect(Image).toBe(bench.image);
    expect(Config).toMatchObject({ User: '65534:65534', Env: expect.arrayContaining([`HF_TOKEN=${secret}`, 'LEVEL=3']) });
    expect(HostConfig).toMatchObject({ ShmSize: 2 ** 30 });
    expect(server.identity).toMatchObject({
      triton: '2.51.0',
      image: bench.image,
      container: '24.10',
      environment: 'HF_TOKEN LEVEL',
      gpu: 'none',
    });
    expect(JSON.stringify([server.identity, server.logTail(), await server.processes()])).not.toContain(secret);
    expect(Object.values(server.endpoints).filter((value) => value !== undefined)).toEqual(
      [0, 1, 2].map(() => expect.stringMatching(/^127\.0\.0\.1:\d+$/)),
    );
    expect(await count(server.endpoints.http, 3)).toEqual([0, 1, 2]);
    expect(await server.health()).toEqual({ alive: true, detail: '' });
    expect(await listServers(bench.engine)).toMatchObject([{ name: server.name, owner: 'living', state: 'running' }]);
  });

  test('on the network of the host listens on loopback alone', async () => {
    await using server = await startDockerServer(bench.options({ network: 'host' }));
    expect(await count(server.endpoints.http, 2)).toEqual([0, 1]);
  });

  test('whose Python process dies is found dead, by whoever holds it and by whoever knows its processes', async () => {
    await using server = await startDockerServer(bench.options());
    const refs = await server.processes();
    expect(refs.map(({ name }) => name)).toEqual([`container ${server.name}`, 'Python stub of count']);
    process.kill(refs[1]?.pid ?? 0, 'SIGKILL');
    const found = await pollUntil({ ms: 5_000, everyMs: 20, what: 'the death to be found' }, async () => {
      const health = await server.health();
      return health.alive ? undefined : health;
    });
    expect(found.detail).toMatch(/^the Python process of count is dead while the server still calls the model READY\n/);
    expect((await healthOf(refs)).detail).toMatch(/^Python stub of count \(process \d+\) is dead\n/);
  });

  test('that runs out of memory in a Python process is found, though it says that it is ready', async () => {
    await using server = await startDockerServer(bench.options({}, { memoryBytes: 256 * 2 ** 20 }));
    void count(server.endpoints.http, -512).catch(() => []);
    const found = await pollUntil({ ms: 10_000, everyMs: 20, what: 'the death to be found' }, async () => {
      const health = await server.health();
      return health.alive || health.ending === true ? undefined : health;
    });
    expect(found.detail).toMatch(/killed because memory ran out \(event oom\)|ended with exit code 137, out of memory \(OOM\)/);
    expect((await fetch(`http://${server.endpoints.http}/v2/health/ready`)).status).toBe(200);
  });
});

describe('no server', { timeout: 60_000 }, () => {
  test('without an engine, or with one that this user may not use', async () => {
    const none = await failing(startDockerServer(bench.options({}, { env: { DOCKER_HOST: 'unix:///run/lockstep-none/docker.sock' } })));
    expect(none).toMatchObject({ code: 'docker-engine-missing', message: expect.stringContaining('/run/lockstep-none/docker.sock') });
    if (process.geteuid === undefined || process.seteuid === undefined || process.geteuid() !== 0) return;
    const me = process.geteuid();
    // By another name: connections that are open already may be used by anybody.
    const socket = join(bench.folder, 'docker.sock');
    symlinkSync(bench.engine.socket, socket);
    chmodSync(bench.folder, 0o755);
    process.seteuid(65_534);
    try {
      expect(await failing(connectEngine({ DOCKER_HOST: `unix://${socket}` }))).toMatchObject({
        code: 'docker-engine-forbidden',
        hint: expect.stringContaining('usermod -aG docker'),
      });
    } finally {
      process.seteuid(me);
    }
  });

  test('of an image that is not there, that floats, or that no registry gives', async () => {
    const id = `sha256:${'0'.repeat(64)}`;
    expect(await failing(startDockerServer(bench.options({ image: id })))).toMatchObject({
      code: 'image-missing',
      message: expect.stringContaining(id),
    });
    expect(await failing(startDockerServer(bench.options({ image: 'lockstep-triton-cpu:2.51.0' })))).toMatchObject({
      code: 'image-floating',
      hint: expect.stringContaining(`--image ${bench.image}`),
    });
    const image = `127.0.0.1:1/none@sha256:${'0'.repeat(64)}`;
    expect(await failing(startDockerServer(bench.options({ image })))).toMatchObject({
      code: 'image-pull-failed',
      message: expect.stringContaining('connection refused'),
    });
    await using server = await startDockerServer(bench.options({ image: 'lockstep-triton-cpu:2.51.0', allowFloatingTag: true }));
    expect(server.identity).toMatchObject({ image: 'lockstep-triton-cpu:2.51.0', 'image id': bench.image });
  });

  test('of an image that has none; it was pulled by its digest, with the login that docker login left, which is nowhere shown', async () => {
    const login = { user: 'somebody', password: 'not-to-be-seen' };
    await using registry = await startRegistry(login);
    const lines: string[] = [];
    const options = bench.options({ image: registry.reference }, { notice: (line) => lines.push(line) });
    const before = process.env['DOCKER_CONFIG'];
    process.env['DOCKER_CONFIG'] = join(bench.folder, 'login');
    mkdirSync(process.env['DOCKER_CONFIG']);
    const errors: LockstepError[] = [];
    try {
      errors.push(await failing(startDockerServer(options)));
      const auth = Buffer.from(`${login.user}:${login.password}`).toString('base64');
      writeFileSync(join(process.env['DOCKER_CONFIG'], 'config.json'), JSON.stringify({ auths: { [registry.host]: { auth } } }));
      errors.push(await failing(startDockerServer(options)));
    } finally {
      if (before === undefined) delete process.env['DOCKER_CONFIG'];
      else process.env['DOCKER_CONFIG'] = before;
    }
    expect(errors.map(({ code }) => code)).toEqual(['image-pull-failed', 'image-without-server']);
    expect(errors[0]?.hint).toContain('docker login');
    expect(lines).toEqual(expect.arrayContaining([`pulling ${registry.reference}`, `pulled ${registry.reference}`]));
    expect([...lines, ...errors.map(formatError)].join('\n')).not.toContain(login.password);
    await bench.engine.docker.getImage(registry.imageId).remove({ force: true });
  });

  test('with GPUs where there is no NVIDIA runtime', async () => {
    const error = await failing(startDockerServer(bench.options({ gpus: 'all' })));
    expect(error).toMatchObject({
      code: 'nvidia-runtime-missing',
      context: { engine: expect.stringContaining('could not select device driver') },
    });
  });

  test('on a port that is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const error = await failing(startDockerServer(bench.options({}, { ports: { http: port, grpc: 0, metrics: 0, openai: 0 } })));
    other.close();
    expect(error).toMatchObject({ code: 'port-taken', message: `[port-taken] port ${port} of 127.0.0.1 is in use by another program` });
  });

  test('on a network that publishes nothing, or that there is not', async () => {
    expect(await failing(startDockerServer(bench.options({ network: 'none' })))).toMatchObject({ code: 'ports-not-published' });
    expect(await failing(startDockerServer(bench.options({ network: 'lockstep-none' })))).toMatchObject({ code: 'network-missing' });
  });

  test('of a repository that is mistyped, empty, or whose model does not load, and nothing is made of the mistyped one', async () => {
    const mistyped = join(bench.folder, 'no such');
    expect(await failing(startDockerServer(bench.options({ repository: mistyped })))).toMatchObject({ code: 'mount-source-missing' });
    expect(existsSync(mistyped)).toBe(false);
    expect(await failing(startDockerServer(bench.options({ repository: bench.repository('empty', {}) })))).toMatchObject({
      code: 'repository-empty',
    });
    const bad = bench.repository('bad', { broken: 'import nope\n' });
    const error = await failing(startDockerServer(bench.options({ repository: bad })));
    expect(error.code).toBe('model-load-failed');
    expect(error.message).toMatch(
      /^\[model-load-failed\] the model broken did not load: Internal: ModuleNotFoundError: No module named 'nope'/,
    );
    expect(error.context['log']).toContain('error: creating server: ');
  });

  test('of an engine that another TensorRT-LLM built, before anything is started', async () => {
    const image = await cpuImage(bench.engine, { tensorrtLlm: '0.14.0', notice: () => {} });
    const engineDir = join(bench.folder, 'engine');
    mkdirSync(engineDir);
    writeFileSync(join(engineDir, 'config.json'), JSON.stringify({ version: '0.13.0', pretrained_config: { mapping: { world_size: 1 } } }));
    expect(await failing(startDockerServer(bench.options({ image, engineDir })))).toMatchObject({
      code: 'engine-version-differs',
      message: expect.stringContaining('was built by TensorRT-LLM 0.13.0, and the image has 0.14.0'),
    });
    writeFileSync(join(engineDir, 'config.json'), JSON.stringify({ version: '0.14.0', pretrained_config: { mapping: { world_size: 1 } } }));
    await using server = await startDockerServer(bench.options({ image, engineDir }));
    expect(server.identity).toMatchObject({ 'tensorrt-llm': '0.14.0', engine: expect.stringContaining('TensorRT-LLM 0.14.0') });
  });

  test('that does not take an argument, which is named; keys among the others are not', async () => {
    const serverArgs = ['--http-restricted-api=trace:key=not-to-be-seen', '--no-such-flag'];
    const error = await failing(startDockerServer(bench.options({ serverArgs })));
    expect(error).toMatchObject({
      code: 'server-argument-refused',
      message: "[server-argument-refused] the server does not take its arguments: tritonserver: unrecognized option '--no-such-flag'",
      context: { command: expect.stringMatching(/^tritonserver .* --http-restricted-api=… --no-such-flag$/) },
    });
    expect(formatError(error)).not.toContain('not-to-be-seen');
  });

  test('that ends before it is ready: its code and its last lines are told', async () => {
    // No model asks for it, and so nothing but its own end is there to tell.
    const error = await failing(
      startDockerServer(bench.options({ serverArgs: ['--cache-directory=/nowhere', '--cache-config=none,size=1'] })),
    );
    expect(error).toMatchObject({
      code: 'container-exited',
      message: '[container-exited] the container ended with exit code 1 before it was ready',
    });
    expect(error.context['log']).toContain('none');
  });

  test('with a limit that the engine may not set and that was asked for', async () => {
    const capabilities = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0';
    const mayRaise = (BigInt(`0x${capabilities}`) >> 24n) % 2n === 1n;
    const started = startDockerServer(bench.options({ ulimits: ['memlock=-1'] }));
    if (mayRaise) return (await started).stop();
    expect(await failing(started)).toMatchObject({ code: 'ulimit-refused', message: expect.stringContaining('the limit memlock') });
  });
});

/** What the model \`count\` answers, in order. */
async function count(http: string, n: number): Promise<number[]> {
  const reply = await fetch(`http://${http}/v2/models/count/generate_stream`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ N: [n] }),
  });
  return Array.from((await reply.text()).matchAll(/"I":(\d+)/g), (match) => Number(match[1]));
}
