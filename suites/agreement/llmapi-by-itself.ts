import type { Claim, Outcome } from '#checks/lab/claim.ts';
import { type Judged, failureOf, judged } from '#checks/lab/judged.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { notServed } from '#checks/lab/outcome.ts';
import { requestOf } from '#checks/lab/plan.ts';
import type { Failure } from '#checks/lab/result.ts';
import { firstTextDifference, law } from '#checks/laws/index.ts';
import type { Transcript } from '#core/transcript/index.ts';

const LAWS = ['answers-at-all', 'framing', 'request-id-echoed', 'final-flag-once', 'finish-reason-true', 'no-control-text', 'same-text'];

/** What the model can be held to where no engine stands beside it to say what is right, as in upstream's own repository. */
export const llmapiByItself: Claim = {
  id: 'llmapi-by-itself',
  suite: 'agreement',
  statement: 'A stream of llmapi ends with the text of the whole answer, and a whole answer comes again as it was.',
  routes: ['llmapi'],
  laws: [...LAWS, 'texts-only-grow', 'deltas-equal-whole'],
  async run(lab): Promise<Outcome> {
    const lacks = lab.parts.notServed.get('llmapi');
    if (lacks !== undefined) return notServed(lacks);
    const failures: Failure[] = [];
    const prompts = lab.plan.draw('agreement', lab.count(12));
    const cases = await inParallel(prompts, 4, async (prompt): Promise<Judged[]> => {
      const request = requestOf(prompt, { maxTokens: 40 });
      const reference = await lab.observe(request, 'llmapi', 'unary');
      const again = await lab.run({ request, route: 'llmapi', mode: 'unary', repeat: 1 });
      if (!lab.parts.decoupled) return [{ transcript: again, reference }];
      const stream = await lab.observe(request, 'llmapi', 'stream');
      if (reference.errors.length === 0 && stream.errors.length === 0) failures.push(...parted(lab, stream, reference));
      return [{ transcript: again, reference }, { transcript: stream }];
    });
    const laws = [...LAWS, ...(lab.parts.decoupled ? ['texts-only-grow'] : [])].map(law);
    const outcome = judged(lab, llmapiByItself.id, cases.flat(), laws, 'answers');
    return { ...outcome, k: Math.min(outcome.n, outcome.k + failures.length), failures: [...failures, ...outcome.failures] };
  },
};

/** Where the release loses a character that the end cut off (gap cut-character-lost), the stream may lack it. */
function parted(lab: Lab, stream: Transcript, whole: Transcript): Failure[] {
  const { streamShowsCutCharacter } = lab.profile.models.torch;
  const lost = whole.text.replace(/\ufffd+$/u, '');
  const char = firstTextDifference(stream.text, whole.text);
  if (char < 0 || (!streamShowsCutCharacter.value && stream.text === lost)) return [];
  const text = `at character ${char} the stream has ${JSON.stringify(stream.text.slice(char))}, the whole answer ${JSON.stringify(whole.text.slice(char))}`;
  return [failureOf(lab, llmapiByItself.id, stream, { law: 'deltas-equal-whole', code: 'text', text, at: { char } })];
}
