import { answerOf, gives } from '../judge.ts';
import { chances, winner } from '../oracle.ts';
import type { PairProbe, Shown } from '../probe.ts';
import type { Output } from '../reply.ts';
import { LENGTH } from '../subject.ts';
import type { Word } from '../words.ts';

const BLOCKS = ['kv_cache_alloc_total_blocks', 'kv_cache_alloc_new_blocks', 'kv_cache_reused_blocks'];
const TIMES = ['arrival_time_ns', 'first_scheduled_time_ns', 'first_token_time_ns', 'last_token_time_ns'];

/** What is asked to be returned beside, or with, the answer. */
export const RETURNED: readonly PairProbe[] = [
  {
    kind: 'pair',
    id: 'log-probs',
    effect: 'cum_log_probs and output_log_probs come when asked for: the log-probabilities of the ids served.',
    words: ['logProbs'],
    outputs: ['output_log_probs', 'cum_log_probs'],
    asks: asked('logProbs', LENGTH),
    shows(r) {
      const { greedy, logits } = r.subject;
      return (
        absent(r, 'output_log_probs', 'cum_log_probs') ??
        values(r, 'output_log_probs', [1, 1, greedy.length], (got) => {
          const right = greedy.map((id, k) => Math.log(chances(logits[k]!, {})[id]!));
          return got.length === greedy.length && right.every((p, k) => Math.abs(p - got[k]!) < 1e-3) ? undefined : list(right);
        }) ??
        values(r, 'cum_log_probs', [1, 1], ([got]) => {
          const right = greedy.reduce((sum, id, k) => sum + Math.log(chances(logits[k]!, {})[id]!), 0);
          return got !== undefined && Math.abs(right - got) < 1e-2 ? undefined : list([right]);
        })
      );
    },
  },
  {
    kind: 'pair',
    id: 'generation-logits',
    effect: 'generation_logits come when asked for: one row per step, whose largest is the id served.',
    words: ['generationLogits'],
    outputs: ['generation_logits'],
    asks: asked('generationLogits', 2),
    shows(r) {
      const ids = r.subject.greedy.slice(0, 2);
      const vocabulary = r.tokenizer.vocabSize;
      return (
        absent(r, 'generation_logits') ??
        values(r, 'generation_logits', [1, 1, 2, vocabulary], (got) => {
          const best = ids.map((_, k) => winner(got.slice(k * vocabulary, (k + 1) * vocabulary))[0]);
          return best.join() === ids.join() ? undefined : `rows whose largest are ${ids.join(', ')}, not ${best.join(', ')}`;
        })
      );
    },
  },
  {
    kind: 'pair',
    id: 'context-logits',
    effect: 'context_logits come when asked for: one row per token of the prompt, the last of them that of the first token of the answer.',
    words: ['contextLogits'],
    outputs: ['context_logits'],
    asks: asked('contextLogits', 2),
    shows(r) {
      const { ids, logits } = r.subject;
      const vocabulary = r.tokenizer.vocabSize;
      return (
        absent(r, 'context_logits') ??
        values(r, 'context_logits', [1, ids.length, vocabulary], (got) => {
          const last = got.slice((ids.length - 1) * vocabulary);
          const right = Array.from(logits[0]!);
          return last.length === vocabulary && right.every((logit, id) => Math.abs(logit - last[id]!) < 1e-3) ? undefined : list(right);
        })
      );
    },
  },
  {
    kind: 'pair',
    id: 'perf-metrics',
    effect: 'Blocks of the cache and times come when asked for: blocks add up, and times are in the order in which things happen.',
    words: ['perfMetrics'],
    outputs: [...BLOCKS, ...TIMES],
    asks: asked('perfMetrics', LENGTH),
    shows(r) {
      const there = absent(r, ...BLOCKS, ...TIMES);
      if (there !== undefined) return there;
      const [total, fresh, reused] = BLOCKS.map((name) => r.replies['with']!.outputs.get(name)?.[0]?.values[0]);
      if (total === undefined || fresh === undefined || reused === undefined) return 'the blocks do not come when they are asked for';
      if (total !== fresh + reused || total < 1) return `${fresh} new and ${reused} reused blocks are not ${total}`;
      const times = TIMES.map((name) => r.replies['with']!.outputs.get(name)?.[0]?.values[0]);
      const ordered = times.every((time, i) => time !== undefined && (i === 0 || time >= times[i - 1]!));
      return ordered ? undefined : `the times are ${times.join(', ')}`;
    },
  },
  {
    kind: 'pair',
    id: 'num-input-tokens',
    effect: 'num_input_tokens comes when asked for: the length of the prompt.',
    words: ['countInput'],
    outputs: ['num_input_tokens'],
    asks: asked('countInput', 2),
    shows: (r) => absent(r, 'num_input_tokens') ?? values(r, 'num_input_tokens', [1, 1], equals([r.subject.ids.length])),
  },
  {
    kind: 'pair',
    id: 'num-output-tokens',
    effect: 'num_output_tokens comes when asked for: the length of the answer.',
    words: ['countOutput'],
    outputs: ['num_output_tokens'],
    asks: asked('countOutput', LENGTH),
    shows: (r) => absent(r, 'num_output_tokens') ?? values(r, 'num_output_tokens', [1, 1], equals([r.subject.greedy.length])),
  },
  {
    kind: 'pair',
    id: 'exclude-input',
    effect: 'exclude_input_in_output false lets the answer begin with the prompt.',
    words: ['excludeInput'],
    asks: (s) => (s.greedy.length > 0 ? { without: { maxTokens: 2 }, with: { maxTokens: 2, excludeInput: false } } : undefined),
    shows: (r) =>
      gives(r, 'without', r.subject.greedy.slice(0, 2)) ?? gives(r, 'with', [...r.subject.ids, ...r.subject.greedy.slice(0, 2)]),
  },
  {
    kind: 'pair',
    id: 'echo',
    effect: 'echo lets the answer begin with the prompt.',
    words: ['echo'],
    when: ({ openai }) => openai.completionsExcludeInput.value,
    asks: (s) => (s.greedy.length > 0 ? { without: { maxTokens: 2 }, with: { maxTokens: 2, echo: true } } : undefined),
    shows: (r) => gives(r, 'with', [...r.subject.ids, ...r.subject.greedy.slice(0, 2)]),
  },
  {
    kind: 'pair',
    id: 'stream',
    effect: 'A streamed answer comes in several responses, one that is not in one.',
    words: ['stream'],
    severalResponses: true,
    asks: (s) => (s.greedy.length >= 3 ? { without: { maxTokens: 3 }, with: { maxTokens: 3, stream: true } } : undefined),
    shows(r) {
      const [whole, parts] = [r.replies['without']!.responses, r.replies['with']!.responses];
      if (whole !== 1 || parts < 2) return `${whole} responses without it and ${parts} with it`;
      return answerOf(r, 'with')?.ids === undefined ? undefined : gives(r, 'with', r.subject.greedy.slice(0, 3));
    },
  },
];

function asked(word: Word, maxTokens: number): PairProbe['asks'] {
  return (s) => (s.greedy.length >= 2 ? { without: { maxTokens }, with: { maxTokens, [word]: true } } : undefined);
}

function absent(r: Shown, ...names: readonly string[]): string | undefined {
  const there = names.find((name) => r.replies['without']!.outputs.has(name));
  return there === undefined ? undefined : `${there} comes without being asked for`;
}

/** @param shape on gRPC; JSON has none @param check gives what was expected instead, if it was */
function values(r: Shown, name: string, shape: readonly number[], check: (got: number[]) => string | undefined): string | undefined {
  const [output, more] = r.replies['with']!.outputs.get(name) ?? ([] as readonly Output[]);
  if (output === undefined) return `${name} does not come when it is asked for`;
  if (more !== undefined) return `${name} comes in several responses`;
  if (output.datatype !== 'JSON' && output.shape.join() !== shape.join())
    return `${name} is [${output.shape.join(', ')}], expected [${shape.join(', ')}]`;
  const wrong = check(Array.from(output.values));
  return wrong === undefined || !r.exact ? undefined : `${name} is ${list(Array.from(output.values))}, expected ${wrong}`;
}

function equals(right: readonly number[]): (got: number[]) => string | undefined {
  return (got) => (got.join() === right.join() ? undefined : list(right));
}

function list(numbers: readonly number[]): string {
  const shown = numbers.slice(0, 8).map((n) => Number(n.toPrecision(4)));
  return `[${shown.join(', ')}${numbers.length > 8 ? ', …' : ''}]`;
}
