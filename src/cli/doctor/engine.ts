/** The TensorRT-LLM engine, and whether tokenizer and engine belong together. */
import { resolve } from 'node:path';
import { foldersOf } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { readEngineFolder } from '#targets/repository/index.ts';
import { loadTokenizer, type Tokenizer } from '#wire/tokenizer/index.ts';
import type { Examination, Finding } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

export const examineEngine: Examination = async ({ settings, cwd }) => {
  if (settings.engineDir === undefined) return [];
  const folder = resolve(cwd, settings.engineDir);
  try {
    const engine = readEngineFolder(folder);
    const built = engine.version === undefined ? 'a TensorRT-LLM that it does not name' : `TensorRT-LLM ${engine.version}`;
    const layout = `tensor ${engine.tensorParallel}, pipeline ${engine.pipelineParallel}, batch ${engine.maxBatchSize ?? 'unknown'}, beams ${engine.maxBeamWidth}, ${engine.tokensPerBlock ?? 'unknown'} tokens per block`;
    const found = ok('engine', `built by ${built}; ${layout}; an image must have the very same release`);
    const tokenizer = foldersOf(settings, cwd).tokenizer;
    return [found, ...(tokenizer === undefined ? [] : examineVocabulary(engine.config.value, tokenizer))];
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    return [fail('engine', error.message, error.hint ?? 'Give the folder that trtllm-build wrote.')];
  }
};

function examineVocabulary(config: unknown, folder: string): readonly Finding[] {
  const { pretrained_config: pretrained = {} } = config as { readonly pretrained_config?: { readonly vocab_size?: unknown } };
  const rows = pretrained.vocab_size;
  let tokenizer: Tokenizer;
  try {
    tokenizer = loadTokenizer(folder);
  } catch {
    // The line of the tokenizer says so already.
    return [];
  }
  const ends = tokenizer.eosId === undefined ? ['no eos, so nothing tells the engine its end_id'] : [];
  if (typeof rows !== 'number')
    return [warn('engine', 'config.json names no vocab_size, so it cannot be compared with the tokenizer', 'Compare them by hand.')];
  const wrong = [...(rows < tokenizer.vocabSize ? [`it has ${rows} rows, the tokenizer ${tokenizer.vocabSize} tokens`] : []), ...ends];
  if (wrong.length > 0)
    return [
      fail(
        'engine',
        `engine and tokenizer do not belong together: ${wrong.join('; ')}`,
        'Give --tokenizer the folder of the checkpoint that the engine was built from.',
      ),
    ];
  return [
    ok(
      'engine',
      `vocabulary ${rows} holds the ${tokenizer.vocabSize} tokens; end_id ${tokenizer.eosId}, pad_id ${tokenizer.padId ?? tokenizer.eosId}`,
    ),
  ];
}
