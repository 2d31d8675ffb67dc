/** The JSON report (`--json FILE`), version 1. Fields may be added within a version; none is removed or changed. */
import { z } from 'zod';

const strings = z.record(z.string(), z.string());
const verdict = z.enum(['identical', 'tie', 'near-tie', 'unjudged', 'unexplained', 'structural', 'contaminated']);

const side = z.object({
  name: z.string().describe('Which answer this is, such as the route or "golden".'),
  ids: z.array(z.number().int()).describe('Token ids around the difference; empty where ids cannot be observed.'),
  tokens: z.array(z.string()).describe("The tokens' spellings, in step with `ids`."),
  text: z.string().describe('The text of the answer.'),
  at: z.number().int().describe('Index into `tokens` where the sides part.'),
  position: z.number().int().describe('The same place in the whole answer: a token where ids are served, a character elsewhere.'),
  margin: z.number().optional().describe('Top-1 minus top-2 log-probability at that place, where it was served.'),
});

const failure = z.object({
  law: z.string().describe('Id of the broken law; empty when the claim itself could not be judged.'),
  code: z.string().describe('Which way it was broken; stable.'),
  text: z.string().describe('What was expected, what was seen, where.'),
  verdict: verdict.optional(),
  case: z
    .object({ label: z.string(), route: z.string(), mode: z.string(), request: z.string(), prompt: z.string() })
    .optional()
    .describe('The case that failed.'),
  sides: z.array(side).optional().describe('Both answers around the first difference.'),
  replay: z.string().optional().describe('A command that repeats exactly this case.'),
});

const claim = z.object({
  id: z.string(),
  suite: z.string(),
  statement: z.string().describe('What is claimed, in one sentence.'),
  file: z.string().describe('Where the claim is written.'),
  routes: z.array(z.string()),
  laws: z.array(z.string()),
  status: z.enum(['held', 'failed', 'not-served']),
  verdict: verdict.optional().describe('The worst verdict among the cases.'),
  evidence: z.object({
    n: z.number().int().describe('Cases that exercised the claim.'),
    k: z.number().int().describe('Of these, how many differed or broke it; with `bound`, also differences that the policy forgives.'),
    bound: z.number().optional().describe('Upper 95 % bound on the rate of differences; absent for structural laws.'),
    unit: z.string().describe('What was counted.'),
    notes: z.array(z.string()),
  }),
  failures: z.array(failure),
  gaps: z.array(z.object({ id: z.string(), law: z.string(), thread: z.string(), met: z.number().int() })),
  gapsGone: z.array(z.string()),
  durationMs: z.number(),
});

export const JSON_REPORT_SCHEMA = z.object({
  schema: z.literal(1).describe('Version of this format.'),
  startedAt: z.string().describe('ISO 8601, UTC.'),
  durationMs: z.number(),
  outcome: z
    .enum(['held', 'failed', 'broken', 'interrupted'])
    .describe('`broken`: nothing was judged, since a suite does not load, or since the target serves none of the claims.'),
  header: z
    .object({
      target: z.string(),
      endpoints: strings,
      identity: strings,
      profile: z.string(),
      seed: z.number(),
      faults: z.array(z.string()),
      goldens: z.string(),
    })
    .optional()
    .describe('What was under test; absent when no target was started.'),
  identityDifferences: z
    .array(z.object({ key: z.string(), golden: z.string(), target: z.string() }))
    .describe('What could change an answer and is not as it was when the goldens were recorded.'),
  counts: z.object({
    held: z.number().int(),
    failed: z.number().int(),
    notServed: z.number().int(),
    gapsMet: z.number().int(),
    unitPassed: z.number().int(),
    unitFailed: z.number().int(),
  }),
  claims: z.array(claim),
  gaps: z
    .array(z.object({ id: z.string(), law: z.string(), thread: z.string(), met: z.number().int() }))
    .describe('Known gaps met, over all claims.'),
  gapsGone: z.array(z.object({ gap: z.string(), claim: z.string() })).describe('Known gaps that were exercised and did not show.'),
  units: z.array(
    z.object({
      project: z.string(),
      passed: z.number().int(),
      failed: z.number().int(),
      skipped: z.number().int(),
      durationMs: z.number(),
      failures: z.array(z.object({ name: z.string(), file: z.string(), message: z.string() })),
    }),
  ),
  errors: z.array(z.string()).describe('Errors that belong to no test.'),
});

export type JsonReport = z.infer<typeof JSON_REPORT_SCHEMA>;
