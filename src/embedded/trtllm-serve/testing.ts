/**
 * For tests: trtllm-serve on a socket, in front of the scripted engine, with the tokenizer that the observed server had:
 * byte-level BPE of 288 ids, `</s>` 2, `Y` 60, BOS added by a post-processor and by the chat template.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { nowNs } from '#core/clock/index.ts';
import { RELEASES } from '#core/profile/index.ts';
import { loadTokenizer, type Tokenizer } from '#wire/tokenizer/index.ts';
import { createScriptedEngine, type Engine, type EngineRequest, type Script } from '../engine/index.ts';
import type { Listening } from '../http/index.ts';
import { startTrtllmServe } from './server.ts';

const SPECIAL = ['<unk>', '<s>', '</s>', '<pad>'];
const MERGES =
  'H e|l l|He ll|Hell o|Ġ w|o r|Ġw or|l d|Ġwor ld|Ġ o|Ġo f|Ġ s|t o|Ġs to|Ġsto p|Ġ to|k e|n s|ke ns|Ġto kens|Ġ Hello|Ġ a|Ġ b|t e|x t|te xt|Ġ text|e s'.split(
    '|',
  );

const BYTES = Array.from({ length: 256 }, (_, byte) => byte);
const printable = (byte: number) => (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;

/** How byte-level BPE spells a byte: printable ones as themselves, the rest from U+0100 on. */
function spelling(byte: number): string {
  return String.fromCodePoint(printable(byte) ? byte : 0x100 + BYTES.filter((other) => other < byte && !printable(other)).length);
}

function alphabet(): string[] {
  return BYTES.map(spelling).sort();
}

function tokenizerOf288(): Tokenizer & Disposable {
  const dir = mkdtempSync(join(tmpdir(), 'lockstep-288-'));
  const vocab = [...SPECIAL, ...alphabet(), ...MERGES.map((merge) => merge.replace(' ', ''))];
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };
  const bos = { id: '<s>', type_id: 0 };
  writeFileSync(
    join(dir, 'tokenizer.json'),
    JSON.stringify({
      version: '1.0',
      truncation: null,
      padding: null,
      added_tokens: SPECIAL.map((content, id) => ({
        id,
        content,
        single_word: false,
        lstrip: false,
        rstrip: false,
        normalized: false,
        special: true,
      })),
      normalizer: null,
      pre_tokenizer: byteLevel,
      post_processor: {
        type: 'TemplateProcessing',
        single: [{ SpecialToken: bos }, { Sequence: { id: 'A', type_id: 0 } }],
        pair: [{ SpecialToken: bos }, { Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 0 } }],
        special_tokens: { '<s>': { id: '<s>', ids: [1], tokens: ['<s>'] } },
      },
      decoder: { ...byteLevel, add_prefix_space: true },
      model: {
        type: 'BPE',
        dropout: null,
        unk_token: null,
        continuing_subword_prefix: null,
        end_of_word_suffix: null,
        fuse_unk: false,
        byte_fallback: false,
        ignore_merges: false,
        vocab: Object.fromEntries(vocab.map((token, id) => [token, id])),
        merges: MERGES.map((merge) => merge.split(' ')),
      },
    }),
  );
  writeFileSync(
    join(dir, 'tokenizer_config.json'),
    JSON.stringify({
      bos_token: '<s>',
      eos_token: '</s>',
      pad_token: '<pad>',
      clean_up_tokenization_spaces: false,
      chat_template:
        "{{ bos_token }}{% for message in messages %}[{{ message['role'] }}]{{ message['content'] }}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}",
    }),
  );
  return { ...loadTokenizer(dir), [Symbol.dispose]: () => rmSync(dir, { recursive: true, force: true }) };
}

/** The ids of tokens that are spelt alone; `0xe2` is that byte. */
export function ids(tokenizer: Tokenizer, ...texts: readonly string[]): number[] {
  return texts.map((text) => {
    if (/^0x[0-9a-f]{2}$/.test(text)) return SPECIAL.length + alphabet().indexOf(spelling(Number(text)));
    const [id, ...more] = tokenizer.encode(text, { addSpecialTokens: false });
    if (id === undefined || more.length > 0) throw new Error(`${JSON.stringify(text)} is not one token`);
    return id;
  });
}

/** The id drawn is ahead of ` Hello` by 1, everything else is impossible. */
function withLogits(inner: Engine, second: number): Engine {
  const row = (id: number): Float32Array => {
    const logits = new Float32Array(inner.vocabSize).fill(-Infinity);
    logits[second] = -1;
    logits[id] = 0;
    return logits;
  };
  return {
    vocabSize: inner.vocabSize,
    maxSeqLen: inner.maxSeqLen,
    stats: () => inner.stats(),
    close: () => inner.close(),
    submit: (request, sink) =>
      inner.submit(request, (step) => {
        const drawn = step.finish === 'eos' ? [...step.ids, request.endId] : step.ids;
        sink(request.wantLogits ? { ...step, logits: drawn.map(row) } : step);
      }),
  };
}

export interface ServeUnderTest extends AsyncDisposable {
  readonly tokenizer: Tokenizer;
  readonly port: number;
  /** What the engine was asked for, in order. */
  readonly requests: readonly EngineRequest[];
  /** Engine requests that were told to stop before their end, and how long they had lived. */
  aborted(): readonly { readonly request: EngineRequest; readonly afterMs: number }[];
  play(script: Script | ((request: EngineRequest) => Script)): void;
}

export interface ServeSetup {
  readonly release: '1.1' | '1.3rc';
  /** Release of the models axis: 1.1 drops the EOS id, 1.2 keeps it. */
  readonly models: '1.1' | '1.2';
  readonly streamInterval?: number;
  readonly maxNumTokens?: number;
  readonly stepMs?: number;
  readonly faults?: ReadonlySet<string>;
}

export async function serveUnderTest({ release, models, stepMs = 0, ...limits }: ServeSetup): Promise<ServeUnderTest> {
  const tokenizer = tokenizerOf288();
  let script: (request: EngineRequest) => Script = () => ({ ids: [] });
  const requests: EngineRequest[] = [];
  const cancelled = new Map<EngineRequest, number>();
  const scripted = createScriptedEngine({
    vocabSize: 288,
    maxSeqLen: 128,
    stepMs,
    script: (request) => {
      requests.push(request);
      return script(request);
    },
  });
  const engine = withLogits(
    {
      ...methodsOf(scripted),
      submit: (request, sink) => {
        const startNs = nowNs();
        return scripted.submit(request, (step) => {
          if (step.finish === 'cancelled') cancelled.set(request, (nowNs() - startNs) / 1e6);
          sink(step);
        });
      },
    },
    ids(tokenizer, ' Hello')[0]!,
  );
  const facts = RELEASES.openai.find(({ id }) => id === `trtllm-serve-${release}`)!.trtllmServe!;
  const profile = { models: RELEASES.models.find(({ id }) => id === models)! };
  const listening: Listening = await startTrtllmServe({
    engine,
    tokenizer,
    profile,
    facts,
    model: 'tiny-dir',
    host: '127.0.0.1',
    port: 0,
    ...limits,
  });
  return {
    tokenizer,
    port: listening.port,
    requests,
    aborted: () => Array.from(cancelled, ([request, afterMs]) => ({ request, afterMs })),
    play: (next) => (script = typeof next === 'function' ? next : () => next),
    [Symbol.asyncDispose]: async () => {
      await listening.close(0);
      await engine.close();
      tokenizer[Symbol.dispose]();
    },
  };
}

function methodsOf(engine: Engine): Omit<Engine, 'submit'> {
  return { vocabSize: engine.vocabSize, maxSeqLen: engine.maxSeqLen, stats: () => engine.stats(), close: () => engine.close() };
}
