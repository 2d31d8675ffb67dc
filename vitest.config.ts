import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

const [major] = process.versions.node.split('.');
if (Number(major) < 24) {
  throw new Error(
    `Node ${process.versions.node} runs this, but 24 or newer is needed: start through npm (npm test) or npx, which put the packaged Node first.`,
  );
}

// Servers and commands are started many times; what Node compiled for the first serves the others.
process.env['NODE_COMPILE_CACHE'] ??= join(import.meta.dirname, '.cache/node');

export default defineConfig({
  test: {
    // Two cores are the machine this must be quick on; vitest would take one of them.
    maxWorkers: 2,
    reporters: ['./src/report/lockstep-reporter.ts'],
    globalSetup: ['./src/report/temporary-folder.ts'],
    projects: [
      {
        test: {
          name: 'unit',
          include: ['src/**/*.test.ts'],
          isolate: false,
          // Many of these wait for processes and deadlines; more workers than cores let the waits overlap.
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          testTimeout: 20_000,
          // What is waited for comes at once on a free machine; one that is busy is no finding.
          expect: { poll: { timeout: 10_000 } },
        },
      },
      {
        test: {
          name: 'suites',
          include: ['suites/**/*.test.ts'],
          exclude: [
            'suites/self/**',
            'suites/clients/**',
            'suites/docker/**',
            'suites/slurm/**',
            'suites/report/**',
            'suites/fixtures/**',
            'suites/upgrade/**',
            'suites/shrink/**',
          ],
          globalSetup: ['./src/report/global-setup.ts'],
          isolate: false,
          // One after another: several claims watch the server's gauges and need it to themselves.
          fileParallelism: false,
          sequence: { groupOrder: 2 },
          testTimeout: 60_000,
        },
      },
      {
        test: {
          // Only by its own command: it lays out gigabytes of Python packages.
          name: 'clients',
          include: ['suites/clients/**/*.test.ts'],
          globalSetup: ['./src/report/global-setup.ts'],
          isolate: false,
          // A file per environment that takes long to lay out, all of them at once.
          maxWorkers: 3,
          sequence: { groupOrder: 3 },
          testTimeout: 600_000,
        },
      },
      {
        test: {
          // Only by its own command: official clients, disks that fill and processes that are killed.
          name: 'fixtures',
          include: ['suites/fixtures/**/*.test.ts'],
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 4 },
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // What is written stands back behind all other work, which on a busy machine is a while.
          expect: { poll: { timeout: 30_000 } },
        },
      },
      {
        test: {
          // Only by its own command: it needs a Docker engine, and kills one.
          name: 'docker',
          include: ['suites/docker/**/*.test.ts'],
          isolate: false,
          // One after another: they look for what is left on the one engine.
          fileParallelism: false,
          sequence: { groupOrder: 4 },
          testTimeout: 60_000,
        },
      },
      {
        test: {
          // Only by its own command: it needs a Slurm, whose node it takes down.
          name: 'slurm',
          include: ['suites/slurm/**/*.test.ts'],
          isolate: false,
          // Most of it is waiting for jobs.
          maxWorkers: 3,
          sequence: { groupOrder: 4 },
          testTimeout: 60_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          // Only by its own command: it needs a Chromium.
          name: 'report',
          include: ['suites/report/**/*.test.ts'],
          isolate: false,
          fileParallelism: false,
          sequence: { groupOrder: 4 },
          testTimeout: 30_000,
        },
      },
      {
        test: {
          // Only by its own command: it starts real releases, pair by pair.
          name: 'upgrade',
          include: ['suites/upgrade/**/*.test.ts'],
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 4 },
          testTimeout: 300_000,
        },
      },
      {
        test: {
          // Only by its own command: it runs the scripts of bundles with an official client.
          name: 'shrink',
          include: ['suites/shrink/**/*.test.ts'],
          isolate: false,
          sequence: { groupOrder: 5 },
          testTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'self',
          include: ['suites/self/**/*.test.ts'],
          // Runs of many claims on servers that are not faulty are for `npm run test:faults` and its sample.
          exclude: process.env['LOCKSTEP_FAULTS'] ? [] : ['suites/self/{controls,core-releases,tiny-spm,trtllm-serve}.test.ts'],
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
          testTimeout: 60_000,
        },
      },
    ],
  },
});
