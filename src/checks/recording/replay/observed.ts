/** Recorded exchanges as the transcripts that the suite's own routes make of them. */
import { ROUTES, type Cancel, type RouteContext, type RunOptions, STOCK_MODELS } from '#checks/routes/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import type { Case } from '#core/request/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { ModelConfig } from '#wire/protocol/model-config.ts';
import { connect } from '#wire/clients/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { Asked, Fixture, FixtureEvent } from '../types.ts';
import { type AskedCase, caseOf } from './case-of.ts';
import { type Question, isObject, textOf } from './question.ts';
import { clientLeft, scriptOf } from './script.ts';
import { startReplayServer } from './serve.ts';
import { type Json, messageJson } from '../message-json.ts';
import { messageType } from '../proto-types.ts';

export interface ObserveContext {
  readonly tokenizer: Tokenizer;
  readonly profile: ReleaseProfile;
  readonly signal?: AbortSignal | undefined;
}

/** One request of a recording, and what its client saw. */
export interface Observed {
  readonly transcript: Transcript;
  readonly asked: Asked;
  /** Data events after which the client asked for a stop. */
  readonly cancelAfter: number | undefined;
}

/** How long the client of a recording that never ended waits for what does not come. */
const UNENDED_MS = 300;
const DEADLINE_MS = 20_000;

/**
 * Every request of a recording as a transcript: the suite's route reads the recorded messages from a server of this process,
 * so the transcript is the one that a live exchange would have given. Times are those of the replay.
 *
 * Errors: `fixture-not-replayable` (no request that a route sends, or none at all).
 */
export async function observed(fixture: Fixture, name: string, context: ObserveContext): Promise<readonly Observed[]> {
  const script = scriptOf(fixture, name);
  if (!fixture.events.some(({ from }) => from === 'server')) {
    throw new LockstepError('fixture-not-replayable', `${name} holds a request and no answer`, {
      hint: 'Send it first: lockstep replay send FIXTURE --output DIR.',
    });
  }
  const parts = script.questions.length > 1 ? apart(fixture, script.questions) : [{ fixture, question: script.questions[0] }];
  const out: Observed[] = [];
  for (const part of parts) {
    const known =
      part.question === undefined
        ? 'its client asked nothing'
        : caseFor(part.fixture, part.question, name, context.tokenizer, parts.length);
    if (typeof known === 'string')
      throw new LockstepError('fixture-not-replayable', `${name} cannot be held to the laws: ${known}`, {
        hint: 'Serve it to its client with lockstep replay serve, or send it with lockstep replay send.',
      });
    out.push(await observe(part.fixture, name, known, context));
  }
  return out;
}

function caseFor({ header }: Fixture, question: Question, name: string, tokenizer: Tokenizer, parts: number): AskedCase | string {
  if (header.case !== undefined && parts === 1) return { case: header.case, asked: header.asked ?? {} };
  return caseOf(question, header.case?.request.id ?? name.replace(/\.fixture(\.zst)?$/, ''), tokenizer);
}

async function observe(fixture: Fixture, name: string, { case: c, asked }: AskedCase, context: ObserveContext): Promise<Observed> {
  const { events } = fixture;
  const left = clientLeft(events);
  const cancel =
    asked.cancel ?? (left && fixture.header.case === undefined ? { how: 'leave' as const, afterEvents: dataMessages(events) } : undefined);
  await using server = await startReplayServer({ fixtures: [{ name, fixture }], speed: Infinity, anything: true });
  const { grpc = '', http = '', openai } = server;
  await using clients = connect({ grpc, http, metrics: undefined, openai });
  // The model is asked whether it streams; of a recording, its call says so.
  const streams = events[0]?.kind === 'request' && events[0].path.endsWith('/ModelStreamInfer');
  const config = { name: 'recorded', model_transaction_policy: { decoupled: streams } } as unknown as ModelConfig;
  const routeContext: RouteContext = {
    clients: { ...clients, grpc: { ...clients.grpc, modelConfig: () => Promise.resolve(config) } },
    tokenizer: context.tokenizer,
    profile: context.profile,
    models: STOCK_MODELS,
  };
  // One that waited in vain until its own deadline waits here for a moment.
  const waited = left && cancel === undefined;
  const options: RunOptions = {
    signal: context.signal,
    deadlineMs: waited ? UNENDED_MS : DEADLINE_MS,
    ...(asked.logProbs === undefined ? {} : { logProbs: asked.logProbs }),
    ...(asked.margins === undefined ? {} : { margins: asked.margins }),
    ...replayedCancel(c, cancel, events),
  };
  const transcript = await ROUTES[c.route].run(c, routeContext, options);
  const cancelAfter = cancel !== undefined && 'afterEvents' in cancel ? cancel.afterEvents : undefined;
  return { transcript, asked, cancelAfter };
}

/** The client goes away where it went; a stop that was asked for by another request shows in the answer itself. */
function replayedCancel(c: Case, cancel: Asked['cancel'], events: readonly FixtureEvent[]): { readonly cancel?: Cancel } {
  if (cancel === undefined || cancel.how === 'stop-tensor') return {};
  if (cancel.how === 'leave') return { cancel };
  if (cancel.how === 'deadline') return { cancel: { how: 'deadline', ms: UNENDED_MS } };
  return { cancel: { how: 'leave', afterEvents: dataMessages(events) } };
}

/** Messages or server-sent events with an answer in them. */
function dataMessages(events: readonly FixtureEvent[]): number {
  const [request] = events;
  if (request?.kind !== 'request') return 0;
  const type = messageType(request.path, 'server');
  let count = 0;
  for (const event of events) {
    if (event.from !== 'server') continue;
    if (event.kind === 'chunk')
      count += event.bytes
        .toString('latin1')
        .split('\n')
        .filter((line) => line.startsWith('data:') && line.trim() !== 'data: [DONE]').length;
    if (event.kind !== 'message' || type === undefined) continue;
    const json = messageJson(type, event.bytes);
    const outputs = isObject(json) ? responseOf(json)['outputs'] : undefined;
    if (Array.isArray(outputs) && outputs.length > 0) count++;
  }
  return count;
}

function responseOf(json: { readonly [key: string]: Json }): { readonly [key: string]: Json } {
  const inner = json['infer_response'];
  return isObject(inner) ? inner : json;
}

interface Part {
  readonly fixture: Fixture;
  readonly question: Question;
}

/** A stream with several requests as one exchange for each: its own messages, and those that belong to none of the others. */
function apart({ header, events }: Fixture, questions: readonly Question[]): readonly Part[] {
  const ids = questions.map(({ id }) => id);
  if (new Set(ids).size < ids.length) {
    throw new LockstepError(
      'fixture-not-replayable',
      'several requests of its stream have the same id, so nobody knows whose answers are whose',
      {
        hint: 'Give each request of a stream an id of its own, and record again.',
      },
    );
  }
  const path = questions[0]!.path;
  const type = messageType(path, 'server');
  return questions.map((question, k) => {
    let asked = -1;
    const own = events.filter((event) => {
      if (event.kind !== 'message') return true;
      if (event.from === 'client') return ++asked === k;
      const json = type === undefined ? undefined : messageJson(type, event.bytes);
      const id = isObject(json) ? textOf(responseOf(json)['id']) : '';
      return id === question.id || !ids.includes(id);
    });
    return { fixture: { header, events: own }, question };
  });
}
