/** What a client asks with one message, in a form in which the spelling of its bytes does not count. */
import { bodyContent, ContentState, expanded } from '../content.ts';
import { type Json, messageJson } from '../message-json.ts';
import { messageType } from '../proto-types.ts';
import { type ElementValue, elementBytes, elementValues } from '../tensor-values.ts';
import type { Headers } from '../types.ts';

type JsonObject = { readonly [key: string]: Json };

export interface Question {
  readonly path: string;
  /** Of HTTP. */
  readonly method?: string | undefined;
  /** Place in the message → its value as JSON. The request's own id is none of them: it is another one each time. */
  readonly facts: ReadonlyMap<string, string>;
  /** The message or body as JSON, where it is one. */
  readonly json: Json | undefined;
  /** The request's own id; '' where it has none. */
  readonly id: string;
}

export function grpcQuestion(path: string, bytes: Buffer, encoding?: string): Question {
  const type = messageType(path, 'client');
  const plain = encoding === undefined ? bytes : expanded(bytes, encoding);
  const json = type === undefined || plain === undefined ? undefined : messageJson(type, plain);
  if (json === undefined) return { path, facts: new Map([['bytes', bytes.toString('base64')]]), json, id: '' };
  return { path, facts: factsOf(json), json, id: idOf(json) };
}

export function httpQuestion(method: string, path: string, headers: Headers, body: Buffer): Question {
  const state = new ContentState();
  state.saw({ kind: 'request', from: 'client', atNs: 0, method, path, headers });
  const content = bodyContent(body, 'client', state);
  const json = typeof content['text'] === 'string' ? withBinary(jsonOf(content['text']), content['tensors']) : undefined;
  if (json === undefined) {
    const [shown] = [content['text'] ?? content['base64'] ?? ''];
    return { path, method, facts: new Map(body.length === 0 ? [] : [['body', JSON.stringify(shown)]]), json, id: '' };
  }
  return { path, method, facts: factsOf(json), json, id: idOf(json) };
}

/** What is asked otherwise, as phrases; empty when the same is asked. */
export function differences(asked: Question, recorded: Question): readonly string[] {
  const out: string[] = [];
  if (asked.path !== recorded.path) out.push(`it is sent to ${asked.path}, recorded ${recorded.path}`);
  if (asked.method !== recorded.method) out.push(`it is a ${asked.method}, recorded ${recorded.method}`);
  for (const [place, value] of asked.facts) {
    const other = recorded.facts.get(place);
    if (other === undefined) out.push(`${place} is ${shown(value)}, and was not sent`);
    else if (other !== value) out.push(`${place} is ${shown(value)}, recorded ${shown(other)}`);
  }
  for (const [place, value] of recorded.facts) if (!asked.facts.has(place)) out.push(`${place} is missing, recorded ${shown(value)}`);
  return out;
}

const SHOWN = 60;

function shown(value: string): string {
  return value.length > SHOWN ? `${value.slice(0, SHOWN - 1).toWellFormed()}…` : value;
}

function idOf(json: Json): string {
  return isObject(json) ? textOf(json['id']) : '';
}

function factsOf(json: Json): ReadonlyMap<string, string> {
  const facts = new Map<string, string>();
  const add = (place: string, value: Json): void => {
    if (isObject(value)) for (const [key, inner] of Object.entries(value)) add(place === '' ? key : `${place}.${key}`, inner);
    else if (Array.isArray(value) && value.some(isObject)) for (const [i, inner] of value.entries()) add(`${place}[${i}]`, inner as Json);
    else facts.set(place, JSON.stringify(value));
  };
  if (!isObject(json)) {
    add('body', json);
    return facts;
  }
  for (const [key, value] of Object.entries(json)) {
    if (key === 'id') continue;
    // In which order tensors stand says nothing.
    if ((key === 'inputs' || key === 'outputs') && Array.isArray(value)) {
      for (const tensor of value as readonly Json[])
        if (isObject(tensor)) add(`${key}.${textOf(tensor['name'])}`, without(sameSpelling(tensor), 'name'));
    } else add(key, value);
  }
  return facts;
}

function without(object: JsonObject, name: string): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => key !== name));
}

/** Typed contents and raw bytes say the same; JSON nests elements, and gRPC does not. */
function sameSpelling(tensor: JsonObject): JsonObject {
  const { contents, data, ...rest } = tensor;
  const typed = isObject(contents) ? Object.values(contents).find((list) => Array.isArray(list) && list.length > 0) : undefined;
  const elements = data ?? typed;
  if (!Array.isArray(elements)) return tensor;
  const flat = flattened(elements as readonly Json[]) as ElementValue[];
  return { ...rest, data: rounded(textOf(tensor['datatype']), flat) };
}

function flattened(elements: readonly Json[]): readonly Json[] {
  return elements.some((one) => Array.isArray(one))
    ? elements.flatMap((one) => flattened(Array.isArray(one) ? (one as readonly Json[]) : [one]))
    : elements;
}

function rounded(datatype: string, elements: ElementValue[]): readonly Json[] {
  try {
    const bytes = elementBytes(datatype, elements);
    return (bytes === undefined ? undefined : elementValues(datatype, bytes)) ?? elements;
  } catch {
    return elements;
  }
}

/** The tensors of the binary extension stand where their JSON names them. */
function withBinary(json: Json | undefined, tensors: Json | undefined): Json | undefined {
  if (json === undefined || !isObject(json) || !Array.isArray(tensors)) return json;
  const byName = new Map((tensors as readonly JsonObject[]).map((one) => [one['name'], one]));
  const inputs = (Array.isArray(json['inputs']) ? (json['inputs'] as readonly Json[]) : []).map((input) => {
    const binary = isObject(input) ? byName.get(input['name'] ?? '') : undefined;
    if (!isObject(input) || binary === undefined) return input;
    const parameters = isObject(input['parameters']) ? without(input['parameters'], 'binary_data_size') : {};
    const rest = without(input, 'parameters');
    return {
      ...rest,
      ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
      ...('data' in binary ? { data: binary['data'] as Json } : { base64: binary['base64'] as Json }),
    };
  });
  return { ...json, inputs };
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** '' for what is no text. */
export function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

export function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}
