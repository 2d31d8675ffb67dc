import { wallClock } from '#core/clock/index.ts';
import type { OpenExchange } from '../decode/types.ts';
import { fixtureFileName } from '../file-name.ts';
import { Redactor } from '../redact.ts';
import type { FixtureEvent, FixtureProtocol } from '../types.ts';
import { FixtureWriter } from '../write.ts';

export interface ExchangeFileOptions {
  readonly folder: string;
  /** Tells files of one recording apart, and is their order. */
  readonly number: number;
  readonly protocol: FixtureProtocol;
  readonly server: string;
  readonly onOver: (file: ExchangeFile) => void;
  readonly onError: (thrown: unknown) => void;
}

/** One exchange on its way into a file: times from its own beginning, secrets left out. */
export class ExchangeFile implements OpenExchange {
  readonly protocol: FixtureProtocol;
  readonly #options: ExchangeFileOptions;
  readonly #redactor = new Redactor();
  #writer: FixtureWriter | undefined;
  #startNs = 0;
  #failed = false;

  constructor(options: ExchangeFileOptions) {
    this.#options = options;
    this.protocol = options.protocol;
  }

  add(event: FixtureEvent): void {
    this.#try(() => {
      if (this.#writer === undefined) {
        this.#startNs = event.atNs;
        this.#writer = this.#open(event);
      }
      this.#writer.append(this.#redactor.event({ ...event, atNs: Math.max(0, Math.round(event.atNs - this.#startNs)) }));
    });
  }

  over(): void {
    this.#options.onOver(this);
  }

  flush(): void {
    this.#try(() => this.#writer?.flush());
  }

  /** Gives the path of the finished file; undefined when there is none. */
  async finish(): Promise<string | undefined> {
    if (this.#failed) return undefined;
    try {
      return await this.#writer?.finish();
    } catch (thrown) {
      this.#options.onError(thrown);
      return undefined;
    }
  }

  /** It does not end any more. Gives the path of what there is of it. */
  leave(): string | undefined {
    if (this.#failed || this.#writer === undefined) return undefined;
    this.#try(() => this.#writer?.leave());
    return this.#writer.partPath;
  }

  #open(event: FixtureEvent): FixtureWriter {
    const { folder, number, protocol, server } = this.#options;
    const name = fixtureFileName(String(number).padStart(4, '0'), protocol, event.kind === 'request' ? shortPath(event.path) : '');
    return new FixtureWriter(folder, name, { protocol, recorded: { at: wallClock(), by: 'relay', server } });
  }

  /** One that cannot be written is told of once. */
  #try(work: () => void): void {
    if (this.#failed) return;
    try {
      work();
    } catch (thrown) {
      this.#failed = true;
      this.#options.onError(thrown);
    }
  }
}

/** `/inference.GRPCInferenceService/ModelInfer` → `ModelInfer`; `/v2/models/m/generate?x` → `models-m-generate`. */
function shortPath(path: string): string {
  return path.replace(/[?#].*$/s, '').replace(/^\/(?:inference\.GRPCInferenceService|v[12])\//, '');
}
