/** tensorrt_llm_bls over an engine that says what the observed one said (docs/observed.md#bls): literals of that page. */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sleep } from '#core/deadline/index.ts';
import { DEFAULT_PROFILE, IDEAL_PROFILE, type ReleaseProfile } from '#core/profile/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import {
  type CoreInferResponse,
  type CoreTensor,
  createTritonCore,
  type ModelRequest,
  type ResponseSender,
  type TritonCore,
} from '../core/index.ts';
import { createScriptedEngine } from '../engine/index.ts';
import { REPOSITORY } from '../grpc/testing.ts';
import { stockModels } from './index.ts';
import { boolTensor, bytesTensor, decodeBytesElements, fp32Tensor, int32Tensor, int32Values } from './values.ts';

const tokenizer = loadTokenizer(`${REPOSITORY}/../checkpoint/tiny`);
const idsOf = (text: string) => tokenizer.encode(text, { addSpecialTokens: false });

/** One response of the engine: the ids of its one beam (or of each), or an error. */
type Step = { readonly ids: readonly (readonly number[])[]; readonly row?: number } | { readonly error: string };
const say = (...texts: readonly string[]): Step[] => texts.map((text) => ({ ids: [idsOf(text)] }));
const END: Step = { ids: [[]] };

interface Seen {
  readonly id: string;
  readonly inputs: readonly string[];
  cancelled: boolean;
}

interface Options {
  readonly script: readonly Step[];
  readonly profile?: ReleaseProfile;
  readonly faults?: readonly string[];
  readonly repository?: string;
  /** Before each response. */
  readonly stepMs?: number;
}

/** A core whose tensorrt_llm answers every request but a stop with the script. */
function start({ script, profile = DEFAULT_PROFILE, faults = [], repository = REPOSITORY, stepMs = 0 }: Options): {
  readonly core: TritonCore;
  readonly seen: Seen[];
  readonly stopped: string[];
} {
  const seen: Seen[] = [];
  const stopped: string[] = [];
  const stock = stockModels({ engine: createScriptedEngine(), profile, faults: new Set(faults) });
  const answer = async (request: ModelRequest, send: ResponseSender['send'], fail: (text: string) => void) => {
    const record: Seen = { id: request.id, inputs: [...request.inputs.keys()], cancelled: false };
    seen.push(record);
    request.onCancel(() => (record.cancelled = true));
    for (const [i, step] of script.entries()) {
      if (stepMs > 0) await sleep(stepMs);
      if ('error' in step) return fail(step.error);
      const last = i === script.length - 1 || record.cancelled || stopped.includes(request.id);
      const width = Math.max(...step.ids.map((ids) => ids.length));
      const rows = step.ids.flatMap((ids) => [...ids, ...new Array<number>(width - ids.length).fill(-1)]);
      const outputs = [
        int32Tensor('output_ids', [1, step.ids.length, width], rows),
        int32Tensor(
          'sequence_length',
          [1, step.ids.length],
          step.ids.map((ids) => ids.length),
        ),
        ...(step.row === undefined ? [] : [int32Tensor('batch_index', [1, 1], [step.row])]),
      ];
      const rest = script.slice(i + 1);
      send(outputs, last, { index: step.row ?? 0, last: last || !rest.some((later) => 'ids' in later && later.row === step.row) });
      if (last) return;
    }
  };
  const core = createTritonCore({
    repository,
    profile,
    faults: new Set(faults),
    factory: (config) =>
      config.name !== 'tensorrt_llm'
        ? stock(config)
        : () => ({
            execute: (request, sender) => {
              if ((request.inputs.get('stop')?.data[0] ?? 0) !== 0) {
                stopped.push(request.id);
                sender.close();
                return;
              }
              void answer(request, sender.send.bind(sender), (text) => sender.sendError('INTERNAL', text, true));
            },
          }),
  });
  return { core, seen, stopped };
}

interface Asked {
  readonly model?: string;
  readonly texts?: readonly string[];
  readonly maxTokens?: number;
  readonly stream?: boolean;
  readonly stopWords?: readonly string[];
  readonly more?: readonly CoreTensor[];
  readonly without?: string;
  /** The client goes away once so many responses arrived. */
  readonly cancelAfter?: number;
}

function answerTo(core: TritonCore, asked: Asked = {}): Promise<string[]> {
  const { model = 'tensorrt_llm_bls', texts = ['x'], maxTokens = 8, stream = true, stopWords, more = [], without, cancelAfter } = asked;
  const n = texts.length;
  const inputs = [
    bytesTensor('text_input', [n, 1], texts),
    int32Tensor('max_tokens', [n, 1], new Array<number>(n).fill(maxTokens)),
    boolTensor('stream', [n, 1], new Array<boolean>(n).fill(stream)),
    boolTensor('exclude_input_in_output', [n, 1], new Array<boolean>(n).fill(true)),
    ...(stopWords === undefined ? [] : [bytesTensor('stop_words', [1, stopWords.length], stopWords)]),
    ...more,
  ].filter(({ name }) => name !== without);
  const { promise, resolve } = Promise.withResolvers<string[]>();
  const lines: string[] = [];
  const handle = core.infer(
    { modelName: model, modelVersion: '', id: 'client', parameters: new Map(), inputs, requestedOutputs: [] },
    (response, final) => {
      lines.push(`${shown(response)} ${final ? 'F' : '-'}`);
      if (lines.length === cancelAfter) handle.cancel();
      if (final) resolve(lines);
    },
    'grpc',
  );
  return promise;
}

/** The texts in quotation marks; the last line of an error; `flag` for a flag alone. */
function shown(response: CoreInferResponse | undefined): string {
  if (response === undefined) return 'flag';
  if (response.error !== undefined) return `${response.error.code} ${response.error.message.trimEnd().split('\n').at(-1)}`;
  const of = (name: string) => response.outputs.find((output) => output.name === name);
  const texts = decodeBytesElements(of('text_output')?.data ?? new Uint8Array()).map((text) =>
    JSON.stringify(Buffer.from(text).toString()),
  );
  const row = of('batch_index');
  return texts.join(' ') + (row === undefined ? '' : ` of ${int32Values(row.data)[0]}`);
}

const ACCUMULATE = 'tensorrt_llm_bls_accumulate';

test.each([
  [
    'EOS after three',
    [...say('The', ' sea', ' is'), END],
    ['"The" -', '" sea" -', '" is" -', '"" -', 'flag F'],
    ['"The" -', '"The sea" -', '"The sea is" -', '"The sea is" -', 'flag F'],
  ],
  ['the last of max_tokens', say('The', ' sea'), ['"The" -', '" sea" -', 'flag F'], ['"The" -', '"The sea" -', 'flag F']],
  ['EOS at once', [END], ['"" -', 'flag F'], ['"" -', 'flag F']],
  ['several tokens at once', say('The sea', ' is'), ['"The sea" -', '" is" -', 'flag F'], ['"The sea" -', '"The sea is" -', 'flag F']],
  [
    'a character in parts',
    idsOf('日本').map((id): Step => ({ ids: [[id]] })),
    ['"�" -', '"�" -', '"�" -', '"�" -', '"�" -', '"�" -', 'flag F'],
    ['"�" -', '"�" -', '"日" -', '"日�" -', '"日�" -', '"日本" -', 'flag F'],
  ],
  [
    'an error first',
    [{ error: 'boom' }],
    ['INTERNAL c_python_backend_utils.TritonModelException: boom -', 'flag F'],
    ['INTERNAL c_python_backend_utils.TritonModelException: boom -', 'flag F'],
  ],
  [
    'an error later: upstream hangs here, and this must not',
    [...say('The', ' sea'), { error: 'boom' }],
    ['"The" -', '" sea" -', 'INTERNAL c_python_backend_utils.TritonModelException: boom -', 'flag F'],
    ['"The" -', '"The sea" -', 'INTERNAL c_python_backend_utils.TritonModelException: boom -', 'flag F'],
  ],
  [
    'two beams',
    [{ ids: [idsOf('The'), idsOf(' sea')] }],
    ['"The" " sea" -', 'flag F'],
    ['INTERNAL Exception: Accumulation of tokens is only implemented for beam width = 1 -', 'flag F'],
  ],
] as const)('%s', async (_, script, plain, accumulated) => {
  const { core } = start({ script });
  expect(await answerTo(core)).toEqual(plain);
  expect(await answerTo(core, { model: ACCUMULATE })).toEqual(accumulated);
});

test('two prompts at once: each response says whose it is, and each accumulates its own tokens', async () => {
  const script: Step[] = [
    { ids: [idsOf('The')], row: 0 },
    { ids: [idsOf(' red')], row: 1 },
    { ids: [idsOf(' sea')], row: 0 },
  ];
  const { core, seen } = start({ script });
  expect(await answerTo(core, { texts: ['x', 'y'] })).toEqual(['"The" of 0 -', '" red" of 1 -', '" sea" of 0 -', 'flag F']);
  expect(await answerTo(core, { texts: ['x', 'y'], model: ACCUMULATE })).toEqual([
    '"The" of 0 -',
    '" red" of 1 -',
    '"The sea" of 0 -',
    'flag F',
  ]);
  expect(seen).toHaveLength(2);
});

test('a release that holds characters back does so for every row and every beam by itself', async () => {
  const profile = IDEAL_PROFILE;
  const [moon, book] = [idsOf('月'), idsOf('本')];
  const parts = (ids: readonly number[], row: number): Step[] => ids.map((id) => ({ ids: [[id]], row }));
  const rows = [0, 1, 2].flatMap((k) => [...parts(moon.slice(k, k + 1), 0), ...parts(book.slice(k, k + 1), 1)]);
  const asked = { texts: ['x', 'y'] };
  const held = ['"" of 0 -', '"" of 1 -', '"" of 0 -', '"" of 1 -'];
  const { core } = start({ script: rows, profile });
  expect(await answerTo(core, asked)).toEqual([...held, '"月" of 0 -', '"本" of 1 -', 'flag F']);
  expect(await answerTo(core, { ...asked, model: ACCUMULATE })).toEqual([...held, '"月" of 0 -', '"本" of 1 -', 'flag F']);
  // The row that is cut shows so with its own last response, and not with the last of all.
  const cut = start({ script: [...parts(moon.slice(0, 1), 0), ...parts(book, 1)], profile });
  const shownCut = ['"�" of 0 -', '"" of 1 -', '"" of 1 -', '"本" of 1 -', 'flag F'];
  expect(await answerTo(cut.core, asked)).toEqual(shownCut);
  expect(await answerTo(cut.core, { ...asked, model: ACCUMULATE })).toEqual(shownCut);
  const beams = start({ script: [0, 1, 2].map((k): Step => ({ ids: [moon.slice(k, k + 1), book.slice(k, k + 1)] })), profile });
  expect(await answerTo(beams.core)).toEqual(['"" "" -', '"" "" -', '"月" "本" -', 'flag F']);
});

test('what is wrong with a request itself stands at the end of a traceback', async () => {
  const { core, seen } = start({ script: say('The') });
  const refusal = 'INTERNAL lib.decode.RequestValidationError: max_tokens must be a single value > 0 -';
  for (const maxTokens of [0, -1]) expect(await answerTo(core, { maxTokens })).toEqual([refusal, 'flag F']);
  expect(await answerTo(core, { without: 'max_tokens' })).toEqual([refusal, 'flag F']);
  expect(await answerTo(core, { without: 'text_input' })).toEqual([
    'INTERNAL lib.decode.RequestValidationError: text_input is required -',
    'flag F',
  ]);
  expect(seen).toEqual([]);
});

test('a generation without the check leaves it to those behind', async () => {
  const { bls } = DEFAULT_PROFILE.models;
  const models = { ...DEFAULT_PROFILE.models, bls: { ...bls, checksMaxTokens: { ...bls.checksMaxTokens, value: false } } };
  const { core } = start({ script: say('The'), profile: { ...DEFAULT_PROFILE, models } });
  expect(await answerTo(core, { maxTokens: 0 })).toEqual(['"The" -', 'flag F']);
  expect((await answerTo(core, { without: 'max_tokens' }))[0]).toMatch(
    /TritonModelException: .*expected number of inputs between 2 and 10 but got 1 inputs for model 'preprocessing'/,
  );
});

test('the engine is asked under a uuid, with both switches for logits, and for one sequence', async () => {
  const { core, seen } = start({ script: say('The') });
  await answerTo(core, { more: [int32Tensor('num_return_sequences', [1, 1], [2]), fp32Tensor('temperature', [1, 1], [0.5])] });
  expect(seen[0]?.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(seen[0]?.inputs.toSorted()).toEqual(
    [
      'input_ids',
      'decoder_input_ids',
      'input_lengths',
      'bad_words_list',
      'stop_words_list',
      'embedding_bias',
      'pad_id',
      'end_id',
      'request_output_len',
      'streaming',
      'exclude_input_in_output',
      'temperature',
      'return_context_logits',
      'return_generation_logits',
    ].toSorted(),
  );
});

test('one request at a time', async () => {
  const { core } = start({ script: say('The', ' sea'), stepMs: 20 });
  const ended: number[] = [];
  await Promise.all([0, 1, 2].map((i) => answerTo(core).then(() => ended.push(i))));
  expect(ended).toEqual([0, 1, 2]);
});

test('a cancel stops nothing; the release that is wished for hands it on', async () => {
  for (const [profile, expected] of [
    [DEFAULT_PROFILE, false],
    [IDEAL_PROFILE, true],
  ] as const) {
    const { core, seen } = start({ script: say('The', ' sea', ' is', ' red'), profile, stepMs: 20 });
    expect((await answerTo(core, { cancelAfter: 1 })).length).toBe(expected ? 3 : 5);
    expect(seen[0]?.cancelled).toBe(expected);
  }
});

test('fault bls-hangs-on-late-error: no end for this request, and none for the next', async () => {
  const { core } = start({ script: [...say('The'), { error: 'boom' }], faults: ['bls-hangs-on-late-error'] });
  const ended = await Promise.race([answerTo(core), answerTo(core), sleep(100).then(() => 'never')]);
  expect(ended).toBe('never');
});

/** Something said before, and four responses behind. */
const spelt = (...texts: readonly string[]) => [...say('The', ...texts, ' red', ' red', ' red'), END];

test.each([
  ['one word of whole chunks', [' stop'], [' ', 's', 't', 'o', 'p'], 5],
  ['two words, the one in question second', ['zzz', ' stop'], [' ', 's', 't', 'o', 'p'], undefined],
  ['two words, the one in question first', [' stop', 'zzz'], [' ', 's', 't', 'o', 'p'], undefined],
  ['a word that one chunk is, behind another', ['zzz', ' red'], [' blue', ' red'], 2],
  ['a chunk that begins before the word', ['stop'], [' s', 't', 'o', 'p'], undefined],
  ['a chunk that ends behind the word', ['st'], ['s', 'to'], undefined],
  ['a word that is begun twice', ['aab'], ['a', 'a', 'a', 'b'], undefined],
  ['no word but empty ones', [''], [' ', 's'], undefined],
] as const)('text stop words, streamed: %s', async (_, stopWords, texts, after) => {
  const { core, seen, stopped } = start({ script: spelt(...texts), stepMs: 2 });
  const lines = await answerTo(core, { stopWords });
  expect(lines).toHaveLength((after === undefined ? 1 + texts.length + 4 : 1 + after) + 1);
  expect(stopped).toEqual(after === undefined ? [] : [seen[0]?.id]);
  expect(await answerTo(core, { stopWords, model: ACCUMULATE })).toHaveLength(1 + texts.length + 4 + 1);
});

test('accumulated, the whole text so far is compared: a word can only be met where the answer is nothing else', async () => {
  const { core } = start({ script: say(' stop', ' red') });
  expect(await answerTo(core, { stopWords: [' stop'], model: ACCUMULATE })).toEqual(['" stop" -', 'flag F']);
});

test('text stop words, not streamed: cut behind the first of the list, and a stop that nobody needs', async () => {
  const { core, stopped } = start({ script: say('hello world stopper zzz') });
  const cut = (stopWords: readonly string[]) => answerTo(core, { stopWords, stream: false });
  expect(await cut(['zz', ' stop'])).toEqual(['"hello world stopper zz" -', 'flag F']);
  expect(await cut([' stop'])).toEqual(['"hello world stop" -', 'flag F']);
  expect(stopped).toHaveLength(2);
  expect(await cut(['nowhere'])).toEqual(['"hello world stopper zzz" -', 'flag F']);
  const { core: ideal } = start({ script: say('hello world stopper zzz'), profile: IDEAL_PROFILE });
  expect(await answerTo(ideal, { stopWords: [' stop'], stream: false })).toEqual(['"hello world stopper zzz" -', 'flag F']);
});

test('where the prompt is part of the text the search begins behind it', async () => {
  const { core } = start({ script: say('stop now stop there') });
  const lines = await answerTo(core, { stopWords: ['stop'], stream: false, texts: ['stop'], without: 'exclude_input_in_output' });
  expect(lines).toEqual(['"stop now stop" -', 'flag F']);
});

test('not decoupled: one response that is final, and so is an error', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'lockstep-bls-'));
  const repository = join(folder, 'models');
  cpSync(REPOSITORY, repository, { recursive: true });
  symlinkSync(join(REPOSITORY, '..', 'checkpoint'), join(folder, 'checkpoint'));
  for (const model of ['tensorrt_llm', 'tensorrt_llm_bls', ACCUMULATE]) {
    const config = join(repository, model, 'config.pbtxt');
    writeFileSync(config, readFileSync(config, 'utf8').replace('decoupled: true', 'decoupled: false'));
  }
  try {
    for (const model of ['tensorrt_llm_bls', ACCUMULATE]) {
      expect(await answerTo(start({ script: say('The sea'), repository }).core, { stream: false, model })).toEqual(['"The sea" F']);
      expect(await answerTo(start({ script: [{ error: 'boom' }], repository }).core, { stream: false, model })).toEqual([
        'INTERNAL c_python_backend_utils.TritonModelException: boom F',
      ]);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
