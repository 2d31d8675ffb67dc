/** Everything that is no inference: health, metadata, statistics, repository, settings. Source: src/http_server.cc (2.51). */
import type { ParameterValue, TritonCore } from '../core/types.ts';
import { CoreError } from '../core/types.ts';
import { allow, answering, DEFAULT_TYPE, errorJson, type Exchange, JSON_TYPE, reply, replyJson } from './exchange.ts';
import { asBool, asString, find, memberAsString, members, parseJson } from './json-access.ts';

export function handleHealth(core: TritonCore, exchange: Exchange, kind: string): void {
  if (!allow(exchange, ['GET'])) return;
  reply(exchange, (kind === 'live' ? core.live() : core.ready()) ? 200 : 400);
}

export function handleModelReady(core: TritonCore, exchange: Exchange, model: string, version: string): Promise<void> {
  return answering(exchange, DEFAULT_TYPE, () => {
    if (!allow(exchange, ['GET'])) return;
    if (core.modelReady(model, version)) reply(exchange, 200);
    else reply(exchange, 400, exchange.core?.httpRouteErrors.value === 'empty' ? '' : errorJson('Model version not ready'));
  });
}

/** A GET whose answer is one JSON document. */
export function handleRead(exchange: Exchange, read: () => unknown): Promise<void> {
  return answering(exchange, JSON_TYPE, () => {
    if (allow(exchange, ['GET'], JSON_TYPE)) replyJson(exchange, read());
  });
}

export function handleRepositoryIndex(core: TritonCore, exchange: Exchange): Promise<void> {
  return answering(exchange, JSON_TYPE, () => {
    if (!allow(exchange, ['POST'], JSON_TYPE)) return;
    const ready = exchange.body.length === 0 ? undefined : find(parseJson(exchange.body), 'ready');
    replyJson(exchange, core.repositoryIndex({ readyOnly: ready !== undefined && asBool(ready) }));
  });
}

export function handleRepositoryControl(
  core: TritonCore,
  exchange: Exchange,
  repository: string,
  model: string,
  action: string,
): Promise<void> {
  return answering(exchange, JSON_TYPE, async () => {
    if (!allow(exchange, ['POST'], JSON_TYPE)) return;
    if (repository !== '') throw new CoreError('UNSUPPORTED', "'repository_name' specification is not supported");
    if (action === 'load') await core.loadModel(model, loadParameters(exchange.body));
    else core.unloadModel(model, { unloadDependents: unloadsDependents(exchange.body) });
    reply(exchange, 200, '', JSON_TYPE);
  });
}

function loadParameters(body: Buffer): Map<string, ParameterValue | Uint8Array> {
  const parameters = new Map<string, ParameterValue | Uint8Array>();
  const json = body.length === 0 ? undefined : find(parseJson(body), 'parameters');
  if (json === undefined) return parameters;
  for (const key of members(json).keys()) {
    const text = memberAsString(json, key);
    if (key === 'config') parameters.set(key, text);
    else if (key.startsWith('file:')) parameters.set(key, Buffer.from(text, 'base64'));
    else throw new CoreError('INTERNAL', 'unexpected error on creating Triton parameter');
  }
  return parameters;
}

/** A body that cannot be read is passed over: the real handler overwrites that error with the result of the unload. */
function unloadsDependents(body: Buffer): boolean {
  try {
    return find(find(parseJson(body), 'parameters'), 'unload_dependents') === true;
  } catch {
    return false;
  }
}

export function handleLogging(core: TritonCore, exchange: Exchange): Promise<void> {
  return answering(exchange, JSON_TYPE, () => {
    if (!allow(exchange, ['GET', 'POST'], JSON_TYPE)) return;
    replyJson(exchange, exchange.method === 'GET' ? core.logSettings() : core.updateLogSettings(logChange(exchange.body)));
  });
}

function logChange(body: Buffer): Record<string, string | number | boolean> {
  const json = parseJson(body);
  const change: Record<string, string | number | boolean> = {};
  for (const key of ['log_file', 'log_info', 'log_warning', 'log_error', 'log_verbose_level', 'log_format']) {
    const value = find(json, key);
    if (value === undefined || value === null) continue;
    if (key === 'log_file') throw new CoreError('UNSUPPORTED', 'log file location can not be updated through network protocol');
    if (key === 'log_format') change[key] = logFormat(asString(value));
    else if (key !== 'log_verbose_level') change[key] = asBool(value);
    else if (typeof value === 'bigint' && value >= 0n) change[key] = Number(value);
    else throw new CoreError('INTERNAL', 'attempt to access JSON non-unsigned-integer as unsigned-integer');
  }
  return change;
}

function logFormat(text: string): string {
  if (text !== 'default' && text !== 'ISO8601') throw new CoreError('UNAVAILABLE', `invalid argument for --log_format, got: ${text}`);
  return text;
}
