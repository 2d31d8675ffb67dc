import { LogRing } from '../host/index.ts';
import type { Engine } from './engine.ts';
import { logFrames } from './log-frames.ts';

interface EngineEvent {
  readonly Action: string;
  readonly Actor?: { readonly Attributes?: Readonly<Record<string, string>> };
}

/**
 * Follows one container: its log, and how it ends. A wait on the engine never settles when the engine itself dies; the stream of
 * events ends then, so that is what is listened to.
 */
export class ContainerWatch implements AsyncDisposable {
  /** A server that refuses an argument explains all others, in many hundred lines. */
  readonly log = new LogRing(2_000);
  readonly #engine: Engine;
  readonly #id: string;
  readonly #abort = new AbortController();
  readonly #changed: () => void;
  #ended: string | undefined;
  #outOfMemory = false;
  #engineGone = false;

  /** `changed` is called after each burst of output and at every event. */
  constructor(engine: Engine, id: string, changed: () => void) {
    this.#engine = engine;
    this.#id = id;
    this.#changed = changed;
  }

  /** How the container ended, to complete "the container …"; undefined while it runs. */
  get ended(): string | undefined {
    return this.#ended;
  }

  /** The kernel killed a process of it for want of memory; the container itself may run on. */
  get outOfMemory(): boolean {
    return this.#outOfMemory;
  }

  get engineGone(): boolean {
    return this.#engineGone;
  }

  /** To be called before the container starts: then no event is missed. */
  async listen(): Promise<void> {
    const filters = JSON.stringify({ type: ['container'], container: [this.#id] });
    const stream = await this.#engine.docker.getEvents({ filters, abortSignal: this.#abort.signal });
    void this.#readEvents(stream as AsyncIterable<Buffer>);
  }

  /** To be called once the container has started. */
  async followLog(): Promise<void> {
    const stream = await this.#engine.docker
      .getContainer(this.#id)
      .logs({ follow: true, stdout: true, stderr: true, abortSignal: this.#abort.signal });
    void this.#readLog(stream as unknown as AsyncIterable<Buffer>);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
  }

  async #readEvents(stream: AsyncIterable<Buffer>): Promise<void> {
    let rest = '';
    try {
      for await (const chunk of stream) {
        const lines = (rest + chunk.toString('utf8')).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (line.trim() !== '') await this.#onEvent(JSON.parse(line) as EngineEvent);
      }
    } catch {
      // Aborted, or the connection broke: both end the stream.
    }
    if (this.#abort.signal.aborted) return;
    this.#engineGone = true;
    this.#ended ??= `is out of sight: the Docker engine at ${this.#engine.socket} went away`;
    this.#changed();
  }

  async #onEvent({ Action, Actor }: EngineEvent): Promise<void> {
    if (Action === 'oom') {
      this.#outOfMemory = true;
      this.#changed();
    }
    if (Action !== 'die') return;
    const code = Actor?.Attributes?.['exitCode'] ?? 'unknown';
    const state = await this.#engine.docker
      .getContainer(this.#id)
      .inspect()
      .then(
        ({ State }) => State,
        () => undefined,
      );
    this.#outOfMemory ||= state?.OOMKilled === true;
    this.#ended = `ended with exit code ${code}${this.#outOfMemory ? ', out of memory (OOM)' : signalOf(Number(code))}`;
    this.#changed();
  }

  async #readLog(stream: AsyncIterable<Buffer>): Promise<void> {
    const sinks = { stdout: this.log.sink(), stderr: this.log.sink() };
    try {
      for await (const frame of logFrames(stream)) {
        sinks[frame.stream](frame.data.toString('utf8'));
        this.#changed();
      }
    } catch {
      // The end of the container is told by the events.
    }
  }
}

/** Shells and engines report death by signal N as 128 + N. */
function signalOf(code: number): string {
  const names: Readonly<Record<number, string>> = { 134: 'SIGABRT', 135: 'SIGBUS', 137: 'SIGKILL', 139: 'SIGSEGV', 143: 'SIGTERM' };
  return names[code] === undefined ? '' : ` (${names[code]})`;
}
