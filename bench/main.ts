/** `npm run bench`: every measure in a process of its own, then one table. With names as arguments, only those. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism, loadavg } from 'node:os';
import { clientBench } from './client.ts';
import { engineBench } from './engine.ts';
import { goldensBench } from './goldens.ts';
import { lawsBench } from './laws.ts';
import { relayBench } from './relay.ts';
import { ROUNDS, type Row } from './rounds.ts';
import { serverBench } from './server.ts';
import { printTable } from './table.ts';

const BENCHES: Readonly<Record<string, () => Promise<Row[]> | Row[]>> = {
  client: clientBench,
  server: serverBench,
  engine: engineBench,
  goldens: goldensBench,
  laws: lawsBench,
  relay: relayBench,
};

if (process.send !== undefined) {
  process.send(await BENCHES[process.argv[2] as string]!());
  process.disconnect();
} else {
  const names = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(BENCHES);
  const unknown = names.filter((name) => !(name in BENCHES));
  if (unknown.length > 0) throw new Error(`no bench is called ${unknown.join(', ')}; there are ${Object.keys(BENCHES).join(', ')}`);
  const rows: Row[] = [];
  const loadBefore = load();
  for (const name of names) {
    console.error(`${name} …`);
    rows.push(...(await inOwnProcess(name)));
  }
  console.log(
    `Node ${process.versions.node}, ${availableParallelism()} cores, load ${loadBefore} before and ${load()} after; median of ${ROUNDS} rounds, lowest and highest beside it\n`,
  );
  console.log(printTable(rows));
}

/** Processes that wanted a core during the last minute, these included: above the number of cores, rates by the clock say little. */
function load(): string {
  return (loadavg()[0] as number).toFixed(1);
}

/** What one bench made of the heap and of the compiled code would reach the next. */
async function inOwnProcess(name: string): Promise<Row[]> {
  const child = spawn(process.execPath, [import.meta.filename, name], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const said: { rows?: Row[] } = {};
  child.on('message', (rows: Row[]) => (said.rows = rows));
  // Not `exit`, which a message may follow.
  const [code] = (await once(child, 'close')) as [number | null];
  if (said.rows === undefined) throw new Error(`the bench ${name} ended with code ${code} and no result`);
  return said.rows;
}
