/**
 * `npm run test:docker`: target docker on a real engine. Finds an engine or starts one, builds the CPU image of two releases, runs the
 * whole suite on the first and a part of it on the second, and then what goes wrong with engines, images and containers.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { nowNs } from '#core/clock/index.ts';
import { LockstepError, formatError } from '#core/errors/index.ts';
import { type Engine, connectEngine, cpuImage } from '#targets/docker/index.ts';
import { OWN_SOCKET, startOwnEngine } from './own-engine.ts';

const RELEASES = ['2.51', '2.47'];
/** On the second release: what its answers are and what it counts, not how it words its errors. */
const PART = ['goldens', 'agreement', 'determinism/repeated', 'metrics'];
const VITEST = 'node_modules/vitest/vitest.mjs';

const say = (line: string) => void process.stdout.write(`${line}\n`);
const seconds = (sinceNs: number) => `${((nowNs() - sinceNs) / 1e9).toFixed(1)} s`;
const interrupt = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => interrupt.abort());

/** The engine that there is, or one of this project's own, which is stopped at the end. */
async function findEngine(): Promise<{ readonly engine: Engine; readonly own: boolean } & AsyncDisposable> {
  for (const env of [process.env, { DOCKER_HOST: `unix://${OWN_SOCKET}` }]) {
    try {
      return { engine: await connectEngine(env), own: false, [Symbol.asyncDispose]: async () => {} };
    } catch (thrown) {
      if (LockstepError.from(thrown).code !== 'docker-engine-missing') throw thrown;
    }
  }
  const started = await startOwnEngine();
  const engine = await connectEngine({ DOCKER_HOST: `unix://${started.socket}` });
  return { engine, own: true, [Symbol.asyncDispose]: () => started.stop() };
}

async function run(...args: readonly string[]): Promise<boolean> {
  if (interrupt.signal.aborted) return false;
  const child = spawn(process.execPath, args, { cwd: PACKAGE_ROOT, stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  return code === 0;
}

async function testDocker(): Promise<boolean> {
  const begunNs = nowNs();
  const held = new Map<string, boolean>();
  let own: boolean;
  {
    await using found = await findEngine();
    const { engine } = found;
    ({ own } = found);
    process.env['DOCKER_HOST'] = `unix://${engine.socket}`;
    const { Driver, CgroupVersion, ServerVersion } = (await engine.docker.info()) as Record<string, string>;
    say(`engine ${ServerVersion} at ${engine.socket}, ${Driver}, cgroup v${CgroupVersion}: ${seconds(begunNs)}`);
    for (const triton of RELEASES) {
      const imageNs = nowNs();
      const id = await cpuImage(engine, { triton, notice: say, signal: interrupt.signal });
      say(`image of tritonserver ${triton}: ${id}, ${seconds(imageNs)}`);
    }
    const [first = '', second = ''] = RELEASES;
    held.set(`the suite on ${first}`, await run('src/cli/main.js', 'check', '--target', 'docker', '--triton', first));
    held.set(`a part on ${second}`, await run('src/cli/main.js', 'check', '--target', 'docker', '--triton', second, ...PART));
    held.set('starts and ends', await run(VITEST, 'run', '--project', 'docker', 'suites/docker/start', 'suites/docker/trouble'));
  }
  // Nobody's engine but its own is killed.
  if (own) held.set('the death of an engine', await run(VITEST, 'run', '--project', 'docker', 'suites/docker/engine-death'));
  say(`\ndocker: ${[...held].map(([what, ok]) => `${what} ${ok ? 'held' : 'FAILED'}`).join(', ')}: ${seconds(begunNs)}`);
  return [...held.values()].every(Boolean);
}

try {
  process.exitCode = (await testDocker()) ? 0 : 1;
} catch (thrown) {
  process.stderr.write(`${formatError(LockstepError.from(thrown))}\n`);
  process.exitCode = interrupt.signal.aborted ? 130 : 2;
}
