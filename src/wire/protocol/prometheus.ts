/**
 * Prometheus text exposition format 0.0.4, as Triton's metrics port writes it. Source: prometheus/docs
 * content/docs/instrumenting/exposition_formats.md.
 */
import { LockstepError } from '#core/errors/index.ts';

export type MetricKind = 'counter' | 'gauge' | 'histogram' | 'summary' | 'untyped';

export interface Sample {
  /** With its suffix: `_bucket`, `_sum`, `_count` in histograms and summaries. */
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  /** NaN and both infinities included. */
  readonly value: number;
}

export interface MetricFamily {
  readonly name: string;
  readonly kind: MetricKind;
  readonly help: string;
  /** In the order of the text, which Triton does not keep stable. */
  readonly samples: readonly Sample[];
}

export interface Metrics {
  readonly families: ReadonlyMap<string, MetricFamily>;
  /**
   * The sum of the samples of that name that carry at least these labels; undefined when there is none. Releases add
   * labels (`reason` on nv_inference_request_failure since 2.48), so a match on all labels would break.
   */
  get(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
}

interface Family {
  readonly name: string;
  kind: MetricKind;
  help: string;
  readonly samples: Sample[];
}

/** Errors: `metrics-malformed` (says which line). */
export function parseMetrics(text: string): Metrics {
  const families = new Map<string, Family>();
  const byName = new Map<string, Sample[]>();
  const family = (name: string): Family => {
    let found = families.get(name);
    if (found === undefined) families.set(name, (found = { name, kind: 'untyped', help: '', samples: [] }));
    return found;
  };
  for (const [index, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    if (line === '') continue;
    if (line.startsWith('#')) {
      const comment = /^#\s*(HELP|TYPE)\s+(\S+)\s*(.*)$/.exec(line);
      if (comment === null) continue;
      const [, keyword, name = '', rest = ''] = comment;
      if (keyword === 'HELP') family(name).help = rest.replace(/\\(\\|n)/g, (_, c: string) => (c === 'n' ? '\n' : '\\'));
      else family(name).kind = rest as MetricKind;
      continue;
    }
    const sample = parseSample(line, index + 1);
    family(familyOf(sample.name, families)).samples.push(sample);
    const same = byName.get(sample.name);
    if (same === undefined) byName.set(sample.name, [sample]);
    else same.push(sample);
  }
  return {
    families,
    get: (name, labels = {}) => {
      const wanted = Object.entries(labels);
      const found = (byName.get(name) ?? []).filter((s) => wanted.every(([key, value]) => s.labels[key] === value));
      return found.length === 0 ? undefined : found.reduce((sum, s) => sum + s.value, 0);
    },
  };
}

/** `x_bucket` belongs to `x` when `x` is a histogram or summary. */
function familyOf(sample: string, families: ReadonlyMap<string, Family>): string {
  const stem = sample.replace(/_(?:bucket|sum|count)$/, '');
  const kind = families.get(stem)?.kind;
  return stem !== sample && (kind === 'histogram' || kind === 'summary') ? stem : sample;
}

const NAME = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
const LABEL = /\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(,?)/y;

function parseSample(line: string, lineNumber: number): Sample {
  const malformed = (why: string): LockstepError =>
    new LockstepError('metrics-malformed', `line ${lineNumber} of the metrics is malformed: ${why}`, {
      hint: 'Check that the address is the metrics port (8002 by default); if it is, report this server.',
      context: { line },
    });
  NAME.lastIndex = 0;
  const name = NAME.exec(line)?.[0];
  if (name === undefined) throw malformed('no metric name');
  let at = name.length;
  const labels: Record<string, string> = {};
  while (line[at] === ' ') at++;
  if (line[at] === '{') {
    at++;
    for (let more = true; more;) {
      LABEL.lastIndex = at;
      const label = LABEL.exec(line);
      if (label === null) break;
      labels[label[1] as string] = unescape(label[2] as string);
      at = LABEL.lastIndex;
      more = label[3] === ',';
    }
    while (line[at] === ' ') at++;
    if (line[at] !== '}') throw malformed('its labels do not end');
    at++;
  }
  const [value = '', , ...rest] = line.slice(at).trim().split(/\s+/);
  if (rest.length > 0) throw malformed('text follows the timestamp');
  return { name, labels, value: parseValue(value, malformed) };
}

function unescape(text: string): string {
  return text.replace(/\\(.)/g, (whole, c: string) => (c === 'n' ? '\n' : c === '\\' || c === '"' ? c : whole));
}

function parseValue(text: string, malformed: (why: string) => LockstepError): number {
  const infinity = /^([+-]?)inf(?:inity)?$/i.exec(text);
  if (infinity !== null) return infinity[1] === '-' ? -Infinity : Infinity;
  if (/^[+-]?nan$/i.test(text)) return Number.NaN;
  const value = text === '' ? Number.NaN : Number(text);
  if (Number.isNaN(value)) throw malformed(`"${text}" is no number`);
  return value;
}
