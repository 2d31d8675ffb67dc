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

const answer = z.object({
  name: z.string(),
  of: z.enum(['tokens', 'events']).describe('What a piece is: a token, or what one event brought where ids cannot be observed.'),
  first: z.number().int().describe('Index of the first piece shown, in the whole answer.'),
  total: z.number().int().describe('Tokens or events of the whole answer; one event may stand as two pieces where the answers part.'),
  at: z.number().int().describe('Index into `pieces` where the answers part.'),
  pieces: z.array(
    z.object({
      text: z.string(),
      id: z.number().int().optional(),
      bytes: z.string().optional().describe('In hexadecimal, of a token that is a part of a character; its text is empty then.'),
      margin: z.number().optional().describe('Top-1 minus top-2 log-probability of the step that gave it.'),
    }),
  ),
});

const exchange = z.object({
  name: z.string(),
  events: z.array(
    z.object({
      atMs: z.number().describe('Arrival since the request was sent.'),
      flags: z
        .array(z.string())
        .describe('Of `data`, `final`, `error`, `finish`, `done`, `usage`, `role`; `cancel`: after it the client asked for a stop.'),
      ids: z.array(z.number().int()).optional().describe('The first 12 that it brought.'),
      text: z.string().optional(),
    }),
  ),
  gapBefore: z.number().int().optional().describe('Index into `events` before which some are left out.'),
  total: z.number().int().describe('Events of the whole exchange.'),
  ending: z.string().describe('`complete`, `cancelled`, `broken` or `deadline`.'),
  endedMs: z.number(),
  finishReasons: z.array(z.string()),
  errors: z.array(z.object({ code: z.string(), message: z.string() })),
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
  answers: z.array(answer).optional().describe('Both answers piece by piece, from 40 before the place where they part to 40 behind it.'),
  exchanges: z.array(exchange).optional().describe('How the answer came, event by event, and the one that it should equal.'),
  prompts: z
    .array(z.object({ name: z.string(), ids: z.array(z.number().int()), tokens: z.array(z.string()), total: z.number().int() }))
    .optional()
    .describe('The prompt as the tokenizer makes ids of it, and as the engine got it where that is known to differ.'),
  fixture: z.string().optional().describe('File with the recorded exchange (docs/fixtures.md), from the working directory.'),
  curl: z
    .string()
    .optional()
    .describe('A command that asks the same by hand; of a server that the run started at the default ports of Triton.'),
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
  cases: z
    .array(
      z.object({
        request: z.string(),
        route: z.string(),
        mode: z.string(),
        verdict,
        atOnce: z.number().int().describe('Requests in flight while this one was, itself included.'),
        tokens: z.number().int().optional().describe('Route raw: tokens up to the first divergence, or all of them.'),
      }),
    )
    .optional()
    .describe('Of claims that compare answers: each of them.'),
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
