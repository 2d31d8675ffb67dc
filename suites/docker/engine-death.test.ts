/** An engine that dies under a run. It is this file's own, and so it runs where no other engine does (suites/docker/main.ts). */
import { readFileSync, readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { connectEngine, cpuImage, startDockerServer } from '#targets/docker/index.ts';
import { openBench } from './bench.ts';
import { Command } from './command.ts';
import { startOwnEngine } from './own-engine.ts';

test('an engine that dies in the middle of a run is named; the container that it leaves goes with the next start', async () => {
  let own = await startOwnEngine();
  try {
    process.env['DOCKER_HOST'] = `unix://${own.socket}`;
    await cpuImage(await connectEngine(process.env), { notice: () => {} });
    const command = new Command(['check', '--target', 'docker', 'determinism', 'goldens']);
    await command.says('✓ determinism', 60_000);
    await own.kill();
    const { code, output } = await command.end(60_000);
    expect(output.replaceAll(/\s+/g, ' ')).toMatch(
      /container lockstep-[0-9a-f]{6} \(process \d+\) is out of sight: the Docker engine at \S+ went away/,
    );
    expect(code).toBe(1);
    own = await startOwnEngine();
    using bench = await openBench();
    const lines: string[] = [];
    const server = await startDockerServer(bench.options({}, { notice: (line) => lines.push(line) }));
    expect(lines).toContain('removed 1 container that a killed run left');
    await server.stop();
    expect(await bench.left()).toEqual([]);
  } finally {
    await own.stop();
  }
  expect(servers()).toEqual([]);
}, 120_000);

/** Command lines of servers in containers, which this host sees. */
function servers(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(commandLine)
    .filter((line) => line.startsWith('tritonserver --model-repository=/models'));
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
