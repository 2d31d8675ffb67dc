/** A recorded exchange beside the one that the same request gave now. */
import { type Comparison, NO_NOISE, failsUnder, firstTextDivergence } from '#checks/compare/index.ts';
import { type Answer, answerOf } from '#checks/laws/index.ts';
import { type Fixture, messageJson, messageType } from '#checks/recording/index.ts';
import type { JudgedFixture } from '#checks/recording/replay/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { profileOf } from '#core/profile/index.ts';
import { describeCase } from '#core/request/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { compareOne } from './compare-one.ts';
import { type JudgedRecording, type RecordedOptions, judgeRecording, recordedTokenizer } from './recorded.ts';

export interface AgainAnswer {
  /** Of the request, as far as it is one of a route. */
  readonly label: string;
  /** How far the new answer is from the recorded one; undefined where none was recorded. */
  readonly comparison: Comparison | undefined;
}

export interface Again {
  readonly answers: readonly AgainAnswer[];
  /** The new answers before the laws; undefined where no route of the suite sends such a request. */
  readonly judged: JudgedRecording | undefined;
  /** Whether what was wrong with the recorded answer is wrong with the new one; undefined where nothing was. */
  readonly violation: 'shows again' | 'does not show' | undefined;
  /** A law is violated now, or an answer differs in a way that the policy does not forgive and the accepted answer does not ask for. */
  readonly fails: boolean;
}

/** Errors: those of `judgeRecording`. */
export async function compareAgain(recorded: Fixture, now: Fixture, name: string, options: RecordedOptions): Promise<Again> {
  const answered = recorded.events.some(({ from }) => from === 'server');
  const judged = await judgedIfRoute(now, name, options);
  if (judged === undefined) {
    const comparison = answered ? compareExchanges(recorded, now) : undefined;
    const fails = comparison !== undefined && failsUnder(options.policy, comparison.verdict);
    return { answers: [{ label: name, comparison }], judged, violation: undefined, fails };
  }
  const before = answered ? await judgedIfRoute(recorded, name, { ...options, profile: undefined }) : undefined;
  const tokenizer = recordedTokenizer(now, name, options.tokenizer);
  const answers = judged.answers.map((answer, i): AgainAnswer => {
    const old = before?.answers[i];
    const label = describeCase(answer.transcript.case);
    return { label, comparison: old === undefined ? undefined : compareAnswers(old, answer, tokenizer, now.header.profile) };
  });
  const wasWrong = before !== undefined && (before.failures.length > 0 || before.differs);
  const right = judged.failures.length === 0 && !judged.differs;
  const parts = answers.some(({ comparison }) => comparison !== undefined && failsUnder(options.policy, comparison.verdict));
  const same = judged.failures.some((one) => before?.failures.some(({ law, code }) => law === one.law && code === one.code));
  return {
    answers,
    judged,
    violation: wasWrong ? (same ? 'shows again' : 'does not show') : undefined,
    fails: judged.failures.length > 0 || (parts && !(wasWrong && right)),
  };
}

async function judgedIfRoute(fixture: Fixture, name: string, options: RecordedOptions): Promise<JudgedRecording | undefined> {
  try {
    return await judgeRecording(fixture, name, options);
  } catch (thrown) {
    if (thrown instanceof LockstepError && thrown.code === 'fixture-not-replayable') return undefined;
    throw thrown;
  }
}

const IDENTICAL: Comparison = { verdict: 'identical', divergence: undefined, text: 'the same answer' };

function compareAnswers(old: JudgedFixture, now: JudgedFixture, tokenizer: Tokenizer, profile = 'default'): Comparison {
  const [a, b] = [old.transcript, now.transcript];
  const left = old.cancelAfter !== undefined;
  if (left ? begins(a, b) : same(a, b)) return IDENTICAL;
  const structural = (text: string): Comparison => ({ verdict: 'structural', divergence: undefined, text });
  const [was, is] = [ending(a), ending(b)];
  if (was !== is) return structural(`it ended by ${is}, and by ${was} when it was recorded`);
  const reference = answerOf(a, tokenizer) ?? trueAnswer(old);
  if (reference !== undefined && !left) {
    const sampled = b.case.request.sampling.kind === 'sampled';
    const judged = compareOne(b, reference, profileOf(profile), { tokenizer, noise: NO_NOISE, sampled });
    if (judged.verdict !== 'identical') return judged;
    return structural('the same tokens, framed otherwise');
  }
  const char = firstTextDivergence(a.text, b.text);
  const text = char < 0 ? 'the ids part, and no margins tell why' : `the texts part at character ${char}, and no margins tell why`;
  return { verdict: 'unjudged', divergence: undefined, text };
}

/** Margins of the accepted answer tell of the recorded one where it is the same. */
function trueAnswer({ truth, findings }: JudgedFixture): Answer | undefined {
  return findings.every(({ status }) => status !== 'violated') ? truth : undefined;
}

function same(a: Transcript, b: Transcript): boolean {
  const reasons = (t: Transcript): string => t.finishReasons.map(({ reason }) => reason).join();
  return equal(a.ids, b.ids) && a.text === b.text && reasons(a) === reasons(b) && ending(a) === ending(b);
}

/** Of two clients that left, one saw the beginning of what the other saw. */
function begins(a: Transcript, b: Transcript): boolean {
  const length = Math.min(a.ids.length, b.ids.length);
  return equal(a.ids.subarray(0, length), b.ids.subarray(0, length)) && (a.text.startsWith(b.text) || b.text.startsWith(a.text));
}

function equal(a: Int32Array, b: Int32Array): boolean {
  return a.length === b.length && a.every((id, i) => id === b[i]);
}

function ending({ ending: how, errors }: Transcript): string {
  return [how, ...errors.map(({ code, message }) => `${code} ${message}`)].join(', ');
}

/** What is no answer of a model: statuses, and what was said, chunk borders and times left out. */
function compareExchanges(a: Fixture, b: Fixture): Comparison {
  const [was, is] = [said(a), said(b)];
  const at = was.findIndex((line, i) => line !== is[i]);
  if (at < 0 && was.length === is.length) return IDENTICAL;
  const place = at < 0 ? was.length : at;
  const shown = (line: string | undefined): string =>
    line === undefined ? 'nothing' : line.length > SHOWN ? `${line.slice(0, SHOWN)}…` : line;
  return {
    verdict: 'structural',
    divergence: undefined,
    text: `the server said ${shown(is[place])}, and ${shown(was[place])} when it was recorded`,
  };
}

const SHOWN = 160;

function said({ events }: Fixture): readonly string[] {
  const [request] = events;
  const type = request?.kind === 'request' ? messageType(request.path, 'server') : undefined;
  const body = Buffer.concat(
    events.flatMap((event) => (event.from === 'server' && (event.kind === 'chunk' || event.kind === 'body') ? [event.bytes] : [])),
  );
  const lines = events.flatMap((event): string[] => {
    if (event.from !== 'server') return [];
    if (event.kind === 'response') return event.status === undefined ? [] : [`status ${event.status}`];
    if (event.kind === 'message')
      return [JSON.stringify(type === undefined ? event.bytes.toString('hex') : messageJson(type, event.bytes))];
    if (event.kind === 'trailers')
      return [
        event.headers
          .filter(([name]) => name.startsWith('grpc-'))
          .map((pair) => pair.join(': '))
          .join(', '),
      ];
    return event.kind === 'reset' || event.kind === 'close' ? [event.kind] : [];
  });
  return body.length === 0 ? lines : [...lines, body.toString('utf8')];
}
