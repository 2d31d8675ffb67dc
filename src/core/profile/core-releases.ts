/**
 * Triton core with its gRPC and HTTP front ends by release: each is the one before it and what changed. All of them ran
 * (docs/observed.md#triton-by-release); releases in between were not published for CPU. Of 2.65 and 2.71 the core alone was: they ran
 * behind the front ends of 2.51, as `2.71+2.51`.
 */
import { observed, read } from './facts.ts';
import type { CoreProfile, Fact } from './profile.ts';

const PAGE = 'docs/observed.md#triton-by-release';
const seen = <T>(value: T): Fact<T> => observed(value, PAGE);

function after(previous: CoreProfile, id: string, changes: Partial<Omit<CoreProfile, 'id' | 'serverVersion'>>): CoreProfile {
  return { ...previous, frontEnds: seen(id), ...changes, id, serverVersion: seen(`${id}.0`) };
}

/** A newer core as it ran: what a request meets before the core is that of older front ends. */
function behind(core: CoreProfile): CoreProfile {
  const { cancelsKillFor } = CORE_2_51;
  return { ...core, id: `${core.id}+${core.frontEnds.value}`, cancelsKillFor, ensembleConfigOverGrpc: seen(false) };
}

const R2_36: CoreProfile = {
  id: '2.36',
  serverVersion: seen('2.36.0'),
  frontEnds: seen('2.36'),
  ensembleCancelReachesRunningStep: seen(false),
  missingRequiredInputDetected: seen(false),
  httpCloseSeenWhileSilent: seen(false),
  ensembleNeedsAllOutputs: seen(true),
  ensembleRunsWithoutOptionalInputs: seen(false),
  decoupledOutputsFiltered: seen(false),
  generateWritesEmptyOutputs: seen(false),
  streamsEnd: seen(true),
  streamsStandStill: seen(false),
  cancelsKillFor: seen([]),
  stepFailuresCountTwice: seen(false),
  failuresExecute: seen(false),
  generate: seen(false),
  cancelReachesModels: seen(false),
  httpStatusByCode: seen(false),
  httpRouteErrors: seen('empty'),
  unknownCodingStatus: seen(415),
  inferErrorType: seen('application/json'),
  eventStreamType: seen('application/json'),
  instanceInErrors: seen('model instance m_0'),
  dtypeTextNamesInput: seen(false),
  reservedTextEndsInSpace: seen(true),
  missingInputsNamed: seen(false),
  byteSizesChecked: seen(false),
  brokenStrings: seen('reach-models'),
  stringCountNamesModel: seen(false),
  sharedMemoryRangeChecked: seen(false),
  cudaRegionsNamed: seen(false),
  cudaHandlesOpened: seen(true),
  traceMode: seen(false),
  logFileMovable: seen(true),
  configFields: seen([]),
  responseStatistics: seen(false),
  generateEchoesId: seen(false),
  generateFlatArrayFitsBatch: seen(false),
  pendingRequestsMetric: seen(false),
  pinnedMemoryMetrics: seen(false),
  failureReasons: seen(false),
  modelLoadMetric: seen(false),
  ensembleConfigOverGrpc: seen(true),
};

const R2_39 = after(R2_36, '2.39', {
  generate: seen(true),
  cancelReachesModels: seen(true),
  httpRouteErrors: seen('json'),
  unknownCodingStatus: seen(400),
  inferErrorType: seen('text/plain'),
  instanceInErrors: seen('model instance m_0_0'),
  dtypeTextNamesInput: seen(true),
  pendingRequestsMetric: seen(true),
});
const R2_41 = after(R2_39, '2.41', {
  reservedTextEndsInSpace: seen(false),
  ensembleRunsWithoutOptionalInputs: seen(true),
  cancelsKillFor: seen(['raw', 'ensemble', 'bls', 'llmapi']),
});
const R2_42 = after(R2_41, '2.42', {
  httpStatusByCode: seen(true),
  unknownCodingStatus: seen(501),
  eventStreamType: seen('text/event-stream; charset=utf-8'),
  configFields: seen(['runtime']),
  pinnedMemoryMetrics: seen(true),
});
const R2_43 = after(R2_42, '2.43', { generateWritesEmptyOutputs: seen(true) });
const R2_44 = after(R2_43, '2.44', {
  missingInputsNamed: seen(true),
  responseStatistics: seen(true),
});
const R2_45 = after(R2_44, '2.45', {
  streamsEnd: seen(false),
  streamsStandStill: seen(true),
  traceMode: seen(true),
  logFileMovable: seen(false),
  sharedMemoryRangeChecked: seen(true),
});
const R2_46 = after(R2_45, '2.46', { cudaHandlesOpened: seen(false), streamsStandStill: seen(false) });
const R2_47 = after(R2_46, '2.47', {
  byteSizesChecked: seen(true),
  failuresExecute: seen(true),
  decoupledOutputsFiltered: seen(true),
  brokenStrings: seen('kill-stub'),
  instanceInErrors: seen('model m_0_0'),
});
const R2_48 = after(R2_47, '2.48', { failureReasons: seen(true), stepFailuresCountTwice: seen(true) });
const R2_49 = after(R2_48, '2.49', {
  streamsEnd: seen(true),
  generateEchoesId: seen(true),
  brokenStrings: seen('refused'),
  configFields: seen(['runtime', 'is_non_linear_format_io']),
});
const R2_50 = after(R2_49, '2.50', { stringCountNamesModel: seen(true), cudaRegionsNamed: seen(true) });
export const CORE_2_51 = after(R2_50, '2.51', {
  generateFlatArrayFitsBatch: seen(true),
  ensembleNeedsAllOutputs: seen(false),
  cancelsKillFor: seen(['bls']),
});

const R2_65 = after(CORE_2_51, '2.65', {
  frontEnds: CORE_2_51.frontEnds,
  // Mended in the front end, first in r24.12.
  cancelsKillFor: read([], 'triton-inference-server/server#8034'),
  configFields: seen(['runtime', 'is_non_linear_format_io', 'max_inflight_requests']),
  modelLoadMetric: seen(true),
});
const R2_71 = after(R2_65, '2.71', { frontEnds: CORE_2_51.frontEnds });

export const CORE_RELEASES: readonly CoreProfile[] = [
  R2_36,
  R2_39,
  R2_41,
  R2_42,
  R2_43,
  R2_44,
  R2_45,
  R2_46,
  R2_47,
  R2_48,
  R2_49,
  R2_50,
  CORE_2_51,
  R2_65,
  behind(R2_65),
  R2_71,
  behind(R2_71),
];
