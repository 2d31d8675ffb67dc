/** What a recorder adds to the time that messages take, against a forwarder that only forwards. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { sleep } from '#core/deadline/index.ts';
import { type Client, type ClientDuplexStream, credentials } from '@grpc/grpc-js';
import { LEANEST, serviceOf } from './bare-client.ts';
import { alternate, type Row } from './rounds.ts';

/** What a second has of 2,000 messages: an engine of a few dozen slots. */
const STREAMS = 16;
const ROUND_MS = 2000;
/** As paced-server.ts has it. */
const MESSAGES_PER_SECOND = 2000;
/** Connections and streams have settled. */
const SETTLE_MS = 300;

interface Process {
  readonly child: ChildProcess;
  readonly address: string;
}

async function start(file: string, ...args: readonly string[]): Promise<Process> {
  const child = spawn(process.execPath, [join(import.meta.dirname, file), ...args], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const [{ address }] = (await once(child, 'message')) as [{ address: string }];
  return { child, address };
}

export async function relayBench(): Promise<Row[]> {
  const server = await start('paced-server.ts');
  const plain = await start('forwarder.ts', 'plain', server.address);
  const recorded = await start('forwarder.ts', 'recorded', server.address);
  try {
    const medians: Record<'plain' | 'recorded', number[]> = { plain: [], recorded: [] };
    const round = (side: 'plain' | 'recorded', address: string) => async () => {
      const { p50, p99 } = await latencies(address);
      medians[side].push(p50);
      return p99;
    };
    const p99 = await alternate({ plain: round('plain', plain.address), recorded: round('recorded', recorded.address) });
    const rounds = p99.plain.length;
    const added = (of: Readonly<Record<'plain' | 'recorded', readonly number[]>>) => of.recorded.map((ms, i) => ms - of.plain[i]!);
    recorded.child.send('stop');
    const [{ written, cut, lost }] = (await once(recorded.child, 'message')) as [{ written: number; cut: number; lost: number }];
    if (written === 0 || cut + lost > 0) throw new Error(`${written} exchanges were recorded, ${cut} cut, ${lost} lost`);
    return [
      { measure: 'relay: p99 of 2,000 messages/s, recorded less plain forwarder', values: added(p99), unit: 'ms', goal: { atMost: 0.2 } },
      {
        measure: 'relay: median, recorded less plain forwarder',
        values: added({ plain: medians.plain.slice(-rounds), recorded: medians.recorded.slice(-rounds) }),
        unit: 'ms',
      },
      { measure: 'relay: p99, recorded', values: p99.recorded, unit: 'ms' },
      { measure: 'relay: p99, plain forwarder', values: p99.plain, unit: 'ms' },
    ];
  } finally {
    for (const { child } of [recorded, plain, server]) child.disconnect();
  }
}

/** Milliseconds from the server's hand to this client, over all messages of a round. */
async function latencies(address: string): Promise<{ readonly p50: number; readonly p99: number }> {
  const client = new (serviceOf(LEANEST))(address, credentials.createInsecure()) as unknown as Client & {
    ModelStreamInfer(): ClientDuplexStream<object, { readonly infer_response: { readonly id: string } }>;
  };
  const seen: number[] = [];
  const calls = Array.from({ length: STREAMS }, () => client.ModelStreamInfer());
  const ended = calls.map((call) => once(call, 'end'));
  const from = process.hrtime.bigint() + BigInt(SETTLE_MS * 1e6);
  const to = from + BigInt(ROUND_MS * 1e6);
  for (const call of calls) {
    call.on('data', ({ infer_response: { id } }) => {
      const sent = BigInt(id);
      if (sent >= from && sent < to) seen.push(Number(process.hrtime.bigint() - sent) / 1e6);
    });
    call.write({ model_name: 'tensorrt_llm', id: 'go' });
  }
  await sleep(SETTLE_MS + ROUND_MS);
  for (const call of calls) call.end();
  await Promise.all(ended);
  client.close();
  const expected = (ROUND_MS * MESSAGES_PER_SECOND) / 1000;
  if (Math.abs(seen.length - expected) > expected / 4)
    throw new Error(`${seen.length} messages were sent in a round, not ${expected}: no pace is kept here`);
  seen.sort((a, b) => a - b);
  return { p50: seen[seen.length >> 1]!, p99: seen[Math.floor(seen.length * 0.99)]! };
}
