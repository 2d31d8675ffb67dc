import { besideEnsemble, BLS_ROUTES, dataEvents, firstTextDifference, isStream, quote, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('ends-alike');

/** Code of the one violation that a look for stop words in the text can cause. */
export const ENDS_SOONER = 'ends-sooner';

/** How a stream is cut says how long the engine was listened to, whatever its text looks like. */
export const endsAlike: Law = {
  id: 'ends-alike',
  statement: 'A request with stop words ends in the same place through the BLS as through the ensemble, streamed or not.',
  routes: BLS_ROUTES,
  applies: (t, { reference }) => besideEnsemble(t, reference) && (t.case.request.limits.stopWords ?? []).some((word) => word !== ''),
  check(t, { reference }) {
    if (reference === undefined) return [];
    if (isStream(t)) {
      const own = dataEvents(t).length;
      const others = dataEvents(reference).length;
      if (own === others) return [];
      const code = own < others ? ENDS_SOONER : 'ends-later';
      return [broken(code, `${own} events of the BLS with ${quote(t.text, t.text.length)} at their end, ${others} of the ensemble`)];
    }
    const char = firstTextDifference(t.text, reference.text);
    if (char < 0) return [];
    const code = reference.text.startsWith(t.text) ? ENDS_SOONER : t.text.startsWith(reference.text) ? 'ends-later' : 'text';
    return [broken(code, `at character ${char} the BLS has ${quote(t.text, char)}, the ensemble ${quote(reference.text, char)}`, { char })];
  },
};
