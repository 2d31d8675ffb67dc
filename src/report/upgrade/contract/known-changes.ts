import { compareReleases } from '#core/profile/index.ts';
import type { Change } from './types.ts';

/** A change that was found by hand on running releases, and how it shows in a record. */
export interface KnownChange {
  /** Release with which it came, as `2.42`. */
  readonly since: string;
  /** Release with which it went, where it did: a crash that was repaired. */
  readonly until?: string;
  /** Release before which there was no place where it could show: an endpoint came later. */
  readonly place?: string;
  readonly what: string;
  /** Shown by any one of these. */
  readonly shows: readonly Shown[];
}

interface Shown {
  readonly probe: RegExp;
  readonly fact?: RegExp;
  readonly before?: RegExp;
  readonly after?: RegExp;
}

const GENERATE = /generate/;
/** What is not there. */
const ABSENT = /^$/;

/**
 * What a client can see change, release by release, as found by hand on running servers (docs/observed.md#triton-by-release)
 * before there was a tool to find it. The tool is held to it: `npm run test:upgrade` prints how much of it each pair finds again.
 */
export const KNOWN_CHANGES: readonly KnownChange[] = [
  {
    since: '2.39',
    what: 'unknown route: 400 empty → 404 JSON',
    shows: [{ probe: /^(http|edge_echo)\/(http\/)?(unknown|root|v2-slash|openai)/, after: /404|Not Found/, before: /^(400)?$/ }],
  },
  {
    since: '2.39',
    what: 'empty bodies of 405 and of ready → JSON',
    shows: [{ probe: /^http\/(wrong-method|unknown-model\/ready)/, fact: /body/, before: ABSENT }],
  },
  { since: '2.39', what: 'generate and generate_stream', shows: [{ probe: GENERATE, fact: /status/, before: /400/, after: /200/ }] },
  { since: '2.39', what: 'a model can ask is_cancelled', shows: [{ probe: /what-a-model-has/, after: /is_cancelled/ }] },
  {
    since: '2.39',
    what: 'instance name m_0 → m_0_0 in error texts',
    shows: [{ probe: /raise/, before: /<model>_0'|edge_acts_0'/, after: /_0_0'/ }],
  },
  {
    since: '2.39',
    what: 'the text of a wrong type names input and model',
    shows: [{ probe: /wrong-type/, before: /model expects/, after: /but model/ }],
  },
  {
    since: '2.39',
    what: 'refusals of infer have content type text/plain',
    shows: [{ probe: /unknown-model\/infer|edge_echo\/http/, fact: /content type/, before: /json/, after: /text\/plain/ }],
  },
  {
    since: '2.39',
    what: 'metric nv_inference_pending_request_count',
    shows: [{ probe: /metrics/, fact: /nv_inference_pending_request_count/, before: ABSENT }],
  },
  { since: '2.41', what: 'timeout() tells a model the request timeout', shows: [{ probe: /edge_acts\/timeout/, fact: /body/ }] },
  {
    since: '2.41',
    what: 'text of a reserved parameter without its trailing space',
    shows: [{ probe: /edge_echo\/stream\/reserved|grpc\/reserved/, before: / $/, after: /\S$/ }],
  },
  {
    since: '2.41',
    what: 'ensembles run steps whose optional inputs were not sent',
    shows: [{ probe: /^ensemble\/stream/, fact: /messages/, before: /^[01]$/ }],
  },
  {
    since: '2.42',
    what: 'HTTP 404 for unknown models, versions and regions',
    shows: [{ probe: /unknown/, fact: /status/, before: /400/, after: /404/ }],
  },
  {
    since: '2.42',
    what: 'HTTP 500 for what cannot be parsed, executed or loaded',
    shows: [{ probe: /broken-json|raise|load-unknown|no-inputs/, fact: /status/, before: /400/, after: /500/ }],
  },
  {
    since: '2.42',
    what: 'HTTP 501 for infer on a decoupled model',
    shows: [{ probe: /decoupled/, fact: /status/, before: /400/, after: /501/ }],
  },
  {
    since: '2.42',
    place: '2.39',
    what: 'content type of event streams',
    shows: [{ probe: /stream/, fact: /content type/, after: /text\/event-stream/ }],
  },
  { since: '2.42', what: 'configurations have runtime', shows: [{ probe: /config$/, fact: /^runtime$/, before: ABSENT }] },
  {
    since: '2.42',
    what: 'any other path of the metrics port: 400 → 200, empty',
    shows: [{ probe: /metrics\/unknown-path/, fact: /status/, before: /400/, after: /200/ }],
  },
  { since: '2.42', what: 'metrics of pinned memory', shows: [{ probe: /metrics/, fact: /nv_pinned_memory_pool/, before: ABSENT }] },
  {
    since: '2.42',
    what: 'an unknown Content-Encoding: 501',
    shows: [{ probe: /unknown-encoding/, fact: /status|body/, after: /501|Unsupported/ }],
  },
  { since: '2.44', what: 'the text of a missing input names it', shows: [{ probe: /./, after: /Got input\(s\)/ }] },
  { since: '2.44', what: 'statistics have response_stats', shows: [{ probe: /statistics/, fact: /response_stats/, before: ABSENT }] },
  { since: '2.45', what: 'trace settings have trace_mode', shows: [{ probe: /trace/, fact: /trace_mode|body/, after: /triton/ }] },
  { since: '2.45', what: 'log_file cannot be set', shows: [{ probe: /log-file/, fact: /status/, after: /501|UNIMPLEMENTED/ }] },
  {
    since: '2.45',
    what: 'the offset into shared memory is checked',
    shows: [{ probe: /offset-outside/, fact: /status|body/, after: /400|[Ii]nvalid offset/ }],
  },
  {
    since: '2.45',
    what: 'ids of sequences may be text for any model',
    shows: [{ probe: /text-(sequence-)?id/, fact: /status/, before: /INVALID_ARGUMENT/, after: /OK/ }],
  },
  {
    since: '2.46',
    what: 'the text about a CUDA region whose handle is none',
    shows: [{ probe: /cuda-memory\/no-handle/, before: /failed to open CUDA IPC handle/, after: /invalid args/ }],
  },
  {
    since: '2.47',
    what: 'the byte size of raw inputs is checked',
    shows: [{ probe: /short-data|long-data|binary-(short|long)/, fact: /status/, after: /INVALID_ARGUMENT|400/ }],
  },
  {
    since: '2.47',
    what: "`model instance 'm_0_0'` → `model 'm_0_0'` in error texts",
    shows: [{ probe: /raise/, before: /model instance/, after: /for model '/ }],
  },
  {
    since: '2.47',
    until: '2.49',
    what: 'malformed strings hang',
    shows: [{ probe: /truncated-string$/, fact: /status/, after: /no answer/ }],
  },
  {
    since: '2.47',
    what: 'a wrong number of strings is refused before it reaches the model',
    shows: [{ probe: /too-(few|many)-strings/, before: /INTERNAL|cannot reshape/, after: /INVALID_ARGUMENT|string elements/ }],
  },
  {
    since: '2.48',
    what: 'failures have the label reason',
    shows: [{ probe: /metrics/, fact: /nv_inference_request_failure (labels|reason)/ }],
  },
  { since: '2.49', place: '2.39', what: 'generate echoes id', shows: [{ probe: /generate\/id/, fact: /body/, after: /gid/ }] },
  { since: '2.49', what: 'triton_grpc_error is honoured', shows: [{ probe: /triton-grpc-error/, fact: /status/, before: /OK/ }] },
  {
    since: '2.49',
    what: 'configurations have is_non_linear_format_io',
    shows: [{ probe: /config$/, fact: /is_non_linear_format_io/, before: ABSENT }],
  },
  {
    since: '2.49',
    what: 'malformed strings are refused with their length',
    shows: [{ probe: /truncated-string$/, fact: /status|text/, after: /INVALID_ARGUMENT|incomplete string/ }],
  },
  {
    since: '2.50',
    what: 'the text of a wrong number of strings names the model',
    shows: [{ probe: /too-(few|many)-strings/, after: /INVALID_ARGUMENT|for model/ }],
  },
  {
    since: '2.50',
    what: 'the text about an unknown CUDA region says cuda',
    shows: [{ probe: /cuda-memory\/unknown-region/, before: /system shared/, after: /cuda shared/ }],
  },
  {
    since: '2.51',
    place: '2.39',
    what: 'a flat list fits a batching model on generate',
    shows: [{ probe: /flat-list/, fact: /status/, after: /200/ }],
  },
  {
    since: '2.65',
    what: 'configurations of ensembles have max_inflight_requests; the gRPC front end of 2.51 gives them empty',
    shows: [{ probe: /^model\/ensemble\/config/, fact: /max_inflight_requests|config/ }],
  },
  {
    since: '2.65',
    what: 'metric nv_model_load_duration_secs',
    shows: [{ probe: /metrics/, fact: /nv_model_load_duration_secs/, before: ABSENT }],
  },
];

/** Those that came between two releases and are there with the second. */
export function knownBetween(from: string, to: string): readonly KnownChange[] {
  return KNOWN_CHANGES.filter(
    ({ since, until, place }) =>
      compareReleases(from, since) < 0 &&
      (place === undefined || compareReleases(from, place) >= 0) &&
      compareReleases(since, to) <= 0 &&
      (until === undefined || compareReleases(to, until) < 0),
  );
}

export function isShownBy({ shows }: KnownChange, { probe, fact, before = '', after = '' }: Change): boolean {
  return shows.some(
    (shown) =>
      shown.probe.test(probe) &&
      (shown.fact?.test(fact) ?? true) &&
      (shown.before?.test(before) ?? true) &&
      (shown.after?.test(after) ?? true),
  );
}

/** What was known of changes before, as `2.42: …`. */
export function knownRows(changes: readonly Change[], releases?: { readonly from: string; readonly to: string }): readonly string[] {
  if (releases === undefined) return [];
  return knownBetween(releases.from, releases.to)
    .filter((row) => changes.some((change) => isShownBy(row, change)))
    .map(({ since, what }) => `${since}: ${what}`);
}
