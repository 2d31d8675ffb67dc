import { readFileSync } from 'node:fs';
import textformat from 'protobufjs/ext/textformat.js';
import { LockstepError } from '#core/errors/index.ts';
import { configJson } from './config-json.ts';
import { modelConfigType } from './config-schema.ts';
import type { ModelConfig } from './model-config.ts';

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
    const line = /\(line (\d+)\)/.exec(message)?.[1] ?? lineOfEnum(text, message);
    const where = line === undefined ? file : `${file}:${line}`;
    throw new LockstepError('config-malformed', `${where}: ${message.replace(/ \(line \d+\)/, '')}`, {
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

/** The parser reports a bad enum value without its line: the first value of that field that is no known name. */
function lineOfEnum(text: string, message: string): string | undefined {
  const field = /\.(\w+): enum value expected/.exec(message)?.[1];
  if (field === undefined) return undefined;
  const lines = text.split('\n');
  const known = new Set(enumNames());
  const at = lines.findIndex((line) => {
    const value = new RegExp(`\\b${field}\\s*:\\s*([\\w$\\{\\}]+)`).exec(line)?.[1];
    return value !== undefined && !known.has(value);
  });
  return at < 0 ? undefined : String(at + 1);
}

function enumNames(): string[] {
  const root = modelConfigType().root;
  return [
    'DataType',
    'ModelInstanceGroup.Kind',
    'ModelInput.Format',
    'BatchInput.Kind',
    'BatchOutput.Kind',
    'ModelOptimizationPolicy.ModelPriority',
    'ModelQueuePolicy.TimeoutAction',
    'ModelSequenceBatching.Control.Kind',
  ].flatMap((name) => Object.keys(root.lookupEnum(`inference.${name}`).values));
}
