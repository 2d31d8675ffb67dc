import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type RunConfig, resolveSettings, TINY_CHECKPOINT, toRunConfig } from '#core/config/index.ts';
import { connectReplicas, startTarget, type Target } from '#targets/index.ts';
import { assertReplicasAlike } from '#checks/replicas/index.ts';

/** Five servers as processes: the second and the last have a fault, which they do not tell. */
const FAULT = ['batch-gt1-wrong-concurrent-equal'];
const FAULTS = [[], FAULT, [], [], FAULT];

describe.skipIf(process.env['LOCKSTEP_REAL'] !== '1')('replicas', { timeout: 60_000 }, () => {
  let servers: readonly Target[];

  beforeAll(async () => {
    servers = await Promise.all(
      FAULTS.map(async (fault) =>
        startTarget(toRunConfig(await resolveSettings({ command: 'check', env: { LOCKSTEP_FAULT: fault.join(',') }, cwd: '/' }), '/')),
      ),
    );
  }, 60_000);
  afterAll(async () => void (await Promise.all(servers.map((server) => server.stop()))));

  async function compare(which: readonly number[], goldens?: string, connected = () => {}) {
    const all = (kind: 'grpc' | 'http') => which.map((i) => servers[i]?.endpoints[kind]).join('|');
    const env = {
      LOCKSTEP_TARGET: 'external',
      LOCKSTEP_GRPC: all('grpc'),
      LOCKSTEP_HTTP: all('http'),
      LOCKSTEP_TOKENIZER: TINY_CHECKPOINT,
      ...(goldens === undefined ? {} : { LOCKSTEP_GOLDENS: goldens }),
    };
    const config: RunConfig = toRunConfig(await resolveSettings({ command: 'check', env, cwd: '/' }), '/');
    const connectedTo = [await startTarget(config), ...(await connectReplicas(config))];
    connected();
    return assertReplicasAlike(config, connectedTo);
  }
  const address = (i: number) => servers[i]?.endpoints.grpc as string;

  test('that are alike say so, with how many answers', async () => {
    expect(await compare([0, 2])).toEqual({ addresses: [address(0), address(2)], answers: 64 });
  });

  test('the broken one is named by the goldens, wherever it stands', async () => {
    const named = new RegExp(`^\\[replicas-differ\\] ${address(1)} differs in \\d+ of 64 answers \\(by the accepted answers\\)`);
    await expect(compare([0, 1])).rejects.toThrow(named);
    await expect(compare([1, 0])).rejects.toThrow(named);
  });

  test('of several broken ones each is named', async () => {
    const named = new RegExp(`^\\[replicas-differ\\] ${address(1)} and ${address(4)} differ in \\d+ of 64 answers`);
    await expect(compare([0, 1, 4, 2])).rejects.toThrow(named);
    await expect(compare([0, 1, 2, 4, 3], '/nowhere')).rejects.toThrow(named);
  });

  test('one that dies while they are compared is named, wherever it stands', async () => {
    const [died] = (await servers[3]?.processes()) ?? [];
    const comparing = compare([0, 3], undefined, () => setTimeout(() => process.kill(died?.pid as number, 'SIGKILL'), 300));
    await expect(comparing).rejects.toThrow(`[replica-lost] ${address(3)} stopped answering while the replicas were compared`);
  });

  test('without goldens it is named by the majority, and of two nobody is', async () => {
    await expect(compare([1, 0, 2], '/nowhere')).rejects.toThrow(`[replicas-differ] ${address(1)} differs in`);
    await expect(compare([0, 1], '/nowhere')).rejects.toThrow(/nobody can tell without goldens/);
  });
});
