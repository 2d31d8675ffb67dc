import { closeSync, existsSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { LogRing } from '../host/index.ts';
import { modelOfInstance } from '../tritonserver/index.ts';
import type { RankEnd } from './ending.ts';
import { FILES } from './job-script.ts';

/** What the node of the first rank says of itself. */
export interface NodeFacts {
  readonly node: string;
  readonly http: number;
  readonly grpc: number;
  readonly metrics: number;
  /** NVIDIA's container release, as `25.12`; '' where it is none. */
  readonly container: string;
  /** '' where there is none. */
  readonly tensorrtLlm: string;
  /** `name, driver version, UUID` each. */
  readonly gpus: readonly string[];
  /** Environment switches that are set there, as `NAME=value`. */
  readonly switches: readonly string[];
}

/** At once; more of a log comes with the next look. */
const CHUNK_BYTES = 1 << 20;

/** The folder that a job and its runner share, as rank.sh fills it. */
export class JobFolder {
  readonly path: string;
  readonly #decoder = new StringDecoder('utf8');
  #read = 0;

  constructor(path: string) {
    this.path = path;
  }

  /** Files that rank.sh wrote; whoever lists a folder makes a network file system look again. */
  names(): ReadonlySet<string> {
    try {
      return new Set(readdirSync(this.path));
    } catch {
      return new Set();
    }
  }

  node(): NodeFacts | undefined {
    const lines = this.#pairs('node');
    if (lines === undefined) return undefined;
    const all = (name: string) => lines.filter(([key]) => key === name).map(([, value]) => value);
    const one = (name: string) => all(name)[0] ?? '';
    return {
      node: one('node'),
      http: Number(one('http')),
      grpc: Number(one('grpc')),
      metrics: Number(one('metrics')),
      container: one('container'),
      tensorrtLlm: one('tensorrt_llm'),
      gpus: all('gpu'),
      switches: all('switch'),
    };
  }

  ended(): RankEnd | undefined {
    const lines = this.#pairs('ended');
    if (lines === undefined) return undefined;
    const { rank = '', code = '', stopped = '' } = Object.fromEntries(lines) as Readonly<Record<string, string>>;
    return { rank, code, stopped: stopped !== '' };
  }

  /** Models whose Python stub lives on the first rank; undefined before it was looked at. */
  stubModels(): ReadonlySet<string> | undefined {
    const text = this.#text('stubs');
    if (text === undefined) return undefined;
    return new Set(
      text
        .split('\n')
        .filter((line) => line !== '')
        .map(modelOfInstance),
    );
  }

  /** Hands what was added to the job's log to the sink. */
  followLog(sink: ReturnType<LogRing['sink']>): boolean {
    const path = join(this.path, FILES.log);
    if (!existsSync(path)) return false;
    const file = openSync(path, 'r');
    try {
      const length = Math.min(CHUNK_BYTES, fstatSync(file).size - this.#read);
      if (length <= 0) return false;
      const buffer = Buffer.alloc(length);
      const got = readSync(file, buffer, 0, length, this.#read);
      this.#read += got;
      sink(this.#decoder.write(buffer.subarray(0, got)));
      return got > 0;
    } finally {
      closeSync(file);
    }
  }

  #pairs(name: string): readonly (readonly [string, string])[] | undefined {
    const text = this.#text(name);
    return text
      ?.split('\n')
      .filter((line) => line.includes('='))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const);
  }

  #text(name: string): string | undefined {
    try {
      return readFileSync(join(this.path, name), 'utf8');
    } catch {
      return undefined;
    }
  }
}
