/** Requests of several rows and several sequences, through the raw model and the ensemble. */
import { afterAll, describe, expect, test } from 'vitest';
import { boolTensor, bytesTensor, fp32Tensor, int32Tensor, type Tensor, uint64Tensor } from '#wire/protocol/tensors.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { createLlamaEngine } from '../engine/index.ts';
import { CHECKPOINT } from '../engine/testing.ts';
import { EMPTY_FINAL, ensemble, GrpcLab, type Infer, type Message, raw, REPOSITORY, stream, STREAMING } from '../grpc/testing.ts';

const lab = await GrpcLab.start({ engine: createLlamaEngine({ checkpoint: CHECKPOINT }) });
afterAll(() => lab[Symbol.asyncDispose]());

const END = int32Tensor('end_id', [1, 1], [1]);
const SAMPLED = [int32Tensor('runtime_top_k', [1, 1], [50]), fp32Tensor('temperature', [1, 1], [2])];
const PROMPT = [0, 4, 80, 81, 5];
const seed = (value: bigint) => uint64Tensor('seed', [1, 1], [value]);
const sequences = (n: number) => int32Tensor('num_return_sequences', [1, 1], [n]);

const outputOf = (m: Message, name: string) => m.outputs[name]?.[2] ?? [];
const finals = (messages: readonly Message[]) => messages.map((m) => m.final);

/** All ids of each row or sequence, by the value of `index`. */
function idsBy(messages: readonly Message[], index: string): number[][] {
  const out: number[][] = [];
  for (const m of messages) {
    expect(m.outputs[index]?.slice(0, 2)).toEqual(['INT32', '1,1']);
    (out[Number(outputOf(m, index)[0])] ??= []).push(...(outputOf(m, 'output_ids') as number[]));
  }
  return out;
}

const answerOf = async (request: Infer) => (await lab.stream(request)).flatMap((m) => outputOf(m, 'output_ids') as number[]);

describe('num_return_sequences', () => {
  test.each<readonly [string, readonly Tensor[]]>([
    ['streamed', [STREAMING]],
    ['whole', [boolTensor('exclude_input_in_output', [1, 1], [true])]],
  ])('%s: sequence i is the answer to the seed plus i, its index rides on every response, the flag on the last', async (_, how) => {
    const inputs = [...SAMPLED, END, ...how];
    const messages = await lab.stream(raw(PROMPT, 12, [...inputs, seed(7n), sequences(3)], { parameters: EMPTY_FINAL }));
    expect(finals(messages).lastIndexOf(false)).toBe(messages.length - 2);
    const alone = [];
    for (const i of [7n, 8n, 9n]) alone.push(await answerOf(raw(PROMPT, 12, [...inputs, seed(i)])));
    expect(idsBy(messages, 'sequence_index')).toEqual(alone);
    expect(new Set(alone.map(String)).size).toBe(3);
  });

  test('without a seed they count from 0, and wrap at 64 bits', async () => {
    const ask = (more: readonly Tensor[]) => lab.stream(raw(PROMPT, 8, [...SAMPLED, STREAMING, sequences(2), ...more]));
    expect(idsBy(await ask([]), 'sequence_index')).toEqual(idsBy(await ask([seed(0n)]), 'sequence_index'));
    const [, wrapped] = idsBy(await ask([seed(2n ** 64n - 1n)]), 'sequence_index');
    expect(wrapped).toEqual(idsBy(await ask([]), 'sequence_index')[0]);
  });

  test('greedy sequences are equal; one sequence has no index; none is refused', async () => {
    const [first, second] = idsBy(await lab.stream(raw(PROMPT, 6, [STREAMING, sequences(2)])), 'sequence_index');
    expect(second).toEqual(first);
    expect((await lab.stream(raw(PROMPT, 1, [sequences(1)])))[0]?.outputs['sequence_index']).toBeUndefined();
    expect((await lab.stream(raw(PROMPT, 1, [sequences(0)])))[0]?.error).toMatch(/num_return_sequences must be at least 1, got 0$/);
  });

  test('a release that holds characters back does so for every sequence by itself, on every way to it', async () => {
    const tokenizer = loadTokenizer(`${REPOSITORY}/../checkpoint/tiny`);
    const ids = tokenizer.encode('日本', { addSpecialTokens: false });
    const cut = ids.slice(0, -1);
    expect([ids.length, tokenizer.decode(cut)]).toEqual([6, '日\ufffd']);
    await using ideal = await GrpcLab.start({ profile: 'ideal', script: () => ({ ids }) });
    for (const [model, texts] of [
      ['ensemble', ['', '', '日', '', '\ufffd']],
      ['tensorrt_llm_bls', ['', '', '日', '', '\ufffd']],
      ['tensorrt_llm_bls_accumulate', ['', '', '日', '日', '日\ufffd']],
    ] as const) {
      const messages = await ideal.stream({ ...ensemble('x', cut.length, [stream, sequences(2)]), model });
      for (const sequence of [0, 1]) {
        const own = messages.filter((m) => outputOf(m, 'sequence_index')[0] === sequence);
        expect([model, ...own.flatMap((m) => outputOf(m, 'text_output'))]).toEqual([model, ...texts]);
      }
    }
  });

  test('the ensemble passes the index on with the text of that sequence', async () => {
    const inputs = [stream, sequences(2), seed(7n), int32Tensor('top_k', [1, 1], [50]), fp32Tensor('temperature', [1, 1], [2])];
    const messages = await lab.stream(ensemble('<|user|>Flip a coin.<|assistant|>', 6, inputs, { parameters: EMPTY_FINAL }));
    expect(finals(messages).lastIndexOf(true)).toBe(messages.length - 1);
    expect(finals(messages).filter(Boolean)).toHaveLength(1);
    expect(new Set(messages.map((m) => Number(outputOf(m, 'sequence_index')[0])))).toEqual(new Set([0, 1]));
    expect(messages.every((m) => m.outputs['text_output']?.[1] === '1')).toBe(true);
  });
});

describe('a batch', () => {
  const prompts = [PROMPT, [0, 4, 90], [0, 4, 80, 81, 82, 83, 5]];
  const width = Math.max(...prompts.map((p) => p.length));
  const batch = (more: readonly Tensor[]): Infer => ({
    model: 'tensorrt_llm',
    inputs: [
      // Padding must not matter: it lies beyond input_lengths.
      int32Tensor(
        'input_ids',
        [3, width],
        prompts.flatMap((p) => [...p, ...Array<number>(width - p.length).fill(2)]),
      ),
      int32Tensor(
        'input_lengths',
        [3, 1],
        prompts.map((p) => p.length),
      ),
      int32Tensor('request_output_len', [3, 1], [5, 9, 7]),
      boolTensor('streaming', [3, 1], [true, true, true]),
      ...more,
    ],
    parameters: EMPTY_FINAL,
  });

  test('each row is the answer to its prompt alone, batch_index on every response, the flag on the last', async () => {
    const messages = await lab.stream(batch([]));
    const alone = [];
    for (const [i, prompt] of prompts.entries()) alone.push(await answerOf(raw(prompt, [5, 9, 7][i]!, [STREAMING])));
    expect(idsBy(messages, 'batch_index')).toEqual(alone);
    expect(finals(messages)).toEqual([...Array<boolean>(20).fill(false), true]);
  });

  test('rows times sequences, with both indices', async () => {
    const messages = await lab.stream(batch([int32Tensor('num_return_sequences', [3, 1], [2, 2, 2])]));
    const pairs = messages.map((m) => `${outputOf(m, 'batch_index')[0]}/${outputOf(m, 'sequence_index')[0]}`);
    expect(new Set(pairs)).toEqual(new Set(['0/0', '0/1', '1/0', '1/1', '2/0', '2/1']));
    expect(finals(messages).filter(Boolean)).toHaveLength(1);
  });

  test('through the ensemble: text of the row, batch_index INT32 [1,1], the flag on the last', async () => {
    const texts = ['<|user|>Flip a coin.<|assistant|>', '<|user|>Say nothing.<|assistant|>'];
    const messages = await lab.stream({
      model: 'ensemble',
      inputs: [
        bytesTensor('text_input', [2, 1], texts),
        int32Tensor('max_tokens', [2, 1], [4, 4]),
        boolTensor('exclude_input_in_output', [2, 1], [true, true]),
      ],
      parameters: EMPTY_FINAL,
    });
    const exclude = boolTensor('exclude_input_in_output', [1, 1], [true]);
    const rows = new Map(messages.map((m) => [Number(outputOf(m, 'batch_index')[0]), outputOf(m, 'text_output')]));
    for (const [i, text] of texts.entries()) {
      expect(rows.get(i)).toEqual(outputOf((await lab.stream(ensemble(text, 4, [exclude])))[0]!, 'text_output'));
    }
    expect(finals(messages)).toEqual([false, true]);
  });
});

describe('beams', () => {
  const COLOURS = '<|user|>Name three colours.<|assistant|>';
  const width = (n: number) => int32Tensor('beam_width', [1, 1], [n]);
  const EXCLUDED = boolTensor('exclude_input_in_output', [1, 1], [true]);

  test('whole: [1,beams,n] padded with -1 to the longest, lengths [1,beams], the prompt before each unless excluded', async () => {
    const [m] = await lab.stream(raw([0, 45, 74, 81, 322], 24, [END, width(3), EXCLUDED, boolTensor('return_log_probs', [1, 1], [true])]));
    const lengths = outputOf(m!, 'sequence_length') as number[];
    const longest = Math.max(...lengths);
    expect(m!.final).toBe(true);
    expect(m!.outputs['sequence_length']?.[1]).toBe('1,3');
    expect(m!.outputs['output_ids']?.[1]).toBe(`1,3,${longest}`);
    expect(m!.outputs['output_log_probs']?.[1]).toBe(`1,3,${longest}`);
    expect(m!.outputs['cum_log_probs']?.[1]).toBe('1,3');
    expect(new Set(lengths).size).toBeGreaterThan(1);
    const ids = outputOf(m!, 'output_ids') as number[];
    lengths.forEach((length, b) => {
      const row = ids.slice(b * longest, (b + 1) * longest);
      expect(row.map((id) => id === -1)).toEqual(row.map((_, i) => i >= length));
    });
    const [full] = await lab.stream(raw([0, 45, 74, 81, 322], 24, [END, width(3)]));
    expect(outputOf(full!, 'sequence_length')).toEqual(lengths.map((length) => length + 5));
    expect((outputOf(full!, 'output_ids') as number[]).slice(longest + 5, longest + 10)).toEqual([0, 45, 74, 81, 322]);
  });

  test('streamed: every response covers all beams as they rank now, lengths of what it holds, the flag on the last', async () => {
    const messages = await lab.stream(raw(PROMPT, 6, [STREAMING, width(2)], { parameters: EMPTY_FINAL }));
    expect(finals(messages)).toEqual([...Array<boolean>(5).fill(false), true]);
    expect(messages.map((m) => m.outputs['output_ids']?.[1])).toEqual(Array(6).fill('1,2,1'));
    expect(messages.map((m) => outputOf(m, 'sequence_length'))).toEqual(Array(6).fill([1, 1]));
    const [whole] = await lab.stream(raw(PROMPT, 6, [width(2), EXCLUDED]));
    expect(outputOf(messages.at(-1)!, 'output_ids')).toEqual([5, 11].map((i) => outputOf(whole!, 'output_ids')[i]));
  });

  test('through the ensemble: one text per beam', async () => {
    const [m] = await lab.stream(ensemble(COLOURS, 24, [width(3), EXCLUDED]));
    expect(m!.outputs['text_output']?.[1]).toBe('3');
    const texts = outputOf(m!, 'text_output');
    expect(new Set(texts).size).toBe(3);
    const streamed = await lab.stream(ensemble(COLOURS, 24, [width(3), stream]));
    expect(streamed.every((one) => one.error === '' && one.outputs['text_output']?.[1] === '3')).toBe(true);
  });

  test('num_return_sequences tells so many of the beams, with an index that says nothing', async () => {
    const [all] = await lab.stream(raw(PROMPT, 6, [width(4), EXCLUDED]));
    const two = await lab.stream(raw(PROMPT, 6, [width(4), sequences(2), EXCLUDED]));
    expect(two).toHaveLength(1);
    expect(outputOf(two[0]!, 'output_ids')).toEqual(outputOf(all!, 'output_ids').slice(0, 12));
    expect(outputOf(two[0]!, 'sequence_index')).toEqual([0]);
  });
});

test('context logits are [1,prompt,vocabulary], generation logits of beams [1,beams,n,vocabulary], measurements [1,1]', async () => {
  const asked = ['return_context_logits', 'return_generation_logits', 'return_perf_metrics'].map((name) =>
    boolTensor(name, [1, 1], [true]),
  );
  const [m] = await lab.stream(raw(PROMPT, 3, [int32Tensor('beam_width', [1, 1], [2]), ...asked]));
  const shape = (name: string) => m!.outputs[name]?.slice(0, 2).join(' ');
  expect(shape('context_logits')).toBe('FP32 1,5,512');
  expect(shape('generation_logits')).toBe('FP32 1,2,3,512');
  for (const name of ['kv_cache_alloc_new_blocks', 'kv_cache_reused_blocks', 'kv_cache_alloc_total_blocks', 'total_draft_tokens']) {
    expect(shape(name)).toBe('INT32 1,1');
  }
  for (const name of ['arrival', 'first_scheduled', 'first_token', 'last_token']) expect(shape(`${name}_time_ns`)).toBe('INT64 1,1');
  expect(shape('acceptance_rate')).toBe('FP32 1,1');
});
