/** Arguments → exit code. */
import { COMMAND_NAMES, nearest, parseFlags } from '#core/config/index.ts';
import type { CommandName } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { CommandContext } from './command.ts';
import { COMMANDS } from './command-table.ts';
import { EXIT } from './exit-codes.ts';
import { helpFor, helpOverview } from './help.ts';
import { versionLine } from './version.ts';

/** Commands without flags, which the overview says all about. */
const ABOUT_ITSELF: readonly string[] = ['help', 'version'];

/** Commands that would not look at any other word. */
const FLAGS_ONLY: readonly CommandName[] = ['serve', 'start', 'ps', 'record', 'doctor'];

export async function run(args: readonly string[], context: Omit<CommandContext, 'flags'>): Promise<number> {
  const { terminal } = context;
  const [word, ...rest] = args;
  if (word === undefined || word === '--help' || word === '-h') {
    terminal.out(helpOverview(terminal.columns));
    return word === undefined ? EXIT.impossible : EXIT.held;
  }
  if (word === 'help') {
    const [topic] = rest;
    const ofItself = topic === undefined || ABOUT_ITSELF.includes(topic);
    terminal.out(ofItself ? helpOverview(terminal.columns) : helpFor(commandOf(topic), terminal.columns));
    return EXIT.held;
  }
  if (word === 'version' || word === '--version' || word === '-v') {
    terminal.out(versionLine());
    return EXIT.held;
  }
  const name = commandOf(word);
  const flags = parseFlags(name, rest);
  if (flags.help) {
    terminal.out(helpFor(name, terminal.columns));
    return EXIT.held;
  }
  const [extra] = flags.positionals;
  if (extra !== undefined && FLAGS_ONLY.includes(name)) {
    throw new LockstepError('action-unknown', `${name} takes no ${extra}`, {
      hint: `It takes flags alone: \`lockstep ${name} --help\` lists them.`,
    });
  }
  const command = await COMMANDS[name].load();
  return command({ ...context, flags });
}

function commandOf(word: string): CommandName {
  const found = COMMAND_NAMES.find((name) => name === word);
  if (found !== undefined) return found;
  const all = [...COMMAND_NAMES, ...ABOUT_ITSELF];
  const meant = nearest(word, all);
  throw new LockstepError('command-unknown', `there is no command ${word}`, {
    hint: meant === undefined ? `Commands are: ${all.join(', ')}.` : `Did you mean ${meant}?`,
  });
}
