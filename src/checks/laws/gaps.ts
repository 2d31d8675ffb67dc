/**
 * What running servers were seen to do against a law, each deviation exact (docs/observed.md has the observations).
 * A gap excuses its own deviation and nothing else: a text that is wrong in another way stays a violation.
 */
import type { RouteId } from '#core/request/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import { answersAtAll } from './answers-at-all.ts';
import { BLS_GAPS } from './bls-gaps.ts';
import { CANCEL_GAPS } from './cancel-gaps.ts';
import { deltasEqualWhole } from './deltas-equal-whole.ts';
import { noBrokenUtf8 } from './no-broken-utf8.ts';
import {
  answered,
  CHUNKED_ROUTES,
  certainText,
  dataEvents,
  OPENAI_ROUTES,
  rightPromptIds,
  servedPromptIds,
  textsAlone,
  TORCH_ROUTES,
} from './observed.ts';
import { BEFORE_COUNTS, BEFORE_ECHO, EVERY_FRONT_END, EVERY_MODELS } from './release-lists.ts';
import { returnsPrompt } from './returns-prompt.ts';
import { stopWords } from './stop-words.ts';
import { textIsTrueDecode } from './text-is-true-decode.ts';
import { STANDS_STILL } from './stands-still.ts';
import { servesTrtllm } from './trtllm-serve.ts';
import { TRTLLM_SERVE_GAPS } from './trtllm-serve-gaps.ts';
import type { Gap, Law, LawContext } from './types.ts';

/** The same transcript as such a server would have given it; undefined when the events do not fit one token each. */
function decodedAlone(t: Transcript, context: LawContext): Transcript | undefined {
  const { truth, tokenizer } = context;
  if (truth === undefined) return undefined;
  // One more, empty, when EOS ended the answer.
  const texts = truth.finish === 'eos' ? [...textsAlone(tokenizer, truth), ''] : textsAlone(tokenizer, truth);
  const data = dataEvents(t);
  if (answered(t) ? data.length !== texts.length : data.length > texts.length) return undefined;
  const textEnd = new Int32Array(t.events);
  let text = '';
  let k = 0;
  for (let event = 0; event < t.events; event++) {
    if (data[k] === event) text += texts[k++];
    textEnd[event] = text.length;
  }
  return { ...t, text, textEnd };
}

function chunkGap(id: string, law: Law, deviation: string): Gap {
  return {
    id,
    law: law.id,
    routes: CHUNKED_ROUTES,
    mode: 'stream',
    axis: 'models',
    releases: EVERY_MODELS,
    deviation,
    thread: 'triton-inference-server/tensorrtllm_backend#34',
    listed: (profile, route) =>
      !profile.models.streamedTextHoldsBackPartialCharacters.value && (route === undefined || !servesTrtllm(route, profile)),
    shows(t, context) {
      const alone = answered(t) ? decodedAlone(t, context) : undefined;
      return alone !== undefined && law.check(alone, context).length > 0;
    },
    explains(t, _violation, context) {
      const alone = decodedAlone(t, context);
      return alone !== undefined && alone.text === t.text && alone.textEnd.every((end, event) => end === t.textEnd[event]);
    },
  };
}

function promptGap(id: string, route: RouteId, releases: readonly string[]): Gap {
  return {
    id,
    law: textIsTrueDecode.id,
    routes: [route],
    mode: 'unary',
    axis: 'openai',
    releases,
    deviation: 'The text is the decode of prompt and answer ids together, special tokens skipped, no separator.',
    thread: 'docs/observed.md#openai-front-end-by-release',
    listed: (profile) => returnsPrompt(route, profile),
    shows: (t, context) => answered(t) && context.truth !== undefined && promptAndAnswer(context) !== context.truth.text,
    explains: (t, _violation, context) => t.text === promptAndAnswer(context),
  };
}

export const GAPS: readonly Gap[] = [
  ...BLS_GAPS,
  chunkGap(
    'chunk-decoded-alone',
    deltasEqualWhole,
    "Every event's text is the decode of that response's ids alone; 0.7 and 0.14 did so too.",
  ),
  chunkGap('chunk-decoded-alone-characters', noBrokenUtf8, 'So a character of several tokens arrives as one U+FFFD per token.'),
  chunkGap('chunk-decoded-alone-stop-words', stopWords, 'So a stop phrase with such a character does not appear in the text.'),
  {
    id: 'finish-reason-always-stop',
    law: 'finish-reason-true',
    routes: OPENAI_ROUTES,
    mode: 'both',
    axis: 'openai',
    releases: EVERY_FRONT_END,
    deviation: 'finish_reason is "stop" for an answer that max_tokens ended.',
    thread: 'docs/observed.md#openai-front-end-r25-12',
    listed: (profile) => profile.openai.finishReasonAlwaysStop.value,
    shows: (t, { truth }) => answered(t) && truth?.finish === 'length',
    explains: (t, violation, { truth }) =>
      violation.code === 'wrong' && truth?.finish === 'length' && t.finishReasons[0]?.reason === 'stop',
  },
  promptGap('chat-returns-prompt', 'openai-chat', EVERY_FRONT_END),
  promptGap('completion-returns-prompt', 'openai-completions', BEFORE_ECHO),
  {
    id: 'usage-not-served',
    law: 'usage-counts',
    routes: OPENAI_ROUTES,
    mode: 'both',
    axis: 'openai',
    releases: BEFORE_COUNTS,
    deviation: 'The front end does not ask the model for counts, and usage is null.',
    thread: 'triton-inference-server/server#8510',
    listed: (profile) => !profile.openai.tokenCounts.value,
    shows: answered,
    explains: (_t, violation) => violation.code === 'missing',
  },
  {
    id: 'double-bos',
    law: 'prompt-ids',
    routes: ['openai-chat'],
    mode: 'both',
    axis: 'openai',
    releases: EVERY_FRONT_END,
    deviation: 'The rendered template keeps its BOS text and preprocessing adds another.',
    thread: 'vllm-project/vllm#27515',
    listed: (profile) => profile.openai.doubleBos.value,
    shows: (t, context) =>
      answered(t) && t.usage !== undefined && servedCount(t, context) !== rightPromptIds(context.tokenizer, t.case.request).length,
    explains: (t, _violation, context) => t.usage?.promptTokens === servedCount(t, context),
  },
  ...CANCEL_GAPS,
  STANDS_STILL,
  {
    id: 'cut-character-lost',
    law: deltasEqualWhole.id,
    routes: [...TORCH_ROUTES, ...OPENAI_ROUTES],
    mode: 'stream',
    axis: 'models',
    releases: EVERY_MODELS,
    deviation:
      'A stream that ends inside a character shows nothing of it, where the whole answer has U+FFFD; and a tokenizer that tidies spaces leaves those which two responses share.',
    thread: 'docs/observed.md#torch-path',
    // OpenAI routes have the PyTorch back end behind them where trtllm-serve speaks.
    listed: (profile, route) =>
      !profile.models.torch.streamShowsCutCharacter.value &&
      (route === undefined || TORCH_ROUTES.includes(route) || servesTrtllm(route, profile)),
    shows: (t, { truth, tokenizer }) => answered(t) && truth !== undefined && certainText(tokenizer, truth) !== truth.text,
    explains: (t, _violation, { truth, tokenizer }) => truth !== undefined && t.text === certainText(tokenizer, truth),
  },
  {
    id: 'llmapi-refuses-stop-strings',
    law: answersAtAll.id,
    routes: ['llmapi'],
    mode: 'both',
    axis: 'models',
    releases: EVERY_MODELS,
    deviation: 'A request with stop strings fails: they reach the tokenizer as bytes, and it takes text only.',
    thread: 'docs/observed.md#torch-path',
    listed: (profile) => !profile.models.torch.llmapiTakesStopStrings.value,
    shows: hasStopWords,
    explains: (t) => hasStopWords(t) && t.errors[0]?.message === 'Error generating request: TextInputSequence must be str',
  },
  ...TRTLLM_SERVE_GAPS,
];

function hasStopWords(t: Transcript): boolean {
  return (t.case.request.limits.stopWords ?? []).length > 0;
}

function promptAndAnswer({ truth, tokenizer }: LawContext): string | undefined {
  return truth && tokenizer.decode([...truth.promptIds, ...truth.ids], { skipSpecialTokens: true });
}

function servedCount(t: Transcript, { tokenizer, profile }: LawContext): number {
  return servedPromptIds(t.case.request, t.case.route, tokenizer, profile).length;
}
