/** Measures tokens per second of the engines: `node bench/engine.bench.ts`. */
import { cpuUsage } from 'node:process';
import { readFileSync } from 'node:fs';
import { nowNs } from '#core/clock/index.ts';
import { createLlamaEngine, createScriptedEngine, type Engine, type EngineRequest } from '#embedded/engine/index.ts';

const checkpoint = new URL('../docker/checkpoint/tiny', import.meta.url).pathname;
const oracle = JSON.parse(readFileSync(new URL('../docker/checkpoint/oracle/greedy.json', import.meta.url), 'utf8')) as {
  cases: { promptIds: number[] }[];
};

function request(promptIds: readonly number[], maxTokens: number): EngineRequest {
  return {
    id: '',
    promptIds: Int32Array.from(promptIds),
    maxTokens,
    endId: -1,
    minTokens: 0,
    stopWords: [],
    badWords: [],
    embeddingBias: undefined,
    sampling: {},
    wantLogProbs: false,
    wantLogits: false,
  };
}

function run(engine: Engine, work: EngineRequest): Promise<number> {
  let tokens = 0;
  return new Promise((resolve, reject) => {
    engine.submit(work, (step) => {
      tokens += step.ids.length;
      if (step.error !== undefined) reject(new Error(step.error));
      else if (step.finish !== undefined) resolve(tokens);
    });
  });
}

async function measure(
  label: string,
  engine: Engine,
  streams: number,
  requests: number,
  work: (i: number) => EngineRequest,
  count: (tokens: number, done: number) => number,
) {
  let next = 0;
  let tokens = 0;
  const startCpu = cpuUsage();
  const startNs = nowNs();
  await Promise.all(
    Array.from({ length: streams }, async () => {
      while (next < requests) {
        const got = await run(engine, work(next++));
        tokens += got;
      }
    }),
  );
  const seconds = (nowNs() - startNs) / 1e9;
  const cpu = cpuUsage(startCpu);
  const counted = count(tokens, requests);
  console.log(
    `${label}: ${Math.round(counted / seconds)} tokens/s, ${Math.round(counted / ((cpu.user + cpu.system) / 1e6))} per CPU second`,
  );
}

const prompts = oracle.cases.map((c) => c.promptIds);
for (const reduction of ['invariant', 'batch'] as const) {
  const llama = createLlamaEngine({ checkpoint, maxRequests: 8, reuse: false, reduction });
  const decode = (i: number) => request(prompts[i % prompts.length]!, 100);
  await measure(`${reduction}: warm-up`, llama, 1, 20, decode, (t) => t);
  for (const streams of [1, 4, 8]) await measure(`${reduction}: decode, ${streams} in flight`, llama, streams, 60, decode, (t) => t);
  const long = Array.from({ length: 400 }, (_, i) => 6 + ((i * 37) % 500));
  await measure(
    `${reduction}: prefill of 400`,
    llama,
    1,
    10,
    (i) => request([...long.slice(i), i], 1),
    (_, done) => done * 400,
  );
  await llama.close();
}
const scripted = createScriptedEngine({ maxRequests: 256, maxSeqLen: 4096 });
for (const streams of [1, 64, 256])
  await measure(
    `scripted, ${streams} in flight`,
    scripted,
    streams,
    2000,
    (i) => request([i], 500),
    (t) => t,
  );
await scripted.close();
