/** What every input of every surface does under a release profile, and which claim shows it: the data of docs/surface.md. */
import type { ReleaseProfile } from '#core/profile/index.ts';
import { DROPPED_FIELDS, IGNORED_PARAMETERS, TEMPERATURE_ZERO_SAMPLES } from './gaps.ts';
import { GREEDY_ROWS } from './greedy.ts';
import type { Extra, Probe } from './probe.ts';
import { FAMILIES, type Family } from './probes/index.ts';
import { type Kind, type Surface, spellings, surfaceOf } from './spellings.ts';

export type Status =
  /** Its effect is shown. */
  | 'supported'
  /** Accepted, and by its contract nothing can be seen of it. */
  | 'no effect'
  /** Refused by name. */
  | 'refused'
  /** Accepted and without the effect that it should have, or with another: a known gap. */
  | 'gap'
  /** No release of the profile has it. */
  | 'unknown';

/** A claim, and the probe of it where it has several. */
export interface Evidence {
  readonly claim: string;
  readonly probe?: string;
}

export interface Cell {
  /** Several where it depends on the value. */
  readonly statuses: readonly Status[];
  readonly gaps: readonly string[];
  /** Empty where nothing shows it. */
  readonly evidence: readonly Evidence[];
}

interface Finding extends Evidence {
  readonly status: Status;
  readonly gap?: string;
}

/** Inputs that other claims than those of this suite rest on. */
const ELSEWHERE: Partial<Readonly<Record<Surface, Readonly<Record<string, readonly string[]>>>>> = {
  tensorrt_llm: {
    input_ids: ['raw-whole'],
    input_lengths: ['raw-whole', 'batch-of-prompts'],
    stop: ['cancel-by-stop-tensor'],
  },
  ensemble: { text_input: ['ensemble-equals-raw'] },
  tensorrt_llm_bls: { text_input: ['bls-equals-raw'] },
  llmapi: {
    text_input: ['llmapi-equals-raw'],
    streaming: ['llmapi-streams'],
    stop: ['stop-llmapi'],
    return_finish_reason: ['finish-reason'],
    return_stop_reason: ['llmapi-exchanges'],
    return_cumulative_logprob: ['llmapi-exchanges'],
    sampling_param_return_perf_metrics: ['llmapi-exchanges'],
    sampling_param_best_of: ['llmapi-exchanges'],
    sampling_param_stop: ['llmapi-streams'],
  },
  completions: {
    model: ['openai-front-end'],
    prompt: ['openai-completions-equals-raw'],
    stream_options: ['usage'],
  },
  'trtllm-serve': {
    model: ['openai-front-end'],
    prompt: ['openai-completions-equals-raw'],
    messages: ['openai-chat-equals-raw'],
    stream_options: ['usage'],
    stop: ['openai-stop-words'],
  },
  chat: {
    model: ['openai-front-end'],
    messages: ['openai-chat-equals-raw'],
    stream_options: ['usage'],
  },
};

/** Inputs that nobody asks for, and why. */
export const NOT_ASKED: Partial<Readonly<Record<Surface, Readonly<Record<string, string>>>>> = {
  tensorrt_llm_bls: {
    image_input: 'multimodal',
    image_bytes_input: 'multimodal',
    image_url_input: 'multimodal',
    video_bytes_input: 'multimodal',
    num_draft_tokens: 'needs a draft model',
    use_draft_logits: 'needs a draft model',
  },
  'trtllm-serve': {
    min_p: 'the engine here accepts it without effect',
    lora_request: 'the engine here accepts it without effect',
    return_context_logits: 'the engine here accepts it without effect',
    response_format: 'the engine here has no grammar and accepts it without effect',
    disaggregated_params: 'one server here does both phases and accepts it without effect',
  },
};

export function cellOf(surface: Surface, input: string, profile: ReleaseProfile): Cell {
  const found = [...probed(surface, input, profile), ...greedy(surface, input, profile), ...elsewhere(surface, input, profile)];
  // Where a release drops a field, what another release does with it does not count.
  const statuses = [...new Set(found.map((f) => f.status))];
  const kept = statuses.includes('gap') && !statuses.includes('supported') ? (['gap'] as const) : statuses;
  return {
    statuses: kept.length === 0 ? ['unknown'] : kept,
    gaps: [...new Set(found.flatMap((f) => f.gap ?? []))],
    evidence: found.map(({ claim, probe }) => (probe === undefined ? { claim } : { claim, probe })),
  };
}

/** Every input of a surface that some claim asks under a profile; unknown ones that must be refused are not its inputs. */
export function askedInputs(surface: Surface, profile: ReleaseProfile): string[] {
  return [
    ...Object.keys(ELSEWHERE[surface] ?? {}),
    ...Object.values(spellings(profile.models)).flatMap(({ kind, names }) => namesOf(kind, surface, names[surface])),
    ...(Object.values(FAMILIES).flat() as readonly Probe[]).flatMap((probe) =>
      probe.kind === 'inert' || probe.kind === 'field' ? (probe.inputs[surface] ?? []).map(({ name }) => name) : [],
    ),
  ];
}

function probed(surface: Surface, input: string, profile: ReleaseProfile): Finding[] {
  return (Object.entries(FAMILIES) as [Family, readonly Probe[]][]).flatMap(([family, probes]) =>
    probes.flatMap((probe) => {
      const evidence: Evidence = { claim: `parameters-${family}`, probe: probe.id };
      return statusesBy(probe, surface, input, profile).map((finding) => ({ ...finding, ...evidence }));
    }),
  );
}

function statusesBy(probe: Probe, surface: Surface, input: string, profile: ReleaseProfile): Omit<Finding, keyof Evidence>[] {
  switch (probe.kind) {
    case 'pair':
    case 'draw':
    case 'seed': {
      const { kind, names } = spellings(profile.models)[probe.words[0]!];
      const there = probe.kind !== 'pair' || probe.when?.(profile) !== false;
      if (!there || !namesOf(kind, surface, names[surface]).includes(input)) return [];
      const gap = IGNORED_PARAMETERS.find(
        (g) => g.probes.includes(probe.id) && g.routes.some((route) => surfaceOf(route, profile) === surface) && g.listed(profile),
      );
      return [gap === undefined ? { status: 'supported' } : { status: 'gap', gap: gap.id }];
    }
    case 'inert':
      return has(probe.inputs[surface], input) ? [{ status: 'no effect' }] : [];
    case 'refusal':
    case 'field':
      if (!has(probe.inputs[surface], input)) return [];
      return [
        ...(probe.kind === 'field' && probe.inputs[surface]?.some((one) => one.name === input && one.refused?.(profile) === true)
          ? [{ status: 'refused' } as const]
          : []),
        isFrontEnd(surface) && profile.openai.droppedFields.value.includes(input)
          ? { status: 'gap', gap: DROPPED_FIELDS.id }
          : probe.kind === 'field' && (surface === 'trtllm-serve' || hasPair(surface, input, profile))
            ? { status: 'supported' }
            : { status: 'refused' },
      ];
  }
}

/** A field that NVIDIA's front end does not drop is refused, unless it has a probe that shows what it does. */
function hasPair(surface: Surface, input: string, profile: ReleaseProfile): boolean {
  return (Object.values(FAMILIES).flat() as readonly Probe[]).some(
    (probe) => probe.kind === 'pair' && statusesBy(probe, surface, input, profile).length > 0,
  );
}

/** The gap of a spelling of greedy belongs to the temperature. */
function greedy(surface: Surface, input: string, profile: ReleaseProfile): Finding[] {
  if (input !== 'temperature' || !GREEDY_ROWS.some((row) => row.gives === 'gap' && row.surfaces.includes(surface))) return [];
  const claim = 'greedy-spellings';
  return TEMPERATURE_ZERO_SAMPLES.listed(profile)
    ? [{ status: 'gap', gap: TEMPERATURE_ZERO_SAMPLES.id, claim }]
    : [{ status: 'supported', claim }];
}

function elsewhere(surface: Surface, input: string, profile: ReleaseProfile): Finding[] {
  const claims = ELSEWHERE[surface]?.[input] ?? [];
  if (input === 'stream_options') return claims.map((claim) => ({ status: STREAM_OPTIONS[profile.openai.streamOptions.value], claim }));
  const refusesStop = input === 'sampling_param_stop' && !profile.models.torch.llmapiTakesStopStrings.value;
  // 0 and 1 say what is so anyway, more is refused.
  if (input === 'sampling_param_best_of')
    return claims.flatMap((claim) => (['no effect', 'refused'] as const).map((status) => ({ status, claim })));
  return claims.map((claim) =>
    refusesStop ? { status: 'gap', gap: 'llmapi-refuses-stop-strings', claim } : { status: 'supported', claim },
  );
}

const STREAM_OPTIONS = { unknown: 'unknown', 'without-usage': 'refused', served: 'supported' } as const;

function namesOf(kind: Kind, surface: Surface, name: string | undefined): string[] {
  if (name === undefined) return [];
  // Words and weights are two inputs, but where there is one vector.
  return kind === 'bias' && surface !== 'tensorrt_llm' ? [name, 'embedding_bias_weights'] : [name];
}

function has(inputs: readonly Pick<Extra, 'name'>[] | undefined, name: string): boolean {
  return inputs?.some((extra) => extra.name === name) === true;
}

function isFrontEnd(surface: Surface): boolean {
  return surface === 'completions' || surface === 'chat';
}
