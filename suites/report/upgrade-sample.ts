import type { Upgrade } from '#report/upgrade/index.ts';

const identity = (triton: string) => ({ triton, weights: '1ac0dd1ddc97' });
const rates = (k: number, n: number) => ({ k, n, bound: 0.05, tokens: 900, perToken: 0.004 });
const answer = (text: string, ids: readonly number[]) => ({ text, ids, finish: 'eos' as const });

/** An upgrade in which each part of the page has something to show. */
export const UPGRADE: Upgrade = {
  schema: 1,
  kind: 'upgrade',
  at: '2026-01-02T03:04:05.000Z',
  verdict: 'REVIEW',
  findings: [
    { kind: 'contract-breaking', weight: 'REVIEW', text: '1 breaking change of the contract: short BYTES are refused with 400, not 500' },
    { kind: 'speed-not-shown', weight: 'note', text: 'time to first token × 0.9 (0.4 to 2): neither is shown' },
  ],
  identity: { differing: [{ key: 'triton', a: '2.46.0', b: '2.47.0' }], same: ['weights'], untold: [] },
  contract: {
    differences: (['breaking', 'behaviour', 'addition'] as const).map((kind) => ({
      id: `${kind}-status`,
      kind,
      fatal: false,
      title: `${kind}: short BYTES are answered with 400, not 500`,
      who: 'clients that retry on 5xx',
      changes: [{ probe: 'edge_echo/http/short-data', fact: 'status', before: '500', after: '400' }],
      exchanges: [
        { request: 'POST /v2/models/edge_echo/infer', before: '500 {"error":"unexpected"}', after: '400 {"error":"<b>short</b>"}' },
      ],
      known: ['docs/observed.md: 2.47'],
    })),
    compared: 400,
    varying: 12,
    notCompared: [{ id: 'metrics/nv_gpu', why: 'no GPU' }],
  },
  answers: {
    from: rates(0, 48),
    to: rates(0, 48),
    across: rates(1, 236),
    logRank: { statistic: 0, p: 1 } as unknown as NonNullable<Upgrade['answers']>['logRank'],
    shift: { positions: 900, largest: 0.01, quantile99: 0.004, quantile99Bound: 0.005 },
    flipsAtLowMargins: 0.01,
    forced: { positions: 20, flips: 1, unexplained: 0, bound: 0.02 },
    counts: { identical: 235, tie: 0, 'near-tie': 1, unjudged: 0, unexplained: 0, structural: 0, contaminated: 0 },
    differences: [
      {
        request: 'choice-04',
        prompt: 'Tea or coffee?',
        verdict: 'near-tie',
        text: 'token 0 is " coffee", not " tea"; the margin is below twice the noise',
        before: answer(' tea', [433]),
        after: answer(' coffee', [510]),
        token: 0,
        marginBefore: 0.001,
        marginAfter: 0.002,
      },
    ],
    kinds: [{ kind: 'choice', k: 1, n: 24, q: 0.3 }],
    moved: false,
  },
  runs: {
    newlyBroken: [],
    mended: [{ id: 'protocol/grpc-infer-errors', statement: 'errors are as observed', text: '', laws: ['as-observed'] }],
    stillBroken: [],
    notServedAnyMore: [],
    newlyServed: [],
    gaps: { fixed: [], new: [], still: [{ id: 'models-1.x-split-characters', law: 'no-broken-utf8', thread: 'a/b#1' }] },
    judged: 94,
    held: 93,
    p: 1,
  },
  speed: [
    {
      what: 'time to first token',
      before: 3,
      after: 2.7,
      unit: 'ms',
      ratio: { median: 0.9, low: 0.4, high: 2 },
      requests: 12,
      verdict: 'not shown',
    },
  ],
  tests: [{ what: 'more claims got worse than better (McNemar)', p: 1 }],
  policy: {} as Upgrade['policy'],
  from: { name: 'process:2.46', recordedAt: '2026-01-02T03:00:00.000Z', identity: identity('2.46.0'), missing: [] },
  to: {
    name: 'process:2.47',
    recordedAt: '2026-01-02T03:02:00.000Z',
    identity: identity('2.47.0'),
    missing: [{ part: 'run', why: 'no claim was asked for' }],
  },
};
