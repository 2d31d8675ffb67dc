import { FLAG, type Transcript } from '#core/transcript/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import {
  TEXT_ROUTES,
  answered,
  dataEvents,
  endFlag,
  hasFlag,
  isEmptyEvent,
  isRaw,
  isStream,
  isTorch,
  quote,
  violationOf,
} from './observed.ts';
import { servesTrtllm } from './trtllm-serve.ts';
import type { Answer, Law, Violation } from './types.ts';

const broken = violationOf('stop-words');

/**
 * The engine compares ids: the phrase encoded without special tokens against the end of prompt and answer together.
 * The phrase stays visible, and the response that completes it is the last (docs/observed.md, stop words).
 */
export const stopWords: Law = {
  id: 'stop-words',
  statement:
    'An answer ends with the first stop phrase it completes, and with nothing after it: phrase included on the TensorRT path, phrase left out by the PyTorch back end.',
  routes: ['raw', ...TEXT_ROUTES],
  applies: (t, { truth }) => answered(t) && words(t).length > 0 && (isRaw(t) || truth?.finish === 'stop-words'),
  check(t, { tokenizer, truth, profile }) {
    if (servesTrtllm(t.case.route, profile)) return cutOut(t);
    const found = isRaw(t) ? rawEnd(t, tokenizer, truth) : isTorch(t) ? textBefore(t, truth) : textEnd(t);
    return found.length > 0 || truth?.finish !== 'stop-words' ? found : lastEvent(t);
  },
};

function words(t: Transcript): readonly string[] {
  return (t.case.request.limits.stopWords ?? []).filter((word) => word !== '');
}

function rawEnd(t: Transcript, tokenizer: Tokenizer, truth: Answer | undefined): Violation[] {
  const all = [...(t.promptIds ?? truth?.promptIds ?? []), ...t.ids];
  const start = all.length - t.ids.length;
  const phrases = words(t).map((word) => ({ word, ids: tokenizer.encode(word, { addSpecialTokens: false }) }));
  for (let end = start + 1; end <= all.length; end++) {
    const hit = phrases.find(({ ids }) => ids.length <= end && ids.every((id, k) => all[end - ids.length + k] === id));
    if (hit === undefined) continue;
    const after = all.length - end;
    return after === 0
      ? []
      : [broken('ran-past', `${after} ids follow the stop phrase ${JSON.stringify(hit.word)}`, { token: end - start })];
  }
  if (truth?.finish !== 'stop-words') return [];
  return [broken('no-phrase', `the answer should end with a stop phrase and has none in ${t.ids.length} ids`, { token: t.ids.length })];
}

function textEnd(t: Transcript): Violation[] {
  if (words(t).some((word) => t.text.endsWith(word))) return [];
  const passed = words(t).find((word) => t.text.includes(word));
  if (passed !== undefined) {
    const at = t.text.lastIndexOf(passed) + passed.length;
    return [broken('ran-past', `${quote(t.text.slice(at))} follows the stop phrase ${JSON.stringify(passed)}`, { char: at })];
  }
  return [
    broken('no-phrase', `the answer should end with a stop phrase and ends with ${quote(t.text, t.text.length)}`, { char: t.text.length }),
  ];
}

function textBefore(t: Transcript, truth: Answer | undefined): Violation[] {
  if (truth === undefined || t.text === truth.text) return [];
  const rest = t.text.startsWith(truth.text) ? t.text.slice(truth.text.length) : undefined;
  if (rest === undefined) {
    return [
      broken(
        'no-phrase',
        `the text before the stop phrase is ${quote(truth.text, truth.text.length)}, not ${quote(t.text, t.text.length)}`,
      ),
    ];
  }
  const phrase = words(t).find((word) => word.startsWith(rest));
  const code = phrase === undefined ? 'ran-past' : 'phrase-shown';
  return [broken(code, `${quote(rest)} follows the text before the stop phrase`, { char: truth.text.length })];
}

function cutOut(t: Transcript): Violation[] {
  const shown = words(t).find((word) => t.text.includes(word));
  if (shown !== undefined)
    return [broken('shown', `the stop phrase ${JSON.stringify(shown)} is in the text`, { char: t.text.indexOf(shown) })];
  const last = dataEvents(t).at(-1);
  if (!isStream(t) || last === undefined || hasFlag(t, last, FLAG.finish)) return [];
  return [broken('last-not-final', 'the last event with data does not carry the mark of the end', { event: last })];
}

function lastEvent(t: Transcript): Violation[] {
  const last = dataEvents(t).at(-1);
  if (!isStream(t) || last === undefined) return [];
  if (isEmptyEvent(t, last) && !isTorch(t)) return [broken('empty-end', 'an empty event follows the stop phrase', { event: last })];
  const flag = endFlag(t);
  if (flag === undefined || hasFlag(t, last, flag)) return [];
  return [broken('last-not-final', 'the event that completes the stop phrase does not carry the mark of the end', { event: last })];
}
