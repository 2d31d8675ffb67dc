import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { pollUntil, withDeadline } from '#core/deadline/index.ts';

/** `lockstep …` in a process group of its own, as a terminal starts it. */
export class Command {
  readonly child: ChildProcess;
  #output = '';
  readonly #ended: Promise<unknown>;

  constructor(args: readonly string[], options: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {}) {
    const { LOCKSTEP_RUN: _run, VITEST: _vitest, NODE_OPTIONS: _options, ...inherited } = process.env;
    const env = { ...inherited, NO_COLOR: '1', COLUMNS: '200', ...options.env };
    const main = join(PACKAGE_ROOT, 'src/cli/main.js');
    this.child = spawn(process.execPath, [main, ...args], {
      cwd: options.cwd ?? PACKAGE_ROOT,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => (this.#output += text));
    this.#ended = once(this.child, 'close');
  }

  get output(): string {
    return this.#output;
  }

  /** Both streams and the exit code. */
  async end(ms: number): Promise<{ readonly code: number | null; readonly output: string }> {
    await withDeadline({ ms, what: `${this.child.spawnargs.slice(2).join(' ')} to end` }, () => this.#ended);
    return { code: this.child.exitCode, output: this.#output };
  }

  /** Waits until it said so. */
  async says(text: string | RegExp, ms: number): Promise<void> {
    await pollUntil({ ms, everyMs: 20, what: `${String(text)} in: ${this.#output}` }, () =>
      (typeof text === 'string' ? this.#output.includes(text) : text.test(this.#output)) ? true : undefined,
    );
  }

  /** To every process of the command, as a terminal's Ctrl-C or a killed session. */
  signalGroup(signal: NodeJS.Signals): void {
    process.kill(-(this.child.pid ?? 0), signal);
  }
}
