import { textOfEvent, type Transcript } from '#core/transcript/index.ts';
import { besideEnsemble, BLS_ROUTES, dataEvents, firstTextDifference, isStream, quote, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('bls-is-ensemble');

/**
 * Both call the same three models, so neither a parameter that is lost on the way nor another way to make text of ids has
 * an excuse. A stream of accumulated tokens is cut differently, and is held to the true text elsewhere; stop words are the
 * business of `ends-alike`.
 */
export const blsIsEnsemble: Law = {
  id: 'bls-is-ensemble',
  statement: 'The same request gets the same text from the BLS as from the ensemble, streamed in the same parts.',
  routes: BLS_ROUTES,
  applies: (t, { reference }) =>
    besideEnsemble(t, reference) &&
    !(isStream(t) && t.case.route === 'bls-accumulate') &&
    (t.case.request.limits.stopWords ?? []).length === 0,
  check(t, { reference }) {
    if (reference === undefined) return [];
    const char = firstTextDifference(t.text, reference.text);
    if (char >= 0)
      return [
        broken('text', `at character ${char} the BLS has ${quote(t.text, char)}, the ensemble ${quote(reference.text, char)}`, { char }),
      ];
    const own = parts(t);
    const others = parts(reference);
    const part = own.findIndex((text, i) => text !== others[i]);
    if (part < 0 && own.length === others.length) return [];
    return [
      broken('parts', `the same text comes in ${own.length} parts, from the ensemble in ${others.length}; the first other is ${part}`),
    ];
  },
};

function parts(t: Transcript): string[] {
  return dataEvents(t).map((event) => textOfEvent(t, event));
}
