/** The tokenizer, the checkpoint beside it, and whether the two agree. */
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { z } from 'zod';
import { foldersOf, type Settings } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { parseJson } from '#core/json/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import type { Examination, Finding } from './finding.ts';
import { fail, ok, warn } from './finding.ts';

const WHAT = 'tokenizer';
const REPAIR = 'Give --tokenizer the folder of the checkpoint that the target serves.';

export const examineCheckpoint: Examination = async ({ settings, cwd }) => {
  const folder = foldersOf(settings, cwd).tokenizer;
  if (folder === undefined) return [fail(WHAT, `target ${settings.target} needs one`, 'Add --tokenizer DIR.')];
  const shown = relative(cwd, folder).startsWith('..') ? folder : relative(cwd, folder) || '.';
  let tokenizer: Tokenizer;
  try {
    tokenizer = loadTokenizer(folder);
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    return [fail(WHAT, `${shown}: ${error.message}`, error.hint ?? REPAIR)];
  }
  const found = ok(WHAT, `${shown}: ${tokenizer.vocabSize} tokens, sha256 ${tokenizer.hash.slice(0, 12)}`);
  return [
    found,
    examineTemplate(tokenizer),
    ...examineModel(folder, tokenizer, !servesCheckpoint(settings)),
    ...examineEnds(folder, tokenizer),
  ];
};

/** The embedded server and the CPU models serve the very folder; others have an engine or a repository, and it is the clients' tokenizer. */
function servesCheckpoint({ target, repository, engineDir, tokenizer }: Settings): boolean {
  return target !== 'external' && target !== 'openai' && repository === undefined && engineDir === undefined && tokenizer === undefined;
}

const GENERATION_CONFIG = z.object({ eos_token_id: z.union([z.number(), z.array(z.number())]).nullish() });

/** A model may end its answers with several tokens, and the stock preprocessing sends one as end_id (triton_backend/all_models). */
function examineEnds(folder: string, { eosId }: Tokenizer): readonly Finding[] {
  const path = join(folder, 'generation_config.json');
  if (!existsSync(path) || eosId === undefined) return [];
  const { data } = GENERATION_CONFIG.safeParse(parseJson(readFileSync(path)).value);
  if (data === undefined) return [warn('end of answer', 'generation_config.json cannot be read', 'Restore the file.')];
  const ends = [data.eos_token_id ?? []].flat();
  const others = ends.filter((id) => id !== eosId);
  if (others.length === 0) return [];
  if (!ends.includes(eosId)) {
    return [fail('end of answer', `eos is ${eosId} in the tokenizer and ${ends.join(' or ')} in generation_config.json`, REPAIR)];
  }
  const text = `generation_config.json ends answers with ${ends.join(' or ')}, and stock models send ${eosId} alone as end_id`;
  return [
    warn('end of answer', text, `Where answers run past ${others.join(' or ')}, set eos_token of tokenizer_config.json to that one.`),
  ];
}

function examineTemplate(tokenizer: Tokenizer): Finding {
  try {
    tokenizer.applyChatTemplate([{ role: 'user', content: 'hello' }], { addGenerationPrompt: true });
    return ok('chat template', 'renders a conversation');
  } catch (thrown) {
    return warn(
      'chat template',
      LockstepError.from(thrown).message,
      'Without it the chat route is not served; add one to tokenizer_config.json.',
    );
  }
}

const MODEL_CONFIG = z.object({
  vocab_size: z.number().optional(),
  bos_token_id: z.number().nullish(),
  eos_token_id: z.union([z.number(), z.array(z.number())]).nullish(),
  pad_token_id: z.number().nullish(),
});
type ModelConfig = z.output<typeof MODEL_CONFIG>;

function examineModel(folder: string, tokenizer: Tokenizer, apart: boolean): readonly Finding[] {
  const path = join(folder, 'config.json');
  if (!existsSync(path)) {
    if (apart)
      return [
        warn(
          'checkpoint',
          'no config.json beside the tokenizer: it cannot be compared',
          'Copy config.json of the served checkpoint there.',
        ),
      ];
    return [fail('checkpoint', 'config.json is missing', REPAIR)];
  }
  const json = parseJson(readFileSync(path));
  if (json.text === undefined) {
    return [fail('checkpoint', `config.json:${json.line}:${json.column}: no JSON: ${json.problem}`, 'Restore the file.')];
  }
  const { data: config, error } = MODEL_CONFIG.safeParse(json.value);
  if (config === undefined) {
    const [issue] = error.issues;
    return [
      fail('checkpoint', `config.json, ${issue?.path.join('.')}: ${issue?.message.replace('Invalid input: ', '')}`, 'Restore the file.'),
    ];
  }
  const wrong = disagreements(config, tokenizer);
  if (wrong.length > 0) return [fail('checkpoint', `config.json and tokenizer disagree: ${wrong.join('; ')}`, REPAIR)];
  const weights = existsSync(join(folder, 'model.safetensors'));
  if (!weights && !apart) return [fail('checkpoint', 'model.safetensors is missing', 'Restore docker/checkpoint from version control.')];
  const ids = `bos ${tokenizer.bosId ?? 'none'}, eos ${tokenizer.eosId ?? 'none'}, pad ${tokenizer.padId ?? 'none'}`;
  return [ok('checkpoint', `vocabulary ${config.vocab_size ?? 'unknown'}, ${ids}; the tokenizer agrees`)];
}

/** A model may have more rows than the tokenizer has tokens (padding to a multiple), never fewer. */
function disagreements(config: ModelConfig, tokenizer: Tokenizer): string[] {
  const wrong: string[] = [];
  if (config.vocab_size !== undefined && config.vocab_size < tokenizer.vocabSize)
    wrong.push(`${tokenizer.vocabSize} tokens, but vocab_size ${config.vocab_size}`);
  const pairs = [
    ['bos', config.bos_token_id, tokenizer.bosId],
    ['eos', config.eos_token_id, tokenizer.eosId],
    ['pad', config.pad_token_id, tokenizer.padId],
  ] as const;
  for (const [name, configured, known] of pairs) {
    if (configured === undefined || configured === null || known === undefined) continue;
    const allowed = Array.isArray(configured) ? (configured as readonly number[]) : [configured as number];
    if (!allowed.includes(known)) wrong.push(`${name} is ${known} in the tokenizer and ${allowed.join(' or ')} in config.json`);
  }
  return wrong;
}
