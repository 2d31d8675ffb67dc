/** Known gaps of the laws about parameters: what running servers were seen, or read, to do with them. */
import type { KnownGap } from '#checks/laws/index.ts';
import { OPENAI_ROUTES } from '#checks/laws/observed.ts';
import { EVERY_FRONT_END, EVERY_MODELS } from '#checks/laws/release-lists.ts';
import { PROBED_ROUTES } from './spellings.ts';

/** Law: a parameter that a route accepts has its effect. */
export const ACCEPTED_MEANS_APPLIED = 'accepted-means-applied';
/** Law: every spelling of greedy gives the greedy answer. */
export const GREEDY_AS_SPELLED = 'greedy-as-spelled';

export const DROPPED_FIELDS: KnownGap = {
  id: 'front-end-drops-fields',
  law: ACCEPTED_MEANS_APPLIED,
  routes: OPENAI_ROUTES,
  mode: 'both',
  axis: 'openai',
  releases: EVERY_FRONT_END,
  deviation:
    'min_tokens, ignore_eos, response_format, functions and function_call are accepted, and nothing is sent to the model; before r25.12 echo and top_logprobs too, before r25.05 tools.',
  thread: 'docs/observed.md#openai-front-end-r25-12',
  listed: (profile) => profile.openai.droppedFields.value.length > 0,
};

/** A parameter that a release accepts on some routes and does nothing with. */
export interface IgnoredParameter extends KnownGap {
  /** Probes that find it. */
  readonly probes: readonly string[];
}

const PENALTIES_IGNORED: IgnoredParameter = {
  id: 'torch-sampler-ignores-penalties',
  law: ACCEPTED_MEANS_APPLIED,
  routes: ['llmapi'],
  mode: 'both',
  axis: 'models',
  releases: ['1.0', '1.2'],
  deviation: 'Presence and frequency penalties are accepted, and the answer is the same without them.',
  thread: 'NVIDIA/TensorRT-LLM#9442',
  listed: (profile) => !profile.models.torch.appliesPenalties.value,
  probes: ['presence-penalty', 'frequency-penalty'],
};

const SEQUENCES_IGNORED: IgnoredParameter = {
  id: 'bls-ignores-num-return-sequences',
  law: ACCEPTED_MEANS_APPLIED,
  routes: ['bls', 'bls-accumulate'],
  mode: 'both',
  axis: 'models',
  releases: EVERY_MODELS,
  deviation: 'num_return_sequences is declared, and the map from the inputs of the BLS to those of the engine lacks it: one sequence.',
  thread: 'docs/observed.md#bls',
  listed: (profile) => !profile.models.bls.forwardsSequences.value,
  probes: ['num-return-sequences'],
};

const SERVE_PENALTIES_IGNORED: IgnoredParameter = {
  ...PENALTIES_IGNORED,
  id: 'trtllm-serve-ignores-penalties',
  routes: OPENAI_ROUTES,
  deviation: 'Repetition, presence and frequency penalties are accepted, and the answer is the same without them.',
  listed: (profile) => profile.openai.trtllmServe !== undefined && PENALTIES_IGNORED.listed(profile),
  probes: ['repetition-penalty', 'presence-penalty', 'frequency-penalty'],
};

export const IGNORED_PARAMETERS: readonly IgnoredParameter[] = [PENALTIES_IGNORED, SERVE_PENALTIES_IGNORED, SEQUENCES_IGNORED];

export const TEMPERATURE_ZERO_SAMPLES: KnownGap = {
  id: 'temperature-0-with-top-p-samples',
  law: GREEDY_AS_SPELLED,
  routes: PROBED_ROUTES.filter((route) => route !== 'llmapi'),
  mode: 'both',
  axis: 'models',
  releases: EVERY_MODELS,
  deviation: 'Temperature 0 with a top-p and without a top-k becomes temperature 1 and top-p 1: the whole distribution is drawn from.',
  thread: 'docs/determinism.md#greedy',
  listed: (profile) => profile.models.temperatureZeroWithTopPSamples.value,
};
