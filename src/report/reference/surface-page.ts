/** docs/surface.md, from the probes, the configurations of docker/models, the schemas of the front end and the release profiles. */
import { join } from 'node:path';
import { type Cell, cellOf, type Evidence, NOT_ASKED, PROBED_ROUTES, askedInputs, surfaceOf, type Surface } from '#checks/surface/index.ts';
import { profileOf, RELEASES, type ReleaseProfile } from '#core/profile/index.ts';
import { REQUEST_FIELDS } from '#embedded/openai/index.ts';
import { requestFields } from '#embedded/trtllm-serve/index.ts';
import { readModelConfig } from '#wire/protocol/pbtxt.ts';

const MODELS = ['tensorrt_llm', 'ensemble', 'tensorrt_llm_bls', 'llmapi'] as const;

interface Column {
  readonly head: string;
  readonly profile: ReleaseProfile;
}

/** @param root of the checkout */
export function surfacePage(root: string): string {
  const models = [
    ...RELEASES.models.map(({ id }) => ({ head: id, profile: profileOf(`models=${id}`) })),
    { head: 'ideal', profile: profileOf('ideal') },
  ];
  const frontEnds = [
    ...RELEASES.openai.filter((r) => r.trtllmServe === undefined).map(({ id }) => ({ head: id, profile: profileOf(`openai=${id}`) })),
    { head: 'ideal', profile: profileOf('ideal') },
  ];
  const serves = [
    ...RELEASES.openai.flatMap(({ id, trtllmServe }) => (trtllmServe === undefined ? [] : withModels(id))),
    { head: 'ideal', profile: profileOf(`ideal,openai=${RELEASES.openai.at(-1)!.id}`) },
  ];
  return [
    '# The surface: what every input does, and which claim shows it',
    '',
    'One table for each model, for each endpoint of the OpenAI front end and for trtllm-serve, one row for each input, one column for each group of releases that do alike. This page is made by `npm run docs` from the probes (`src/checks/surface/`), the configurations of `docker/models`, the schemas of the front end and the release profiles.',
    '',
    '| word | what it says |',
    '|---|---|',
    '| supported | its effect is shown by a claim |',
    '| no effect | accepted; by its contract nothing can be seen of it |',
    '| refused | refused by name, with an error |',
    '| **gap** | a known gap: accepted and without its effect, or with another |',
    '| – | the release does not have it |',
    '| not asked | nothing is known |',
    '',
    'Two words in one cell: it depends on the value. The engine behind is the one of this project (embedded, or the NumPy twin on a real tritonserver): what it refuses, an engine that was built with the feature may serve. The last column names claims, which `npx lockstep check NAME` asks, and their probes.',
    ...MODELS.flatMap((surface) => section(surface, inputsOf(root, surface), models)),
    ...section('completions', REQUEST_FIELDS.completions, frontEnds),
    ...section('chat', REQUEST_FIELDS.chat, frontEnds),
    ...section('trtllm-serve', serveFields(), serves),
    '',
    'trtllm-serve has one vocabulary on both endpoints, and some fields on one of them alone.',
    '',
  ].join('\n');
}

/** Of every release, each field once. */
function serveFields(): readonly string[] {
  return [...new Set(RELEASES.openai.flatMap(({ trtllmServe }) => (trtllmServe === undefined ? [] : requestFields(trtllmServe))))];
}

/** By the sampler that runs behind it, which decides what becomes of penalties. */
function withModels(openai: string): Column[] {
  return ['1.1', '1.2'].map((models) => ({
    head: `${openai.replace('trtllm-serve-', '')}, models ${models}`,
    profile: profileOf(`models=${models},openai=${openai}`),
  }));
}

function inputsOf(root: string, model: (typeof MODELS)[number]): readonly string[] {
  return readModelConfig(join(root, 'docker/models', model, 'config.pbtxt')).input.map(({ name }) => name);
}

const TITLES: Readonly<Record<Surface, string>> = {
  tensorrt_llm: 'tensorrt_llm',
  ensemble: 'ensemble',
  tensorrt_llm_bls: 'tensorrt_llm_bls',
  llmapi: 'llmapi',
  completions: '/v1/completions',
  chat: '/v1/chat/completions',
  'trtllm-serve': 'trtllm-serve',
};

function section(surface: Surface, declared: readonly string[], columns: readonly Column[]): string[] {
  const routes = PROBED_ROUTES.filter((route) => columns.some(({ profile }) => surfaceOf(route, profile) === surface));
  const spelled = columns.flatMap(({ profile }) => askedInputs(surface, profile));
  const inputs = [...new Set([...declared, ...spelled])];
  const rows = inputs.map((input) => ({ input, cells: columns.map(({ profile }) => cellOf(surface, input, profile)) }));
  const groups = alike(columns.map((_, i) => rows.map(({ cells }) => show(surface, '', cells[i]!)).join('\n')));
  const heads = groups.map((group) => {
    const names = group.map((i) => columns[i]!.head);
    return names.length > 1 ? `${names[0]} … ${names.at(-1)}` : names[0];
  });
  return [
    '',
    `## ${TITLES[surface]}`,
    '',
    `Asked by the ${routes.length > 1 ? 'routes' : 'route'} ${routes.map((r) => `\`${r}\``).join(', ')}.`,
    '',
    `| input | ${heads.join(' | ')} | shown by |`,
    `|---|${heads.map(() => '---|').join('')}---|`,
    ...rows.map(({ input, cells }) => {
      const shown = groups.map(([i]) => show(surface, input, cells[i!]!));
      const evidence = named(cells.flatMap((cell) => cell.evidence));
      return `| \`${input}\` | ${shown.join(' | ')} | ${evidence} |`;
    }),
  ];
}

/** Each claim once, with its probes. */
function named(evidence: readonly Evidence[]): string {
  return [...Map.groupBy(evidence, ({ claim }) => claim)]
    .map(([claim, all]) => {
      const probes = [...new Set(all.flatMap(({ probe }) => probe ?? []))];
      return `\`${claim}\`${probes.length === 0 ? '' : ` (${probes.join(', ')})`}`;
    })
    .join(', ');
}

/** Neighbours that are equal, together. */
function alike(texts: readonly string[]): number[][] {
  const groups: number[][] = [];
  for (const [i, text] of texts.entries()) {
    const last = groups.at(-1);
    if (last !== undefined && texts[last[0]!] === text) last.push(i);
    else groups.push([i]);
  }
  return groups;
}

function show(surface: Surface, input: string, { statuses, gaps }: Cell): string {
  const reason = NOT_ASKED[surface]?.[input];
  if (reason !== undefined) return `not asked: ${reason}`;
  return statuses
    .map((status) => (status === 'unknown' ? '–' : status === 'gap' ? `**gap** ${gaps.map((gap) => `\`${gap}\``).join(', ')}` : status))
    .join(', ');
}
