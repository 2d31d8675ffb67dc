import type { ReleaseProfile } from '#core/profile/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import { answered, dataEvents, isEmptyEvent, isRaw, isStream, isTorch, mayBeTextless, violationOf } from './observed.ts';
import { servesTrtllm } from './trtllm-serve.ts';
import type { Law } from './types.ts';

const broken = violationOf('no-empty-event');

/** A server that holds back what may become a stop string sends an event for every token all the same. */
function mayHoldBack(t: Transcript, profile: ReleaseProfile): boolean {
  const asked = (t.case.request.limits.stopWords ?? []).length > 0;
  return asked && servesTrtllm(t.case.route, profile) && profile.models.torch.streamHoldsBackStopStrings.value;
}

export const noEmptyEvent: Law = {
  id: 'no-empty-event',
  statement: 'Every event of a stream brings something new, except the one that ends an answer at EOS.',
  routes: 'all',
  // What of a stop string is taken back or held back leaves events without text.
  applies: (t, { truth, profile }) =>
    answered(t) &&
    isStream(t) &&
    (isRaw(t) || truth !== undefined) &&
    !(isTorch(t) && truth?.finish === 'stop-words') &&
    !mayHoldBack(t, profile),
  check(t, { truth, tokenizer, profile }) {
    const data = dataEvents(t);
    const empty = data.filter((event) => isEmptyEvent(t, event));
    const first = empty[0];
    if (first === undefined) return [];
    const last = data.at(-1);
    // Without the accepted answer an empty last response is taken for EOS; eos-ending and length-ending know better.
    // trtllm-serve ends with one where it cut a stop phrase out, too.
    const atEnd = truth === undefined || truth.finish === 'eos' || (truth.finish === 'stop-words' && servesTrtllm(t.case.route, profile));
    if (isRaw(t) || truth === undefined) {
      const wrong = empty.find((event) => event !== last || !atEnd);
      return wrong === undefined ? [] : [broken('no-ids', `response ${wrong} of ${t.events} carries no ids`, { event: wrong })];
    }
    const textless = mayBeTextless(tokenizer, truth);
    const expected = truth.ids.length + (atEnd ? 1 : 0);
    if (data.length === expected) {
      const wrong = data.findIndex((event, k) => isEmptyEvent(t, event) && textless[k] === false);
      return wrong < 0
        ? []
        : [
            broken('no-text', `event ${data[wrong]} carries no text, token ${wrong} has some`, {
              event: data[wrong] as number,
              token: wrong,
            }),
          ];
    }
    // Several tokens may share an event: then only the number of empty ones can be judged.
    const allowed = textless.filter(Boolean).length + (atEnd ? 1 : 0);
    return empty.length <= allowed
      ? []
      : [broken('no-text', `${empty.length} events carry no text, at most ${allowed} may`, { event: first })];
  },
};
