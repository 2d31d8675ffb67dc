import {
  ACCEPTED_MEANS_APPLIED,
  DROPPED_FIELDS,
  type Extra,
  type FieldProbe,
  IGNORED_PARAMETERS,
  ignored,
  type InertProbe,
  LENGTH,
  type PairProbe,
  type Probe,
  rawPart,
  type RefusalProbe,
  type Reply,
  type Subject,
  surfaceOf,
  spells,
} from '#checks/surface/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import type { RouteId } from '#core/request/index.ts';
import type { Findings } from './findings.ts';
import { runDraws } from './run-draws.ts';
import { runSeeds } from './run-seeds.ts';
import { askExtra, askGreedy, askMembers, type Work } from './work.ts';

const LAW = ACCEPTED_MEANS_APPLIED;
const NOBODY = 'none of the prompts that were drawn can show it';

/** Asks a probe on a route; nothing where the route has no such input. */
export async function runProbe(work: Work, probe: Probe, route: RouteId, findings: Findings): Promise<void> {
  switch (probe.kind) {
    case 'pair':
      return pair(work, probe, route, findings);
    case 'draw':
      return runDraws(work, probe, route, findings);
    case 'seed':
      return runSeeds(work, probe, route, findings);
    case 'inert':
      return inert(work, probe, route, findings);
    case 'refusal':
      return refusals(work, probe, route, findings);
    case 'field':
      return fields(work, probe, route, findings);
  }
}

async function pair(work: Work, probe: PairProbe, route: RouteId, findings: Findings): Promise<void> {
  if (!spells(surfaceOf(route, work.profile), probe.words, work.profile.models) || probe.when?.(work.profile) === false) return;
  if (probe.severalResponses && !work.lab.parts.decoupled) return findings.note(`${probe.id} needs the decoupled policy`);
  const lacks = work.lab.missingOutput(route, probe.outputs ?? []);
  if (lacks !== undefined) return findings.note(`${probe.id} cannot be seen on ${route}: the ensemble has no output ${lacks}`);
  const most = route === 'raw' || probe.oneIsEnough ? (probe.subjects ?? 1) : 1;
  const subjects = await work.subjects.pick(route, most, probe.id, (s) => probe.asks(s, work) !== undefined);
  if (subjects.length === 0) findings.vacuous(LAW, probe.id, route, NOBODY);
  const gap = IGNORED_PARAMETERS.find((g) => g.routes.includes(route) && g.probes.includes(probe.id) && g.listed(work.profile));
  const wrong: { readonly subject: Subject; readonly found: Found }[] = [];
  for (const subject of subjects) {
    const found = await show(work, probe, route, subject);
    if (probe.oneIsEnough !== true || found === undefined || subject === subjects.at(-1)) findings.exercised();
    if (gap !== undefined) findings.gap(gap, found?.code === 'ignored');
    else if (found !== undefined) wrong.push({ subject, found });
    else if (probe.oneIsEnough) return;
  }
  // Of several that all failed where one would have been enough, one says it.
  for (const { subject, found } of probe.oneIsEnough ? wrong.slice(-1) : wrong)
    findings.fail(LAW, found.code, probe.id, found.text, route, subject);
}

interface Found {
  readonly code: 'ignored' | 'wrong' | 'refused';
  readonly text: string;
}

async function show(work: Work, probe: PairProbe, route: RouteId, subject: Subject): Promise<Found | undefined> {
  const replies: Record<string, Reply> = {};
  const raw: Record<string, Reply> = {};
  for (const [name, words] of Object.entries(probe.asks(subject, work)!)) {
    const reply = await askGreedy(work, route, subject, words);
    replies[name] = reply;
    raw[name] = route === 'raw' ? reply : await askGreedy(work, 'raw', subject, rawPart(words, work));
    if (reply.refusal !== undefined) return { code: 'refused', text: `${name} the parameter: ${reply.refusal}` };
  }
  const shown = { ...work, route, subject, replies, raw };
  const text = probe.shows(shown);
  return text === undefined ? undefined : { code: ignored(shown) ? 'ignored' : 'wrong', text };
}

async function inert(work: Work, probe: InertProbe, route: RouteId, findings: Findings): Promise<void> {
  for (const extra of probe.inputs[surfaceOf(route, work.profile)] ?? []) {
    if (extra.on !== undefined && extra.on !== route) continue;
    const [subject] = await work.subjects.pick(route, 1, 'answered', (s) => s.greedy.length > 0);
    if (subject === undefined) return findings.vacuous(LAW, probe.id, route, NOBODY);
    const without = await askGreedy(work, route, subject, { maxTokens: LENGTH });
    const given = await askExtra(work, route, subject, { maxTokens: LENGTH }, extra);
    findings.exercised();
    const where = `${probe.id}, ${extra.name},`;
    if (given.refusal !== undefined) findings.fail(LAW, 'refused', where, given.refusal, route, subject);
    else if (differ(without, given) && work.exact) findings.fail(LAW, 'not-inert', where, 'it changes the answer', route, subject);
  }
}

async function refusals(work: Work, probe: RefusalProbe, route: RouteId, findings: Findings): Promise<void> {
  for (const extra of probe.inputs[surfaceOf(route, work.profile)] ?? []) {
    if (!carries(route, extra, work.profile)) continue;
    const [subject] = await work.subjects.pick(route, 1, 'answered', (s) => s.greedy.length > 0);
    if (subject === undefined) return findings.vacuous(LAW, probe.id, route, NOBODY);
    const { refusal } = await askExtra(work, route, subject, { maxTokens: 2 }, extra);
    // An engine of which nothing is known may have the feature, and its effect cannot be seen from here.
    if (refusal === undefined && !work.lab.parts.owned) {
      findings.note(`${extra.name} is accepted on ${route}`);
      continue;
    }
    findings.exercised();
    const where = `${probe.id}, ${extra.name},`;
    if (drops(work, extra)) findings.gap(DROPPED_FIELDS, refusal === undefined);
    else if (refusal === undefined) findings.fail(LAW, 'accepted', where, 'it is accepted, and nothing here can act on it', route, subject);
    else if (work.lab.parts.owned && !extra.says.test(refusal))
      findings.fail(LAW, 'other-refusal', where, `expected a refusal like ${extra.says}, got ${refusal}`, route, subject);
  }
}

async function fields(work: Work, probe: FieldProbe, route: RouteId, findings: Findings): Promise<void> {
  const inputs = probe.inputs[surfaceOf(route, work.profile)] ?? [];
  for (const input of inputs.filter(({ on }) => on === undefined || on === route)) {
    const [subject] = await work.subjects.pick(route, 1, probe.id, (s) => probe.fits(s, work));
    if (subject === undefined) return findings.vacuous(LAW, probe.id, route, NOBODY);
    const { name, value, beside } = input;
    const extra: Extra = { name, value: typeof value === 'function' ? { json: value(subject) } : value };
    const members = beside?.(subject, work);
    const without = await askMembers(work, route, subject, members ?? {});
    const given = await askExtra(work, route, subject, { maxTokens: LENGTH }, extra, members);
    findings.exercised();
    const where = `${probe.id}, ${name},`;
    const serve = work.profile.openai.trtllmServe !== undefined;
    // NVIDIA's front end may refuse a field that it has; what trtllm-serve refuses is known.
    if (without.refusal !== undefined) findings.fail(LAW, 'refused', where, `without it: ${without.refusal}`, route, subject);
    else if (serve && (given.refusal !== undefined) !== (input.refused?.(work.profile) === true))
      findings.fail(LAW, 'refused', where, given.refusal ?? 'it is accepted, and the release refuses it', route, subject);
    const dropped = given.refusal === undefined && !differ(without, given);
    if (drops(work, extra)) findings.gap(DROPPED_FIELDS, dropped);
    else if (dropped) findings.fail(LAW, 'ignored', where, 'it is accepted, and the answer is the same without it', route, subject);
  }
}

/** The release is known to accept the field and to do nothing with it. */
function drops({ profile }: Work, { name, value }: Extra): boolean {
  return 'json' in value && profile.openai.droppedFields.value.includes(name);
}

function differ(a: Reply, b: Reply): boolean {
  const said = (reply: Reply) => JSON.stringify([reply.answers, reply.outputs.get('num_input_tokens'), reply.outputs.get('logprobs')]);
  return said(a) !== said(b);
}

/** JSON has no half-precision numbers, and a flat list fits more than one dimension of a row only in some releases. */
function carries(route: RouteId, { value }: Extra, { core }: ReleaseProfile): boolean {
  if (route !== 'generate' || 'json' in value) return true;
  return value.datatype !== 'FP16' && (value.shape.length <= 2 || core.generateFlatArrayFitsBatch.value);
}
