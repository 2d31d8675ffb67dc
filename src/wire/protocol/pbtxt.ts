import { readFileSync } from 'node:fs';
import protobuf from 'protobufjs';
import textformat from 'protobufjs/ext/textformat.js';
import { LockstepError } from '#core/errors/index.ts';
import { configJson } from './config-json.ts';
import { modelConfigType } from './config-schema.ts';
import type { ModelConfig } from './model-config.ts';
import { type Place, placesIn } from './pbtxt-places.ts';

/**
 * Text of a config.pbtxt → ModelConfig with protobuf's defaults filled in; what the server adds on top is
 * `normaliseConfig`'s business.
 *
 * `file` is only used in messages. Errors: `config-malformed`, with file and line.
 */
export function parseModelConfig(text: string, file: string): ModelConfig {
  try {
    return configJson(textformat.fromText(modelConfigType(), text));
  } catch (thrown) {
    const message = (thrown as Error).message;
    const line = /\(line (\d+)\)/.exec(message)?.[1];
    // Of a value of the wrong kind the parser tells neither line nor field.
    const culprit = line === undefined ? wrongValue(placesIn(text), modelConfigType(), text) : undefined;
    const what =
      culprit === undefined ? message.replace(/ \(line \d+\)/, '') : `${culprit.field}: ${culprit.message}; got ${culprit.value}`;
    throw new LockstepError('config-malformed', `${file}:${line ?? culprit?.line ?? 1}: ${what}`, {
      hint: /\$\{\w+\}/.test(text)
        ? 'The file still has unfilled ${…} placeholders; fill the template first.'
        : 'Compare the file with proto/model_config.proto.',
      cause: thrown,
    });
  }
}

/** By their text: a server reads the same few files at every start, and parsing is most of reading. */
const parsed = new Map<string, ModelConfig>();
const KEPT = 64;

/**
 * Reads and parses one file. Nobody may change what is returned: the next reader of an equal file gets the same object.
 *
 * Errors: `config-malformed`, `config-missing`.
 */
export function readModelConfig(file: string): ModelConfig {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (thrown) {
    throw new LockstepError('config-missing', `cannot read ${file}: ${(thrown as Error).message}`, {
      hint: 'Give every model folder of the repository a config.pbtxt, or point at another repository.',
      cause: thrown,
    });
  }
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const config = parseModelConfig(text, file);
  if (parsed.size >= KEPT) parsed.clear();
  parsed.set(text, config);
  return config;
}

interface Wrong {
  readonly field: string;
  readonly value: string;
  readonly line: number;
  readonly message: string;
}

/** The first value that its own field does not take, each one parsed by itself. */
function wrongValue(places: readonly Place[], type: protobuf.Type, text: string): Wrong | undefined {
  for (const { field: name, value, line, fields } of places) {
    const field = type.fields[name]?.resolve();
    if (field === undefined) continue;
    const of = field.resolvedType instanceof protobuf.Type ? field.resolvedType : undefined;
    if (of !== undefined) {
      // A map's entries are messages whose `value` has the type of the map.
      const entry = field instanceof protobuf.MapField;
      const found = wrongValue(entry ? fields.flatMap((one) => (one.field === 'value' ? one.fields : [])) : fields, of, text);
      if (found !== undefined) return found;
      continue;
    }
    // A placeholder is one word to its reader.
    const slice = /^\$\{[^}\n]*\}/.exec(text.slice(value[0]))?.[0] ?? text.slice(...value);
    try {
      textformat.fromText(type, `${name}: ${slice}`);
    } catch (thrown) {
      const message = (thrown as Error).message.replace(/ \(line \d+\)/, '').replace(/^[\w.]*: /, '');
      return { field: name, value: slice, line, message };
    }
  }
  return undefined;
}
