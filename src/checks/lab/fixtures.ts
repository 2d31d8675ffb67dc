/** Every failing case of a run becomes a fixture: what its exchange was is kept until the claim has been judged. */
import { join, relative } from 'node:path';
import type { Answer } from '#checks/laws/index.ts';
import {
  type Asked,
  type Company,
  type Fixture,
  type SeenViolation,
  CallRecorder,
  KeptExchanges,
  type FixtureEvent,
  type FixtureHeader,
  Redactor,
  fixtureFileName,
  writeFixture,
} from '#checks/recording/index.ts';
import { ROUTES, type RunOptions } from '#checks/routes/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Case } from '#core/request/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import { askedOf } from './asked.ts';
import type { Lab } from './lab.ts';
import { viewOf } from './replay.ts';
import type { Failure } from './result.ts';

interface Kept {
  readonly recorder: CallRecorder;
  readonly asked: Asked;
}

const kept = new KeptExchanges();
const recordings = new WeakMap<Transcript, Kept>();
const companies = new WeakMap<Transcript, Company>();
const failing = new WeakMap<Failure, { readonly transcript: Transcript; readonly truth: Answer | undefined }>();

/** Runs a case with its calls recorded; what was recorded goes with the transcript. */
export async function recorded(run: (tap: RunOptions['tap']) => Promise<Transcript>, options: Partial<RunOptions>): Promise<Transcript> {
  const recorder = new CallRecorder();
  const t = await run(recorder.tap);
  recordings.set(t, { recorder, asked: askedOf(options) });
  kept.add(recorder);
  return t;
}

/** Remembers what ran before and beside an exchange. */
export function amid(company: Company, t: Transcript): Transcript {
  companies.set(t, company);
  return t;
}

/** Another form of a transcript has the same exchange behind it. */
export function sameExchange(from: Transcript, to: Transcript): Transcript {
  const recording = recordings.get(from);
  if (recording !== undefined) recordings.set(to, recording);
  return to;
}

/** Remembers which exchange a failure is about. */
export function aboutExchange(failure: Failure, transcript: Transcript, truth: Answer | undefined): Failure {
  failing.set(failure, { transcript, truth });
  return failure;
}

const deadly = new WeakMap<LockstepError, Transcript>();

/** Remembers the exchange after which a server was found dead. */
export function diedOf(error: LockstepError, transcript: Transcript): LockstepError {
  deadly.set(error, transcript);
  return error;
}

/** The exchange after which the server was found dead. */
export function exchangeOf(died: LockstepError): Transcript | undefined {
  return deadly.get(died);
}

/** A failure that an error stands for, about the exchange behind that error if there is one. */
export function ofError(failure: Failure, thrown: unknown): Failure {
  const transcript = thrown instanceof LockstepError ? deadly.get(thrown) : undefined;
  return transcript === undefined ? failure : aboutExchange({ ...failure, case: viewOf(transcript.case) }, transcript, undefined);
}

/** The same failure in other words. */
export function reworded(failure: Failure, text: string): Failure {
  const about = failing.get(failure);
  const other = { ...failure, text };
  return about === undefined ? other : aboutExchange(other, about.transcript, about.truth);
}

/**
 * Writes the exchanges behind these failures, one file each, and names the file in the failure. Failures about no exchange,
 * and runs that record nothing, give the failures as they are.
 */
export function withFixtures(
  lab: Lab,
  claim: { readonly suite: string; readonly id: string },
  failures: readonly Failure[],
): readonly Failure[] {
  const { fixtures } = lab.parts;
  if (fixtures === undefined) return failures;
  const written = new Map<Transcript, string>();
  const names = new Set<string>();
  return failures.map((failure) => {
    const about = failing.get(failure);
    const recording = about === undefined ? undefined : recordings.get(about.transcript);
    if (about === undefined || recording === undefined || recording.recorder.calls.length === 0) return failure;
    const { case: c } = about.transcript;
    let path = written.get(about.transcript);
    if (path === undefined) {
      const company = companies.get(about.transcript);
      const { law, code, text } = failure;
      const violation = { claim: `${claim.suite}/${claim.id}`, law, code, text };
      const header = headerOf(lab, c, recording, { violation, truth: about.truth, company });
      path = write(join(fixtures, claim.suite), nameOf(claim.id, c, names), header, recording, lab);
      written.set(about.transcript, path);
    }
    return { ...failure, fixture: relative('', path) };
  });
}

/** How many of these failures are about an exchange that is kept no longer. */
export function droppedExchanges(failures: readonly Failure[]): number {
  return failures.filter((failure) => {
    const about = failing.get(failure);
    return about !== undefined && recordings.get(about.transcript)?.recorder.dropped === true;
  }).length;
}

/** Repeats of one case fail alike, and each has its file. */
function nameOf(claim: string, c: Case, taken: Set<string>): string {
  const words = [claim, c.request.id, c.route, c.mode, c.repeat > 0 ? `repeat-${c.repeat}` : ''];
  let name = fixtureFileName(...words);
  for (let n = 2; taken.has(name); n++) name = fixtureFileName(...words, String(n));
  taken.add(name);
  return name;
}

/** The case's own call under that name; a stop request, which has a call of its own, beside it. */
function write(folder: string, name: string, header: FixtureHeader, { recorder }: Kept, lab: Lab): string {
  const paths = recorder.calls.map((events, i) => {
    const path = join(folder, i === 0 ? name : name.replace(/\.fixture$/, `-call-${i + 1}.fixture`));
    writeFixture(path, { header, events: redacted(lab, events) });
    return path;
  });
  return paths[0]!;
}

export interface Found {
  readonly violation: SeenViolation;
  readonly truth?: Answer | undefined;
  readonly company?: Company | undefined;
}

/** The exchange behind a transcript as a fixture; undefined where nothing was recorded. */
export function fixtureOf(lab: Lab, t: Transcript, found: Found): Fixture | undefined {
  const kept = recordings.get(t);
  const [events] = kept?.recorder.calls ?? [];
  if (kept === undefined || events === undefined) return undefined;
  return { header: headerOf(lab, t.case, kept, found), events: redacted(lab, events) };
}

function redacted(lab: Lab, events: readonly FixtureEvent[]): FixtureEvent[] {
  const redactor = new Redactor(Object.keys(lab.parts.endpoints.access?.headers ?? {}));
  return events.map((event) => redactor.event(event));
}

function headerOf(lab: Lab, c: Case, { recorder, asked }: Kept, { violation, truth, company }: Found): FixtureHeader {
  const { protocol } = ROUTES[c.route];
  const { grpc, http, openai } = lab.parts.endpoints;
  const server = protocol === 'grpc' ? grpc : protocol === 'http' ? http : openai;
  return {
    protocol,
    recorded: { at: recorder.beganAt, by: 'client', ...(server === undefined ? {} : { server }) },
    profile: lab.parts.profile.id,
    identity: lab.parts.identity,
    case: c,
    asked,
    ...(company === undefined || company.before.length + company.beside.length === 0 ? {} : { company }),
    // JSON has no NaN; an answer with one is none to judge by.
    truth: truth !== undefined && [...truth.logProbs, ...truth.margins].every(Number.isFinite) ? truth : undefined,
    violation,
  };
}
