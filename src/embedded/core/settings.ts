import type { LogSettings } from '#wire/protocol/server-state.ts';
import { CoreError, type TraceSettings } from './types.ts';

const TRACE_DEFAULTS: TraceSettings = {
  trace_level: ['OFF'],
  trace_rate: '1000',
  trace_count: '-1',
  log_frequency: '0',
  trace_file: '',
  trace_mode: 'triton',
};

const COUNTS = ['trace_rate', 'trace_count', 'log_frequency'] as const;

function knownLevels(levels: readonly string[]): readonly string[] {
  const known = levels.filter((l) => l === 'TIMESTAMPS' || l === 'TENSORS');
  return known.length === 0 ? ['OFF'] : known;
}

/** Trace settings, global and per model. Unknown keys and levels are accepted in silence, as 2.51 does. */
export function traceSettings(hasMode: boolean) {
  const { trace_mode: mode, ...older } = TRACE_DEFAULTS;
  let global: Record<string, string | readonly string[]> = hasMode && mode !== undefined ? { ...older, trace_mode: mode } : { ...older };
  const perModel = new Map<string, Record<string, string | readonly string[]>>();

  const read = (model: string): TraceSettings => ({ ...global, ...perModel.get(model) });

  const update = (model: string, change: Readonly<Record<string, readonly string[] | undefined>>): TraceSettings => {
    for (const key of COUNTS) {
      const value = change[key];
      if ((value?.length ?? 0) > 1) throw new CoreError('INVALID_ARG', `expect only 1 value for '${key}'`);
      if (value?.[0] !== undefined && !/^-?\d+$/.test(value[0]))
        throw new CoreError('INVALID_ARG', `Unable to parse '${key}', got: ${value[0]}`);
    }
    const level = change['trace_level'];
    if (level?.some((l) => l === 'TIMESTAMPS' || l === 'TENSORS') === true && read(model)['trace_file'] === '') {
      throw new CoreError('INVALID_ARG', 'Attempting to set invalid trace setting :trace file name is not given');
    }
    const target: Record<string, string | readonly string[]> = model === '' ? { ...global } : { ...perModel.get(model) };
    for (const [key, value] of Object.entries(change)) {
      const fallback = TRACE_DEFAULTS[key];
      if (fallback === undefined || key === 'trace_mode') continue;
      if (key === 'trace_file') throw new CoreError('UNSUPPORTED', 'trace file location can not be updated through network protocol');
      if (value === undefined || value.length === 0) {
        if (model === '') target[key] = fallback;
        else delete target[key];
      } else target[key] = key === 'trace_level' ? knownLevels(value) : (value[0] ?? '');
    }
    if (model === '') global = target;
    else perModel.set(model, target);
    return read(model);
  };
  return { read, update };
}

/** Log settings. `log_file` cannot be changed over the network (since 2.45); unknown keys are ignored. */
export function logSettings() {
  let settings: LogSettings = {
    log_file: '',
    log_info: true,
    log_warning: true,
    log_error: true,
    log_verbose_level: 0,
    log_format: 'default',
  };
  const update = (change: LogSettings): LogSettings => {
    if (change['log_file'] !== undefined) {
      throw new CoreError('UNSUPPORTED', 'log file location can not be updated through network protocol');
    }
    for (const [key, value] of Object.entries(change)) checkLogSetting(key, value);
    settings = { ...settings, ...Object.fromEntries(Object.entries(change).filter(([key]) => key in settings)) };
    return settings;
  };
  return { read: () => settings, update };
}

function checkLogSetting(key: string, value: LogSettings[string]): void {
  if (/^log_(info|warning|error)$/.test(key) && typeof value !== 'boolean')
    throw new CoreError('INVALID_ARG', `expect boolean for '${key}'`);
  if (key === 'log_verbose_level' && typeof value !== 'number') throw new CoreError('INVALID_ARG', `expect int32 for '${key}'`);
  if (key === 'log_format' && value !== 'default' && value !== 'ISO8601') {
    throw new CoreError(
      'INVALID_ARG',
      typeof value === 'string' ? `invalid argument for log_format, got: ${value}` : `expect string for '${key}'`,
    );
  }
}
