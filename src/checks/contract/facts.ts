import { canonicalJson } from '#core/json/index.ts';
import { parseMetrics } from '#wire/protocol/prometheus.ts';
import type { Reply } from './reply.ts';
import type { Ask, Reading } from './types.ts';

export type Facts = Readonly<Record<string, string>>;

/** The facts in a reply. `neutral` takes out what only names this server. */
export function factsOf(ask: Ask, read: Reading, came: Reply, neutral: (text: string) => string): Facts {
  const facts: Record<string, string> = { status: came.status };
  const http = ask.via === 'http' || ask.via === 'metrics';
  if (http) {
    facts['content type'] = came.type;
    facts['headers'] = came.headers.join(' ');
  } else if (came.type !== '') {
    facts['text'] = neutral(came.type);
  }
  if (ask.via === 'stream') {
    const messages = read === 'frame' ? came.messages.map(withoutValues) : came.messages;
    // Requests on one stream may overtake each other, so each has its own order.
    for (const [id, of] of Map.groupBy(messages, (message) => /^id '([^']*)'/.exec(message)?.[1] ?? '')) {
      of.forEach((message, i) => (facts[`message ${i + 1}${ask.messages.length > 1 ? ` of ${id}` : ''}`] = neutral(message)));
    }
    facts['messages'] = String(messages.length);
    return facts;
  }
  if (read === 'metrics' && came.status === '200') return { ...facts, ...metricsFacts(came.body) };
  const json = parsed(came.body);
  if (json === undefined || read === 'text') {
    if (came.body !== '' || http) facts['body'] = neutral(json === undefined ? came.body : canonicalJson(json));
    return facts;
  }
  for (const [path, value] of paths(json)) {
    if (read === 'values') facts[path] = neutral(value);
    // How many rows a list of counts has is a count too.
    else facts[path.replaceAll(/\.\d+(?=\.|$)/g, '.*')] = typeOf(value);
  }
  return facts;
}

/** A family by its type and help; of its series the label names, and the values of labels that are a choice. */
function metricsFacts(page: string): Facts {
  const facts: Record<string, string> = {};
  for (const family of parseMetrics(page).families.values()) {
    facts[`${family.name} type`] = family.kind;
    facts[`${family.name} help`] = family.help;
    const labels = new Set(family.samples.map(({ labels: of }) => Object.keys(of).toSorted().join(' ')));
    facts[`${family.name} labels`] = [...labels].toSorted().join(' | ');
    for (const choice of [
      'reason',
      'request_type',
      'memory_type',
      'kv_cache_block_type',
      'inflight_batcher_specific_metric',
      'general_type',
    ]) {
      const values = new Set(family.samples.flatMap(({ labels: of }) => of[choice] ?? []));
      if (values.size > 0) facts[`${family.name} ${choice}`] = [...values].toSorted().join(' ');
    }
  }
  return facts;
}

/** Every leaf by its path; items of a list go by their name where they have one, by their place elsewhere. */
export function paths(json: unknown, path = ''): readonly (readonly [string, string])[] {
  if (json === null || typeof json !== 'object') return [[path === '' ? 'value' : path, JSON.stringify(json)]];
  const entries = Array.isArray(json) ? json.map((item, i) => [nameOf(item) ?? String(i), item] as const) : Object.entries(json);
  if (entries.length === 0) return [[path === '' ? 'value' : path, Array.isArray(json) ? '[]' : '{}']];
  return entries.flatMap(([key, value]) => paths(value, path === '' ? key : `${path}.${key}`));
}

function nameOf(item: unknown): string | undefined {
  const name = (item as { readonly name?: unknown } | null)?.name;
  return typeof name === 'string' ? name : undefined;
}

/** A count is a number whether it is written as one or, as gRPC's 64-bit numbers, as text. */
function typeOf(value: string): string {
  if (value === '[]' || value === '{}') return 'empty';
  return /^"?-?\d+(\.\d+)?"?$/.test(value) ? 'a number' : value;
}

function parsed(text: string): unknown {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? json : undefined;
  } catch {
    return undefined;
  }
}

/** What an answer says is another matter than how it is sent. */
function withoutValues(message: string): string {
  return message.replaceAll(/("(?:[^"\\]|\\.)*"|\[-?\d+(,-?\d+)*\]$)/g, '…').replaceAll(/ \[…\]/g, ' …');
}
