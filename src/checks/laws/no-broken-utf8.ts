import { TEXT_ROUTES, isStream, quote, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('no-broken-utf8');
const REPLACEMENT = '\ufffd';

/** A stop in the middle of a character leaves U+FFFD in the whole decode too: there it is right. */
export const noBrokenUtf8: Law = {
  id: 'no-broken-utf8',
  statement: 'A stream shows U+FFFD only where the decode of the whole answer has it.',
  routes: TEXT_ROUTES,
  applies: (t, { truth }) => isStream(t) && t.text !== '' && truth !== undefined,
  check(t, { truth }) {
    for (let at = t.text.indexOf(REPLACEMENT); at >= 0; at = t.text.indexOf(REPLACEMENT, at + 1)) {
      if (truth?.text[at] !== REPLACEMENT) {
        return [
          broken('replacement-character', `U+FFFD at character ${at} of the stream, ${quote(truth?.text ?? '', at)} in the whole`, {
            char: at,
          }),
        ];
      }
    }
    return [];
  },
};
