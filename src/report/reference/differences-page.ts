/** docs/differences.md, from the list that the code keeps. */
import type { Difference } from '#embedded/differences.ts';

export function differencesPage(differences: readonly Difference[]): string {
  return [
    '# Where the embedded server differs from a real one',
    '',
    'The conformance tables (`suites/protocol/`) run on both and agree; 409 recorded HTTP exchanges of a real 2.51 (`src/embedded/http/real-2-51.cases.json`) and 376 requests to twelve releases of the OpenAI front end (`src/embedded/openai/real-releases.cases.json`: answers, and the tensors that the model got) are replayed byte for byte. What is known to differ, and stays so, is listed here with its reason. This page is made from `src/embedded/differences.ts` by `npm run docs`.',
    '',
    '| where | a real server | the embedded one | why |',
    '|---|---|---|---|',
    ...differences.map((d) => `| ${d.where} | ${d.real} | ${d.embedded} | ${d.reason} |`),
    '',
  ].join('\n');
}
