/** `lockstep help`, `lockstep help check`, `lockstep check --help`. */
import { COMMAND_NAMES, helpForFields } from '#core/config/index.ts';
import type { CommandName } from '#core/config/index.ts';
import { COMMANDS } from './command-table.ts';

export function helpOverview(): string {
  const rows = COMMAND_NAMES.map((name) => `  ${name.padEnd(11)} ${COMMANDS[name].summary}`);
  return [
    'Lockstep proves that a Triton + TensorRT-LLM deployment gives the same, right answer on every route.',
    '',
    'usage: lockstep <command> [flags]',
    '',
    ...rows,
    `  ${'help'.padEnd(11)} this text, or the flags of one command: lockstep help check`,
    `  ${'version'.padEnd(11)} the version of lockstep and of the Node that runs it`,
    '',
    'Each flag is also an environment variable and a field of lockstep.config.ts; a flag wins over the',
    'variable, the variable over the file, the file over the default.',
    '',
    'exit codes: 0 all claims hold · 1 a claim failed · 2 the run could not be made · 130 interrupted',
  ].join('\n');
}

export function helpFor(command: CommandName, columns: number): string {
  const { usage, summary, examples } = COMMANDS[command];
  const fields = helpForFields(command, Math.min(columns, 110));
  return [
    `usage: ${usage}`,
    '',
    `${summary[0]?.toUpperCase()}${summary.slice(1)}.`,
    '',
    ...(fields === '' ? [] : ['flags', fields, '']),
    'examples',
    ...examples.map((line) => `  ${line}`),
  ].join('\n');
}
