/** Recorded exchanges before the laws, with the accepted answers of the goldens: for `lockstep replay laws` and the claims about recordings. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { NO_NOISE, type Policy, failsUnder } from '#checks/compare/index.ts';
import { type Answer, LAWS, firstDifference, rightPromptIds, servedAnswer, servedPromptIds, servesTrtllm } from '#checks/laws/index.ts';
import type { Fixture } from '#checks/recording/index.ts';
import { type JudgedFixture, judgeFixture } from '#checks/recording/replay/index.ts';
import { PACKAGE_ROOT, TINY_CHECKPOINT } from '#core/config/index.ts';
import { LockstepError, printable } from '#core/errors/index.ts';
import { type ReleaseProfile, profileOf } from '#core/profile/index.ts';
import type { Request, RouteId } from '#core/request/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import { type Tokenizer, loadTokenizer } from '#wire/tokenizer/index.ts';
import { type Accepted, acceptedAnswers } from './accepted-answer.ts';
import { answerViews } from './answer-views.ts';
import { compareOne } from './compare-one.ts';
import { exchangeView } from './exchange-view.ts';
import { GREEDY, goldenStore } from './goldens.ts';
import { promptViews } from './prompt-views.ts';
import { viewOf } from './replay.ts';
import type { CaseView, Failure } from './result.ts';
import { sidesOf } from './sides.ts';

export interface RecordedOptions {
  /** Folder of the tokenizer; absent: the one of this project's checkpoints that the recording names, or the tiny one. */
  readonly tokenizer?: string | undefined;
  /** Release profile; absent: the one that stands in the recording. */
  readonly profile?: string | undefined;
  readonly goldensDir: string;
  readonly policy: Policy;
  /** The command that repeats the judgement of this recording. */
  readonly replay: string;
  readonly signal?: AbortSignal | undefined;
}

export interface JudgedRecording {
  readonly answers: readonly JudgedFixture[];
  /** Every violation that no known gap explains. */
  readonly failures: readonly Failure[];
  /** An answer parts from the accepted one. */
  readonly differs: boolean;
}

/** Errors: `fixture-not-replayable`, `fixture-other-tokenizer`, `profile-unknown`, and those of goldens and tokenizers. */
export async function judgeRecording(fixture: Fixture, name: string, options: RecordedOptions): Promise<JudgedRecording> {
  const tokenizer = recordedTokenizer(fixture, name, options.tokenizer);
  const profile = profileOf(options.profile ?? fixture.header.profile ?? 'default');
  const accepted = acceptedBy(options.goldensDir, tokenizer);
  const lab = { tokenizer, profile };
  const answers = await judgeFixture(fixture, name, {
    ...lab,
    signal: options.signal,
    accepted: (request, route) => acceptedOn(request, route, accepted, lab),
    forgives: (t, truth) => {
      const sampled = t.case.request.sampling.kind === 'sampled';
      const { verdict } = compareOne(t, truth, profile, { tokenizer, noise: NO_NOISE, sampled });
      return verdict !== 'identical' && !failsUnder(options.policy, verdict);
    },
  });
  const failures = answers.flatMap(({ transcript, truth, cancelAfter, findings }) => {
    const sides = truth === undefined ? undefined : sidesOf(lab, transcript, truth);
    return findings.flatMap(({ status, violations }) =>
      (status === 'violated' ? violations : []).map(({ law, code, text }): Failure => ({
        law,
        code,
        text: printable(text),
        case: shownCase(transcript),
        ...(sides === undefined ? {} : { sides }),
        ...(truth === undefined ? {} : { answers: answerViews(transcript, truth, tokenizer) }),
        exchanges: [exchangeView('recorded', transcript, cancelAfter)],
        prompts: promptViews(transcript, tokenizer, profile),
        replay: printable(options.replay),
      })),
    );
  });
  const differs = answers.some(
    ({ transcript: t, truth, cancelAfter }) =>
      truth !== undefined &&
      cancelAfter === undefined &&
      compareOne(t, truth, profile, { tokenizer, noise: NO_NOISE }).verdict !== 'identical',
  );
  return { answers, failures, differs };
}

/** A recording may come from anybody, and reports show these on a terminal. */
function shownCase({ case: c }: Transcript): CaseView {
  const view = viewOf(c);
  return { ...view, label: printable(view.label), request: printable(view.request), prompt: printable(view.prompt) };
}

/**
 * What is not as the recording says: of one that names a violation, that it is not seen any more; of any other, every violation.
 * A law about several answers or about a server (`neighbours-unchanged`) cannot be held against one recording: there something
 * must be wrong with the answer, whatever it is.
 */
export function unexpected({ header: { violation } }: Fixture, { answers, failures, differs }: JudgedRecording): readonly Failure[] {
  if (violation === undefined) return failures;
  const { law, code, text } = violation;
  const found = answers.flatMap(({ findings }) => findings.flatMap(({ violations }) => violations));
  const seen = LAWS.some(({ id }) => id === law) ? found.some((one) => one.law === law && one.code === code) : found.length > 0 || differs;
  if (seen) return [];
  return [{ law, code: 'recorded-violation-unseen', text: `the recording shows ${code} (${text}), and nothing sees it` }, ...failures];
}

const CHECKPOINTS = join(PACKAGE_ROOT, 'docker', 'checkpoint');
const loaded = new Map<string, Tokenizer>();

function tokenizerAt(dir: string): Tokenizer {
  let tokenizer = loaded.get(dir);
  if (tokenizer === undefined) loaded.set(dir, (tokenizer = loadTokenizer(dir)));
  return tokenizer;
}

/** Identities hold so much of a hash. */
const HASH_DIGITS = 12;

/** The tokenizer that a recording names, or the one that was given. Errors: `fixture-other-tokenizer`. */
export function recordedTokenizer({ header }: Fixture, name: string, given: string | undefined): Tokenizer {
  const named = header.identity?.['tokenizer'];
  const fits = (tokenizer: Tokenizer): boolean =>
    named === undefined || named === 'unknown' || named === tokenizer.hash.slice(0, HASH_DIGITS);
  const own = readdirSync(CHECKPOINTS)
    .map((entry) => join(CHECKPOINTS, entry))
    .filter((dir) => existsSync(join(dir, 'tokenizer.json')));
  for (const dir of given === undefined ? [TINY_CHECKPOINT, ...own] : [given]) {
    const tokenizer = tokenizerAt(dir);
    if (fits(tokenizer)) return tokenizer;
  }
  throw new LockstepError(
    'fixture-other-tokenizer',
    `${name} was recorded with the tokenizer ${named}, which ${given ?? 'none of this project'} is not`,
    {
      hint: 'Name the folder of the tokenizer that the recorded server had: --tokenizer DIR.',
    },
  );
}

const goldens = new Map<string, Accepted>();

function acceptedBy(goldensDir: string, tokenizer: Tokenizer): Accepted {
  const key = `${goldensDir}\n${tokenizer.dir}`;
  let accepted = goldens.get(key);
  if (accepted === undefined) {
    const store = goldenStore({ goldensDir, tokenizer });
    accepted = store.list().includes(GREEDY) ? acceptedAnswers(store.load(GREEDY).values(), tokenizer) : () => undefined;
    goldens.set(key, accepted);
  }
  return accepted;
}

/** A chat front end may give the engine other ids than the other routes do, and trtllm-serve leaves stop phrases out. */
function acceptedOn(
  request: Request,
  route: RouteId,
  accepted: Accepted,
  { tokenizer, profile }: { readonly tokenizer: Tokenizer; readonly profile: ReleaseProfile },
): Answer | undefined {
  const ids = servedPromptIds(request, route, tokenizer, profile);
  const same = firstDifference(ids, rightPromptIds(tokenizer, request)) < 0;
  const answer = accepted(same ? request : { ...request, prompt: { kind: 'ids', ids } });
  return answer !== undefined && servesTrtllm(route, profile) ? servedAnswer(answer, request, tokenizer) : answer;
}
