import type { Case } from '#core/request/index.ts';
import { FLAG, type Transcript, TranscriptBuilder } from '#core/transcript/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { rightFinishReason } from './finish-reason-true.ts';
import { answerOn } from './answer-on.ts';
import { BLS_ROUTES, servedPromptIds, TORCH_ROUTES, certainText } from './observed.ts';
import { returnsPrompt } from './returns-prompt.ts';
import type { Answer } from './types.ts';

/** What a server of this profile that has no other fault serves for an answer: the subject that tests break. */
export function rightTranscript(c: Case, answer: Answer, tokenizer: Tokenizer, profile: ReleaseProfile): Transcript {
  const b = new TranscriptBuilder(c, c.route === 'raw' ? { ids: Int32Array.from(answer.promptIds) } : { text: 'prompt' });
  if (c.route === 'openai-completions') b.object('text_completion');
  if (c.route === 'openai-chat') b.object(c.mode === 'stream' ? 'chat.completion.chunk' : 'chat.completion');
  if (TORCH_ROUTES.includes(c.route)) torch(b, c, answerOn(c, answer, tokenizer), tokenizer, profile);
  else if (c.mode === 'stream') stream(b, c, answer, tokenizer, profile);
  else whole(b, c, answer, tokenizer, profile);
  // A decoupled BLS says the end alone.
  if (BLS_ROUTES.includes(c.route)) b.event(FLAG.final);
  return b.seal('complete');
}

function whole(b: TranscriptBuilder, c: Case, answer: Answer, tokenizer: Tokenizer, profile: ReleaseProfile): void {
  b.event(FLAG.data | (c.route === 'raw' || c.route === 'ensemble' ? FLAG.final : 0));
  if (c.route === 'raw') {
    for (const [k, id] of answer.ids.entries()) token(b, id, answer.logProbs[k]);
    b.sequenceLength(answer.ids.length);
    margins(b, answer, 0, answer.margins.length);
    cumulative(b, answer);
    return;
  }
  b.text(
    returnsPrompt(c.route, profile) ? tokenizer.decode([...answer.promptIds, ...answer.ids], { skipSpecialTokens: true }) : answer.text,
  );
  if (c.route.startsWith('openai')) {
    b.finishReason(reason(answer, profile));
    usage(b, c, answer, tokenizer, profile);
  }
}

function stream(b: TranscriptBuilder, c: Case, answer: Answer, tokenizer: Tokenizer, profile: ReleaseProfile): void {
  const openai = c.route.startsWith('openai');
  const n = answer.ids.length + (answer.finish === 'eos' ? 1 : 0);
  const decoder = tokenizer.stream();
  if (c.route === 'openai-chat') b.event(FLAG.role);
  for (let k = 0; k < n; k++) {
    const last = k === n - 1;
    const id = answer.ids[k];
    b.event(FLAG.data | (last && (c.route === 'raw' || c.route === 'ensemble') ? FLAG.final : 0));
    if (c.route === 'raw') {
      if (id !== undefined) token(b, id, answer.logProbs[k]);
      b.sequenceLength(id === undefined ? 0 : 1);
      margins(b, answer, k, k + 1);
    } else if (c.route === 'bls-accumulate') {
      const soFar = tokenizer.decode(answer.ids.slice(0, k + 1), { skipSpecialTokens: true });
      const holdsBack = profile.models.streamedTextHoldsBackPartialCharacters.value && !last;
      b.textSoFar(holdsBack ? soFar.replace(/\ufffd+$/u, '') : soFar);
    } else if (profile.models.streamedTextHoldsBackPartialCharacters.value) {
      b.text((id === undefined ? '' : decoder.push([id])) + (last ? decoder.flush() : ''));
    } else {
      b.text(id === undefined ? '' : tokenizer.decode([id], { skipSpecialTokens: true }));
    }
    if (last && openai) b.finishReason(reason(answer, profile));
  }
  if (c.route === 'raw') cumulative(b, answer);
  if (!openai) return;
  if (profile.openai.tokenCounts.value) b.event(0);
  usage(b, c, answer, tokenizer, profile);
  b.event(FLAG.done);
}

/** The LLM API's model: whole texts, characters and stop strings held back as far as the release holds them back. */
function torch(b: TranscriptBuilder, c: Case, answer: Answer, tokenizer: Tokenizer, { models }: ReleaseProfile): void {
  const { stopWords = [] } = c.request.limits;
  if (stopWords.length > 0 && !models.torch.llmapiTakesStopStrings.value) {
    b.event(FLAG.final);
    b.error('in-band', 'Error generating request: TextInputSequence must be str');
    return;
  }
  const n = c.mode === 'unary' ? 1 : answer.ids.length + (answer.finish === 'eos' ? 1 : 0);
  const whole = c.mode === 'unary' || models.torch.streamShowsCutCharacter.value ? answer.text : certainText(tokenizer, answer);
  const decoder = tokenizer.stream({ eager: !models.torch.streamShowsCutCharacter.value });
  let text = '';
  for (let k = 0; k < n; k++) {
    const last = k === n - 1;
    text += k < answer.ids.length ? decoder.push([answer.ids[k] as number]) : '';
    b.event(FLAG.data | (last ? FLAG.final : 0));
    b.textSoFar(last ? whole : answer.text.startsWith(text) ? text : answer.text);
    if (last) b.finishReason(rightFinishReason(answer.finish));
  }
}

function token(b: TranscriptBuilder, id: number, logProb: number | undefined): void {
  b.id(id);
  if (logProb !== undefined) b.logProb(logProb);
}

/** A step that gave no id drew EOS; nobody looks at its winner. */
const EOS = -1;

function margins(b: TranscriptBuilder, answer: Answer, from: number, to: number): void {
  for (let k = from; k < Math.min(to, answer.margins.length); k++)
    b.margin(answer.margins[k] as number, k < answer.ids.length ? (answer.ids[k] as number) : EOS, answer.runnerUps[k] as number);
}

function cumulative(b: TranscriptBuilder, answer: Answer): void {
  if (answer.logProbs.length > 0) b.cumLogProb(answer.logProbs.slice(0, answer.ids.length).reduce((x, y) => x + y, 0));
}

function reason(answer: Answer, profile: ReleaseProfile): string {
  return profile.openai.finishReasonAlwaysStop.value ? 'stop' : rightFinishReason(answer.finish);
}

function usage(b: TranscriptBuilder, c: Case, answer: Answer, tokenizer: Tokenizer, profile: ReleaseProfile): void {
  if (!profile.openai.tokenCounts.value) return;
  const promptTokens = servedPromptIds(c.request, c.route, tokenizer, profile).length;
  b.usage({ promptTokens, completionTokens: answer.ids.length });
}
