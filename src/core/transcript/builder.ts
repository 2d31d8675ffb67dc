import type { Case } from '../request/index.ts';
import { nowNs } from '../clock/index.ts';
import { type Ending, FLAG, type Revision, type Transcript, type TranscriptError, type Usage } from './transcript.ts';

/** Collects one exchange as it arrives. Appending is cheap: this runs once per message of a load test. */
export class TranscriptBuilder {
  readonly #case: Case;
  readonly #startNs: number;
  #promptIds: Int32Array | undefined;
  #promptText: string | undefined;
  #n = 0;
  #atNs = new Float64Array(32);
  #flags = new Uint8Array(32);
  #idEnd = new Int32Array(32);
  #textEnd = new Int32Array(32);
  #ids = new Int32Array(32);
  #idCount = 0;
  #texts: string[] = [];
  #textLength = 0;
  #revisions: Revision[] = [];
  #logProbs: number[] = [];
  #cumLogProb: number | undefined;
  #margins: number[] = [];
  #winners: number[] = [];
  #runnerUps: number[] = [];
  #finishReasons: { event: number; reason: string }[] = [];
  #usage: Usage | undefined;
  #sequenceLengths: number[] = [];
  #errors: TranscriptError[] = [];
  #foreignIds: string[] = [];
  #objects: string[] = [];

  constructor(c: Case, prompt: { readonly ids?: Int32Array; readonly text?: string } = {}) {
    this.#case = c;
    this.#promptIds = prompt.ids;
    this.#promptText = prompt.text;
    this.#startNs = nowNs();
  }

  /** Events so far; the index of the event being built is `events - 1` after `event()`. */
  get events(): number {
    return this.#n;
  }

  get idCount(): number {
    return this.#idCount;
  }

  /** Opens the next row; what is added afterwards belongs to it. */
  event(flags: number): void {
    if (this.#n === this.#flags.length) this.#growRows();
    const i = this.#n++;
    this.#atNs[i] = nowNs() - this.#startNs;
    this.#flags[i] = flags;
    this.#idEnd[i] = this.#idCount;
    this.#textEnd[i] = this.#textLength;
  }

  addFlag(flag: number): void {
    this.#flags[this.#n - 1] = (this.#flags[this.#n - 1] as number) | flag;
  }

  id(id: number): void {
    if (this.#idCount === this.#ids.length) this.#ids = grown(this.#ids, Int32Array);
    this.#ids[this.#idCount++] = id;
    this.#idEnd[this.#n - 1] = this.#idCount;
  }

  text(text: string): void {
    this.#texts.push(text);
    this.#textLength += text.length;
    this.#textEnd[this.#n - 1] = this.#textLength;
  }

  /** The whole text so far, as servers send it that do not send what is new. */
  textSoFar(text: string): void {
    const before = this.#texts.join('');
    const kept = text.startsWith(before) ? before.length : commonStart(before, text);
    if (kept < before.length) {
      this.#revisions.push({ event: this.#n - 1, kept, dropped: before.slice(kept) });
      for (let i = this.#n - 2; i >= 0 && (this.#textEnd[i] as number) > kept; i--) this.#textEnd[i] = kept;
    }
    this.#texts = [text];
    this.#textLength = text.length;
    this.#textEnd[this.#n - 1] = this.#textLength;
  }

  logProb(value: number): void {
    this.#logProbs.push(value);
  }

  cumLogProb(value: number): void {
    this.#cumLogProb = value;
  }

  /** One sampled step: how far the winner was ahead, who that was, and who came second. */
  margin(value: number, winner: number, runnerUp: number): void {
    this.#margins.push(value);
    this.#winners.push(winner);
    this.#runnerUps.push(runnerUp);
  }

  sequenceLength(value: number): void {
    this.#sequenceLengths.push(value);
  }

  finishReason(reason: string): void {
    this.addFlag(FLAG.finish);
    this.#finishReasons.push({ event: this.#n - 1, reason });
  }

  usage(usage: Usage): void {
    if (this.#n > 0) this.addFlag(FLAG.usage);
    this.#usage = usage;
  }

  /** An error inside the stream (the current event) or, with `instead`, in place of events. */
  error(code: string, message: string, where: 'event' | 'instead' = 'event'): void {
    if (where === 'event' && this.#n > 0) this.addFlag(FLAG.error);
    this.#errors.push({ event: where === 'event' ? this.#n - 1 : -1, code, message });
  }

  object(kind: string): void {
    if (!this.#objects.includes(kind)) this.#objects.push(kind);
  }

  foreignId(id: string): void {
    this.#foreignIds.push(id);
  }

  seal(ending: Ending): Transcript {
    const n = this.#n;
    return {
      case: this.#case,
      promptIds: this.#promptIds,
      promptText: this.#promptText,
      events: n,
      atNs: this.#atNs.slice(0, n),
      flags: this.#flags.slice(0, n),
      idEnd: this.#idEnd.slice(0, n),
      textEnd: this.#textEnd.slice(0, n),
      ids: this.#ids.slice(0, this.#idCount),
      text: this.#texts.join(''),
      revisions: this.#revisions,
      logProbs: Float32Array.from(this.#logProbs),
      cumLogProb: this.#cumLogProb,
      margins: Float64Array.from(this.#margins),
      winners: Int32Array.from(this.#winners),
      runnerUps: Int32Array.from(this.#runnerUps),
      finishReasons: this.#finishReasons,
      usage: this.#usage,
      sequenceLengths: Int32Array.from(this.#sequenceLengths),
      errors: this.#errors,
      ending,
      endedNs: nowNs() - this.#startNs,
      foreignIds: this.#foreignIds,
      objects: this.#objects,
    };
  }

  #growRows(): void {
    this.#atNs = grown(this.#atNs, Float64Array);
    this.#flags = grown(this.#flags, Uint8Array);
    this.#idEnd = grown(this.#idEnd, Int32Array);
    this.#textEnd = grown(this.#textEnd, Int32Array);
  }
}

/** UTF-16 units that two texts have in common at their start, no character cut in two. */
function commonStart(a: string, b: string): number {
  let n = 0;
  while (n < a.length && n < b.length && a.charCodeAt(n) === b.charCodeAt(n)) n++;
  const last = a.charCodeAt(n - 1);
  return last >= 0xd800 && last < 0xdc00 ? n - 1 : n;
}

function grown<T extends Float64Array | Int32Array | Uint8Array>(old: T, make: new (length: number) => T): T {
  const next = new make(old.length * 2);
  next.set(old);
  return next;
}
