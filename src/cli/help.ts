/** `lockstep help`, `lockstep help check`, `lockstep check --help`. */
import { COMMAND_NAMES, helpForFields, wrap } from '#core/config/index.ts';
import type { CommandName } from '#core/config/index.ts';
import { COMMANDS } from './command-table.ts';

/** Columns of a command's name, before what it does. */
const NAME_WIDTH = 14;

export function helpOverview(terminalColumns: number): string {
  const columns = Math.min(terminalColumns, 110);
  const row = (name: string, says: string) =>
    wrap(says, columns - NAME_WIDTH).map((line, index) => (index === 0 ? `  ${name}` : '').padEnd(NAME_WIDTH) + line);
  return [
    ...wrap('Lockstep proves that a Triton + TensorRT-LLM deployment gives the same, right answer on every route.', columns),
    '',
    'usage: lockstep <command> [flags]',
    '',
    ...COMMAND_NAMES.flatMap((name) => row(name, COMMANDS[name].summary)),
    ...row('help', 'this text, or the flags of one command: lockstep help check'),
    ...row('version', 'the version of lockstep and of the Node that runs it'),
    '',
    ...wrap(
      'Each flag is also an environment variable and a field of lockstep.config.ts; a flag wins over the variable, the variable over the file, the file over the default.',
      columns,
    ),
    '',
    ...wrap('exit codes: 0 all claims hold · 1 a claim failed · 2 the run could not be made · 130 interrupted', columns),
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
    ...(fields === '' ? [] : [fields, '']),
    'examples',
    ...examples.map((line) => `  ${line}`),
  ].join('\n');
}
