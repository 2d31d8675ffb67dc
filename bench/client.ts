/** What receiving and checking a streamed token costs the client, against receiving alone. */
import { LAWS, answerOf, judge, type LawContext } from '#checks/laws/index.ts';
import { CallRecorder } from '#checks/recording/index.ts';
import { rawRequest } from '#checks/routes/raw-request.ts';
import { ROUTES, type RouteContext, type RunOptions } from '#checks/routes/index.ts';
import type { Transcript } from '#core/transcript/index.ts';
import { connect } from '#wire/clients/index.ts';
import { DOCUMENTED, LEANEST, bareClient, bareRequest } from './bare-client.ts';
import { alternate, ownCpuUs, ratios, type Row } from './rounds.ts';
import { ANSWER_IDS, IN_FLIGHT, REQUESTS, inLanes, contextOf, startServer, streamCase } from './server-under-load.ts';

const PROMPTS = 8;

/**
 * Each side streams the same answers from the same server, eight at a time. One side is the route `raw` with this
 * project's client, the transcript, and every law that applies to one stream, with the accepted answer, an earlier
 * transcript and another request's word to compare with. The other counts messages.
 */
export async function clientBench(): Promise<Row[]> {
  await using target = await startServer('scripted');
  await using clients = connect(target.endpoints);
  const context = contextOf(clients);
  const documented = bareClient(target.endpoints.grpc, DOCUMENTED);
  const leanest = bareClient(target.endpoints.grpc, LEANEST);
  try {
    const rows: Row[] = [];
    for (const logProbs of [false, true]) rows.push(...(await compare(context, { deadlineMs: 60_000, logProbs }, { documented, leanest })));
    return rows;
  } finally {
    documented.close();
    leanest.close();
  }
}

type Bare = ReturnType<typeof bareClient>;

async function compare(
  context: RouteContext,
  options: RunOptions,
  { documented, leanest }: Readonly<Record<'documented' | 'leanest', Bare>>,
): Promise<Row[]> {
  const cases = Array.from({ length: PROMPTS }, (_, i) => streamCase(i));
  const contexts: LawContext[] = [];
  for (const c of cases) {
    const reference = await ROUTES.raw.run(c, context, options);
    contexts.push({
      tokenizer: context.tokenizer,
      profile: context.profile,
      reference,
      truth: answerOf(reference, context.tokenizer),
      foreignMarks: ['zzyzx'],
    });
  }
  const requests = cases.map((c, i) =>
    bareRequest(rawRequest(c, `bare-${i}`, Int32Array.from(c.request.prompt.kind === 'ids' ? c.request.prompt.ids : []), context, options)),
  );
  const run = (i: number, more: Partial<RunOptions> = {}): Promise<Transcript> =>
    ROUTES.raw.run(cases[i % PROMPTS]!, context, { ...options, ...more });

  const perMessage = async (work: (i: number) => Promise<number>): Promise<number> => {
    let messages = 0;
    const us = await ownCpuUs(async () => (messages = await inLanes(IN_FLIGHT, REQUESTS, work)));
    if (messages !== REQUESTS * ANSWER_IDS) throw new Error(`${messages} messages arrived, ${REQUESTS * ANSWER_IDS} were expected`);
    return us / messages;
  };
  let exercised = 0;
  const us = await alternate({
    checked: () =>
      perMessage(async (i) => {
        const t = await run(i);
        const judgement = judge([t], LAWS, contexts[i % PROMPTS]!);
        if (judgement.violations.length > 0) throw new Error(judgement.violations[0]!.violation.text);
        exercised = [...judgement.exercised.values()].filter((n) => n > 0).length;
        return t.events;
      }),
    received: () => perMessage(async (i) => (await run(i)).events),
    kept: () => perMessage(async (i) => (await run(i, { tap: new CallRecorder().tap })).events),
    documented: () => perMessage((i) => documented.drain(requests[i % PROMPTS]!)),
    leanest: () => perMessage((i) => leanest.drain(requests[i % PROMPTS]!)),
  });
  const what = options.logProbs ? 'with log-probabilities' : 'ids and counts';
  return [
    {
      measure: `client: received and checked by ${exercised} laws / bare loop, ${what}`,
      values: ratios(us.checked, us.documented),
      unit: '×',
      goal: { atMost: 1.15 },
    },
    { measure: `client: received, no laws / bare loop, ${what}`, values: ratios(us.received, us.documented), unit: '×' },
    { measure: `client: received and kept for a fixture / received, ${what}`, values: ratios(us.kept, us.received), unit: '×' },
    { measure: `client: received and checked / bare loop without defaults, ${what}`, values: ratios(us.checked, us.leanest), unit: '×' },
    { measure: `client: received and checked, CPU per message, ${what}`, values: us.checked, unit: 'µs' },
    { measure: `client: bare loop, CPU per message, ${what}`, values: us.documented, unit: 'µs' },
  ];
}
