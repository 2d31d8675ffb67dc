import { type CompareOptions, type Comparison, compareIds, compareText, withoutPrompt } from '#checks/compare/index.ts';
import {
  type Answer,
  TORCH_ROUTES,
  type Violation,
  answerOf,
  certainText,
  law,
  returnsPrompt,
  servesTrtllm,
  streamedText,
} from '#checks/laws/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';

/** Judges one answer: by ids on raw, by text elsewhere, in the form in which this release serves text. */
export function compareOne(t: Transcript, truth: Answer, profile: ReleaseProfile, options: CompareOptions): Comparison {
  const missing = unanswered(t, { tokenizer: options.tokenizer, profile });
  if (missing !== undefined) return { verdict: 'structural', divergence: undefined, text: missing.text };
  if (t.case.route === 'raw') return compareIds(truth, { ids: t.ids, finish: answerOf(t, options.tokenizer)?.finish }, options);
  if (t.case.mode === 'unary' && returnsPrompt(t.case.route, profile)) {
    return compareText(truth, withoutPrompt(t.text, options.tokenizer.decode(truth.promptIds)), { ...options, form: 'after-prompt' });
  }
  if (TORCH_ROUTES.includes(t.case.route)) {
    const lost = t.case.mode === 'stream' && !profile.models.torch.streamShowsCutCharacter.value;
    return compareText(lost ? { ...truth, text: certainText(options.tokenizer, truth) } : truth, t.text, options);
  }
  if (t.case.mode === 'stream' && servesTrtllm(t.case.route, profile))
    return compareText({ ...truth, text: streamedText(truth, t.case.request, options.tokenizer, profile) }, t.text, options);
  const alone =
    t.case.mode === 'stream' && t.case.route !== 'bls-accumulate' && !profile.models.streamedTextHoldsBackPartialCharacters.value;
  return compareText(truth, t.text, alone ? { ...options, form: 'chunk-alone' } : options);
}

/** How the law `answers-at-all` is broken by an exchange that this client meant to see to its end, or undefined. */
export function unanswered(t: Transcript, lab: { readonly tokenizer: Tokenizer; readonly profile: ReleaseProfile }): Violation | undefined {
  if (t.ending === 'cancelled') return { law: 'answers-at-all', code: 'cancelled', text: 'this client left before the end' };
  return law('answers-at-all').check(t, { tokenizer: lab.tokenizer, profile: lab.profile })[0];
}
