export { Asker } from './ask.ts';
export { baseOf, greedyOn, rawPart } from './base.ts';
export { ACCEPTED_MEANS_APPLIED, DROPPED_FIELDS, IGNORED_PARAMETERS, GREEDY_AS_SPELLED, TEMPERATURE_ZERO_SAMPLES } from './gaps.ts';
export { GREEDY_ROWS, type GreedyRow } from './greedy.ts';
export { jsonOf, spells } from './inputs.ts';
export { ignored, servedText } from './judge.ts';
export { chances, winner } from './oracle.ts';
export type {
  DrawProbe,
  Extra,
  FieldInput,
  FieldProbe,
  InertProbe,
  PairProbe,
  Probe,
  ProbeContext,
  RefusalProbe,
  SeedProbe,
} from './probe.ts';
export { FAMILIES, type Family } from './probes/index.ts';
export type { Given, Reply } from './reply.ts';
export { PROBED_ROUTES, type Surface, surfaceOf } from './spellings.ts';
export { LENGTH, type Subject, Subjects } from './subject.ts';
export type { Word, Words } from './words.ts';
export { type Cell, cellOf, type Evidence, NOT_ASKED, askedInputs } from './table.ts';
