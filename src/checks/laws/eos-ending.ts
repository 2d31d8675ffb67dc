import { FLAG, idsOfEvent, textOfEvent, type Transcript } from '#core/transcript/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { answered, dataEvents, endFlag, hasFlag, isRaw, isStream, isTorch, nameId, quote, violationOf } from './observed.ts';
import type { Answer, Law, LawContext, Violation } from './types.ts';

const broken = violationOf('eos-ending');

/**
 * The sampling kernel marks a sequence as finished at EOS without counting the token, so a stream ends with one extra
 * response of zero ids (docs/observed.md, end conditions of the TensorRT path).
 */
export const eosEnding: Law = {
  id: 'eos-ending',
  statement: 'An answer that ends at EOS never shows EOS, and its stream ends with exactly one empty last response.',
  routes: 'all',
  applies: (t, { truth }) => answered(t) && truth?.finish === 'eos' && t.case.request.limits.stopAtEos !== false,
  check(t, context) {
    const found: Violation[] = [];
    const eos = context.tokenizer.eosId;
    if (isRaw(t) && eos !== undefined) {
      const at = t.ids.indexOf(eos);
      if (at >= 0)
        found.push(broken('eos-visible', `id ${nameId(eos, context)} was served at position ${at} of ${t.ids.length}`, { token: at }));
    }
    if (isStream(t)) found.push(...(isRaw(t) ? rawStreamEnd(t) : textStreamEnd(t, context.truth, context)));
    return found;
  },
};

function rawStreamEnd(t: Transcript): Violation[] {
  const data = dataEvents(t);
  const last = data.at(-1);
  if (last === undefined) return [];
  const ids = idsOfEvent(t, last);
  if (ids.length > 0) return [broken('no-empty-end', `the last response carries ${ids.length} ids, not zero`, { event: last })];
  if (!hasFlag(t, last, FLAG.final))
    return [broken('empty-not-final', 'the empty response does not carry the final flag', { event: last })];
  const served = t.sequenceLengths.at(-1);
  if (served !== 0) return [broken('length-not-zero', `sequence_length of the empty last response is ${served}`, { event: last })];
  const before = data.at(-2);
  if (before !== undefined && idsOfEvent(t, before).length === 0) {
    return [broken('several-empty', 'more than one empty response ends the stream', { event: before })];
  }
  return [];
}

/** Whether a right stream of this answer has text left when all ids are told: a cut character, or a run of byte tokens. */
function holdsSome(tokenizer: Tokenizer, { ids }: Answer): boolean {
  const stream = tokenizer.stream();
  stream.push(ids);
  return stream.flush() !== '';
}

function textStreamEnd(t: Transcript, truth: Answer | undefined, context: LawContext): Violation[] {
  const last = dataEvents(t).at(-1);
  if (last === undefined) return [];
  const text = textOfEvent(t, last);
  // A server that holds back what more bytes might change gives it up with the last response.
  const { streamedTextHoldsBackPartialCharacters: holdsBack, torch } = context.profile.models;
  const held = (isTorch(t) ? torch.streamShowsCutCharacter : holdsBack).value && truth !== undefined && holdsSome(context.tokenizer, truth);
  if (text !== '' && !held) return [broken('no-empty-end', `the last event carries ${quote(text)}, not the empty text`, { event: last })];
  const flag = endFlag(t);
  if (flag !== undefined && !hasFlag(t, last, flag)) {
    return [broken('empty-not-final', 'the last event with data does not carry the mark of the end', { event: last })];
  }
  return [];
}
