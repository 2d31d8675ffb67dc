import { randomBytes } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import type { Endpoints, Health } from '#targets/types.ts';
import { grpcTarget } from '#wire/clients/index.ts';
import { GrpcInferenceClient, UNLIMITED_MESSAGES } from '#wire/protocol/service.ts';
import { askGrpc, askGrpcBytes, askStream } from './ask-grpc.ts';
import { askHttp } from './ask-http.ts';
import { type Facts, factsOf } from './facts.ts';
import { neutralFor } from './neutral.ts';
import { EDGE_PROBES, modelProbes, SERVER_PROBES, STOCK_PROBES } from './probes/index.ts';
import { BROKEN, NO_ANSWER, type Reply, reply } from './reply.ts';
import { showExchange } from './show.ts';
import type { Ask, ContractRecord, Exchange, Observation, Probe } from './types.ts';

export interface ObserveOptions {
  readonly endpoints: Endpoints;
  /** This run started the server, so its settings may be changed, and what some releases die of may be sent. */
  readonly owned: boolean;
  /** The server has the shared memory of this host. */
  readonly sharedMemory: boolean;
  readonly health: () => Promise<Health>;
  /** Ids to keep to; absent: every probe. */
  readonly only?: (probe: Probe) => boolean;
  readonly deadlineMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** A probe is answered in milliseconds; one that takes this long is not answered. */
const DEADLINE_MS = 3_000;
/** The first makes the rows and series that come with use, and is not compared. */
const ROUNDS = 3;
/** Answered no more by releases that hang: once is enough, and asked last. */
const ONCE = /^edge_fragile\//;
const REGION_BYTES = 64;
const NO_GRPC = reply('no gRPC address is known');

/**
 * Asks a target every probe several times and records the facts that stayed the same; what varies within one server is
 * kept apart, so that it can never look like a change between two. After an exchange without an answer the process behind it
 * is looked at: a dead server is a fact too, and ends the record.
 *
 * Errors: `unexpected-reply` where the models are not told; what the signal was aborted with. Never throws for what the server answered.
 */
export async function observeContract(options: ObserveOptions): Promise<ContractRecord> {
  const { endpoints, signal } = options;
  await using asker = new Asker(options);
  const version = await asker.version();
  const neutral = neutralFor({ version, addresses: [endpoints.grpc, endpoints.http, endpoints.metrics ?? ''] });
  const served = await asker.models();
  const all = [...SERVER_PROBES, ...STOCK_PROBES, ...served.flatMap(modelProbes), ...EDGE_PROBES].filter(options.only ?? (() => true));
  const skipped: { id: string; why: string }[] = [];
  const asked = all.filter((probe) => {
    const why = whyNot(probe, served, options);
    if (why !== undefined) skipped.push({ id: probe.id, why });
    return why === undefined;
  });
  using region = options.sharedMemory ? sharedRegion() : undefined;
  if (region !== undefined && served.includes('edge_echo')) await asker.ask(region.register);
  const rounds: Map<string, { readonly facts: Facts; readonly exchange: Exchange }>[] = [];
  let died: string | undefined;
  for (let round = 0; round < ROUNDS; round++) {
    const seen: (typeof rounds)[number] = new Map();
    rounds.push(seen);
    for (const probe of [
      ...asked.filter(({ id }) => !ONCE.test(id)),
      ...(round === ROUNDS - 1 ? asked.filter(({ id }) => ONCE.test(id)) : []),
    ]) {
      signal?.throwIfAborted();
      if (died !== undefined) break;
      const came = await asker.ask(probe.ask);
      const facts: Record<string, string> = { ...factsOf(probe.ask, probe.read, came, neutral) };
      if (came.status.startsWith(NO_ANSWER) || came.status.includes(BROKEN) || came.status === 'UNAVAILABLE') {
        const { alive, detail } = await options.health();
        if (!alive) {
          died = detail.split('\n')[0]!;
          facts['server'] = 'died';
        }
      }
      seen.set(probe.id, { facts, exchange: showExchange(probe.ask, came) });
    }
  }
  if (died !== undefined)
    for (const { id } of asked) if (!rounds.at(-1)!.has(id)) skipped.push({ id, why: `the server died before: ${died}` });
  return { observations: asked.flatMap((probe) => merged(probe, rounds.slice(1))), skipped };
}

function whyNot(probe: Probe, served: readonly string[], { owned, sharedMemory, endpoints }: ObserveOptions): string | undefined {
  if (probe.changes === true && !owned) return 'it changes the server, which this run did not start';
  if (probe.sharedMemory === true && !sharedMemory) return 'the server has not the shared memory of this host';
  if (probe.ask.via === 'metrics' && endpoints.metrics === undefined) return 'no metrics port is known';
  const lacks = probe.needs?.find((model) => !served.includes(model));
  return lacks === undefined ? undefined : `the target has no model ${lacks}`;
}

/** What was the same in every round is a fact; the rest varies. */
function merged(
  probe: Probe,
  rounds: readonly ReadonlyMap<string, { readonly facts: Facts; readonly exchange: Exchange }>[],
): Observation[] {
  const seen = rounds.flatMap((round) => round.get(probe.id) ?? []);
  const last = seen.at(-1);
  if (last === undefined) return [];
  const facts: Record<string, string> = {};
  const varying: Record<string, readonly [string, string]> = {};
  for (const name of new Set(seen.flatMap((one) => Object.keys(one.facts)))) {
    const values = seen.map((one) => one.facts[name] ?? 'absent');
    const other = values.find((value) => value !== values[0]);
    if (other === undefined) facts[name] = values[0]!;
    else varying[name] = [values[0]!, other];
  }
  return [{ id: probe.id, area: probe.area, exchange: last.exchange, facts, varying }];
}

/** The connections of one record. */
class Asker implements AsyncDisposable {
  readonly #options: ObserveOptions;
  readonly #client: InstanceType<typeof GrpcInferenceClient> | undefined;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(options: ObserveOptions) {
    const { grpc, access } = options.endpoints;
    this.#options = options;
    this.#headers = access?.headers ?? {};
    const target = grpc === '' ? undefined : grpcTarget(grpc, access);
    this.#client =
      target === undefined
        ? undefined
        : new GrpcInferenceClient(target.address, target.credentials, { ...UNLIMITED_MESSAGES, 'grpc.use_local_subchannel_pool': 1 });
  }

  async ask(ask: Ask): Promise<Reply> {
    const { endpoints, deadlineMs = DEADLINE_MS } = this.#options;
    const client = this.#client;
    switch (ask.via) {
      case 'http':
        return askHttp(endpoints.http, endpoints.access, ask, deadlineMs);
      case 'metrics':
        return askHttp(endpoints.metrics ?? '', endpoints.access, ask, deadlineMs);
      case 'grpc':
        return client === undefined ? NO_GRPC : askGrpc(client, this.#headers, ask, deadlineMs);
      case 'grpc-bytes':
        return client === undefined ? NO_GRPC : askGrpcBytes(client, this.#headers, ask, deadlineMs);
      case 'stream':
        return client === undefined ? NO_GRPC : askStream(client, this.#headers, ask, deadlineMs);
    }
  }

  async version(): Promise<string> {
    const { body } = await this.ask({ via: 'http', method: 'GET', path: '/v2' });
    return jsonOf<{ readonly version?: string }>(body)?.version ?? '';
  }

  /** Models that can be asked. */
  async models(): Promise<readonly string[]> {
    const { body } = await this.ask({ via: 'http', method: 'POST', path: '/v2/repository/index', body: '{"ready":true}' });
    const index = jsonOf<unknown>(body);
    if (!Array.isArray(index)) {
      throw new LockstepError('unexpected-reply', `the list of models was answered with ${body === '' ? 'nothing' : body.slice(0, 200)}`, {
        hint: 'Look whether the address is that of a Triton, and whether its repository API is restricted.',
      });
    }
    const states = index as readonly { readonly name: string; readonly state?: string }[];
    return [...new Set(states.filter(({ state }) => state === 'READY').map(({ name }) => name))].toSorted();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client?.close();
  }
}

function jsonOf<T>(text: string): T | undefined {
  try {
    return JSON.parse(text) as T;
  } catch {
    return undefined;
  }
}

/** A region of system shared memory under a name that the watchdog of this process sweeps. */
function sharedRegion(): { readonly register: Ask } & Disposable {
  const name = `lockstep_${process.pid}_${randomBytes(4).toString('hex')}_edge`;
  const path = join('/dev/shm', name);
  writeFileSync(path, Buffer.alloc(REGION_BYTES, 1));
  return {
    register: {
      via: 'http',
      method: 'POST',
      path: '/v2/systemsharedmemory/region/edge/register',
      body: JSON.stringify({ key: `/${name}`, offset: 0, byte_size: REGION_BYTES }),
    },
    [Symbol.dispose]: () => rmSync(path, { force: true }),
  };
}
