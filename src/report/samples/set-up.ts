/** A global set-up as the suites have one, without a server behind it. */
import type { TestProject } from 'vitest/node';
import type { ProvidedRun } from '../provided.ts';

export const SAMPLE_RUN: ProvidedRun = {
  header: {
    target: 'embedded',
    endpoints: { grpc: '127.0.0.1:40001', http: '127.0.0.1:40000', metrics: '127.0.0.1:40002', openai: 'http://127.0.0.1:40003' },
    identity: {
      server: 'lockstep-embedded',
      triton: '2.51.0',
      models: '1.x',
      checkpoint: '9f2c61d0a1b4',
      tokenizer: 'b7851867e150',
      gpu: 'unknown',
      image: 'unknown',
    },
    profile: 'default',
    seed: 1,
    faults: ['stream-drops-token'],
    goldens: 'goldens/tiny',
  },
  config: {
    target: 'embedded',
    grpc: undefined,
    http: undefined,
    metrics: undefined,
    openai: undefined,
    replicas: [],
    access: { tlsCa: undefined, tlsCert: undefined, tlsKey: undefined, bearerTokenFile: undefined, headers: [] },
    checkpoint: undefined,
    repository: undefined,
    tokenizer: '/tiny',
    goldens: '/goldens',
    prompts: undefined,
    profile: 'default',
    faults: ['stream-drops-token'],
    triton: undefined,
    worldSize: 1,
    lockGpuClocks: undefined,
    docker: undefined,
    slurm: undefined,
    seed: 1,
    only: undefined,
    policy: 'exact',
    strictIdentity: false,
    dangerous: true,
    json: undefined,
    junit: undefined,
    html: undefined,
  },
  endpoints: { grpc: '127.0.0.1:40001', http: '127.0.0.1:40000', metrics: '127.0.0.1:40002', openai: 'http://127.0.0.1:40003' },
  processes: [],
  identityDifferences: [{ key: 'triton', golden: '2.48.0', target: '2.51.0' }],
};

export default function setUp(project: TestProject): void {
  project.provide('lockstep', SAMPLE_RUN);
}
