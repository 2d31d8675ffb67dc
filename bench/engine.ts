/** Tokens per second of the tiny model: the engine alone, and through the server. */
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import { ROUTES } from '#checks/routes/index.ts';
import { createLlamaEngine, createScriptedEngine, type Engine, type EngineRequest } from '#embedded/engine/index.ts';
import { ORACLE, makeRequest } from '#embedded/engine/testing.ts';
import { connect } from '#wire/clients/index.ts';
import { processCpuUs } from './process-cpu.ts';
import { ROUNDS, alternate, rates, type Row } from './rounds.ts';
import { inLanes, contextOf, startServer, streamCase } from './server-under-load.ts';

const TOKENS = 100;
const REQUESTS = 40;
const ONE_STREAM = { atLeast: 2000 };
const EIGHT_STREAMS = { atLeast: 4000 };

export async function engineBench(): Promise<Row[]> {
  return [...(await llamaAlone()), ...(await throughServer()), ...(await scripted())];
}

async function llamaAlone(): Promise<Row[]> {
  const prompts = ORACLE.map((c) => c.promptIds);
  const engines = {
    invariant: createLlamaEngine({ checkpoint: TINY_CHECKPOINT, maxRequests: 8, reuse: false, reduction: 'invariant' }),
    batch: createLlamaEngine({ checkpoint: TINY_CHECKPOINT, maxRequests: 8, reuse: false, reduction: 'batch' }),
  };
  const decode = (engine: Engine, lanes: number, requests: number) =>
    sides(() => inLanes(lanes, requests, (i) => answer(engine, requestOf(prompts[i % prompts.length]!, TOKENS))));
  const long = Array.from({ length: 400 }, (_, i) => 6 + ((i * 37) % 500));
  const prefill = sides(() =>
    inLanes(1, 10, async (i) => 400 * (await answer(engines.invariant, requestOf([...long.slice(1), 6 + i], 1)))),
  );
  const one = decode(engines.invariant, 1, REQUESTS);
  const eight = decode(engines.invariant, 8, REQUESTS);
  const eightRounded = decode(engines.batch, 8, REQUESTS / 4);
  await alternate({ one: one.run, eight: eight.run, prefill: prefill.run, eightRounded: eightRounded.run });
  await Promise.all(Object.values(engines).map((engine) => engine.close()));
  return [
    { measure: 'tiny model, engine, 1 in flight, per second of one core', values: one.perCpuSecond(), unit: 'tokens/s', goal: ONE_STREAM },
    {
      measure: 'tiny model, engine, 8 in flight, per second of one core',
      values: eight.perCpuSecond(),
      unit: 'tokens/s',
      goal: EIGHT_STREAMS,
    },
    { measure: 'tiny model, engine, 1 in flight, by the clock', values: one.perSecond(), unit: 'tokens/s', goal: ONE_STREAM },
    { measure: 'tiny model, engine, 8 in flight, by the clock', values: eight.perSecond(), unit: 'tokens/s', goal: EIGHT_STREAMS },
    { measure: 'tiny model, engine, prefill of 400, per second of one core', values: prefill.perCpuSecond(), unit: 'tokens/s' },
    {
      measure: 'tiny model, engine, 8 in flight, reduction batch, per second of one core',
      values: eightRounded.perCpuSecond(),
      unit: 'tokens/s',
    },
  ];
}

/** Streams of the route `raw`; the server runs four sequences at a time, its clients in this process. */
async function throughServer(): Promise<Row[]> {
  await using target = await startServer('llama');
  await using clients = connect(target.endpoints);
  const context = contextOf(clients);
  const pid = (await target.processes())[0]?.pid as number;
  const stream = (lanes: number) =>
    sides(
      () =>
        inLanes(
          lanes,
          REQUESTS,
          async (i) => (await ROUTES.raw.run(streamCase(i % 8, TOKENS), context, { deadlineMs: 60_000 })).ids.length,
        ),
      () => processCpuUs(pid),
    );
  const one = stream(1);
  const eight = stream(8);
  await alternate({ one: one.run, eight: eight.run });
  return [
    {
      measure: 'tiny model, through the server, 1 in flight, per CPU second of the server',
      values: one.perCpuSecond(),
      unit: 'tokens/s',
      goal: ONE_STREAM,
    },
    {
      measure: 'tiny model, through the server, 8 in flight, per CPU second of the server',
      values: eight.perCpuSecond(),
      unit: 'tokens/s',
      goal: EIGHT_STREAMS,
    },
    { measure: 'tiny model, through the server, 1 in flight, by the clock', values: one.perSecond(), unit: 'tokens/s', goal: ONE_STREAM },
    {
      measure: 'tiny model, through the server, 8 in flight, by the clock',
      values: eight.perSecond(),
      unit: 'tokens/s',
      goal: EIGHT_STREAMS,
    },
  ];
}

async function scripted(): Promise<Row[]> {
  const engine = createScriptedEngine({ maxRequests: 64, maxSeqLen: 4096 });
  const many = sides(() => inLanes(64, 4000, (i) => answer(engine, requestOf([i], 500))));
  await alternate({ many: many.run });
  await engine.close();
  return [{ measure: 'scripted engine, 64 in flight, per second of one core', values: many.perCpuSecond(), unit: 'tokens/s' }];
}

/** Keeps both rates of every round. `cpuUs`: another process than this one. */
function sides(work: () => Promise<number>, cpuUs?: () => number) {
  const kept: { perSecond: number; perCpuSecond: number }[] = [];
  return {
    run: async () => {
      let count = 0;
      const before = cpuUs?.() ?? 0;
      const rate = await rates(async () => (count = await work()));
      kept.push(cpuUs === undefined ? rate : { perSecond: rate.perSecond, perCpuSecond: (count * 1e6) / (cpuUs() - before) });
      return rate.perSecond;
    },
    perSecond: () => kept.slice(-ROUNDS).map((k) => k.perSecond),
    perCpuSecond: () => kept.slice(-ROUNDS).map((k) => k.perCpuSecond),
  };
}

/** Of a full length: EOS does not end it. */
function requestOf(promptIds: readonly number[], maxTokens: number): EngineRequest {
  return makeRequest(promptIds, { maxTokens, endId: -1 });
}

function answer(engine: Engine, request: EngineRequest): Promise<number> {
  let tokens = 0;
  return new Promise((resolve, reject) => {
    engine.submit(request, (step) => {
      tokens += step.ids.length;
      if (step.error !== undefined) reject(new Error(step.error));
      else if (step.finish !== undefined) resolve(tokens);
    });
  });
}
