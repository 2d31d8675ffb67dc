import { LockstepError } from '#core/errors/index.ts';
import { attend } from './attention.ts';
import type { Checkpoint, LayerWeights } from './checkpoint.ts';
import type { KvStore } from './kv-store.ts';
import { roundToBf16 } from './safetensors.ts';
import { createProducts } from './products.ts';
import { type BatchPlace, projectRounded } from './reduce.ts';

/** One token of one sequence: computed against that sequence's cache only. */
export interface ForwardRow extends BatchPlace {
  readonly token: number;
  readonly position: number;
  /** The sequence's block table; must cover `position`. */
  readonly table: Int32Array;
  /** [vocab] receives the logits after this token; undefined where nobody samples. */
  readonly logits: Float64Array | undefined;
}

export interface Llama {
  /** Rows that one call takes at most. */
  readonly maxRows: number;
  /**
   * Writes keys and values of all rows into the cache, and logits where asked. Rows of one sequence must come in the
   * order of their positions and start where the cache ends.
   */
  forward(rows: readonly ForwardRow[]): void;
}

export interface LlamaOptions {
  readonly checkpoint: Checkpoint;
  readonly store: KvStore;
  readonly reduction: 'invariant' | 'batch';
  /** Faults that live in the forward pass: `batch-gt1-wrong-concurrent-equal`, `deterministic-mode-depends-on-message-size`. */
  readonly faults: ReadonlySet<string>;
}

/** Rows that one pass takes: about a millisecond of work on one core, the longest time between two looks at the sockets. */
const MAX_ROWS = 8;

/**
 * The forward pass of a Llama (formulas as transformers `models/llama/modeling_llama.py`: RMSNorm, half-split rotary
 * embedding, grouped-query attention, SiLU-gated MLP), float64 throughout.
 *
 * With reduction `invariant` a row's numbers depend on its own sequence's tokens alone: not on its neighbours, on how
 * a prompt is cut into calls, or on whether cached blocks were computed by another request. With `batch` every matrix
 * product is rounded to float32 in an order that depends on the batch (see projectRounded).
 */
export function createLlama({ checkpoint, store, reduction, faults }: LlamaOptions): Llama {
  const { config, embedding, output } = checkpoint;
  const { hidden, heads, headDim, ff, vocab, normEps } = config;
  if (headDim % 4 !== 0) {
    throw new LockstepError('checkpoint-architecture', `head_dim ${headDim} is not a multiple of 4`, {
      hint: 'Use a checkpoint whose head_dim is a multiple of 4.',
    });
  }
  const qWidth = heads * headDim;
  const kvWidth = store.width;
  const qkvWidth = qWidth + 2 * kvWidth;
  const { cos, sin } = rotaryTables(config.maxPositions, headDim, config.ropeTheta);
  const misreads = faults.has('batch-gt1-wrong-concurrent-equal');

  const x = new Float64Array(MAX_ROWS * hidden);
  const normed = new Float64Array(MAX_ROWS * hidden);
  const qkv = new Float64Array(MAX_ROWS * qkvWidth);
  const mixed = new Float64Array(MAX_ROWS * qWidth);
  const delta = new Float64Array(MAX_ROWS * hidden);
  const gateUp = new Float64Array(MAX_ROWS * 2 * ff);
  const gated = new Float64Array(MAX_ROWS * ff);
  const logits = new Float64Array(MAX_ROWS * vocab);
  const rowOffsets = new Int32Array(config.maxPositions);
  const scores = new Float64Array(config.maxPositions);

  const products = createProducts(
    [
      ...checkpoint.layers.flatMap(({ qkv: three, out, gateUp: two, down }) => [
        { weights: three, outputs: qkvWidth, inputs: hidden },
        { weights: out, outputs: hidden, inputs: qWidth },
        { weights: two, outputs: 2 * ff, inputs: hidden },
        { weights: down, outputs: hidden, inputs: ff },
      ]),
      { weights: output, outputs: vocab, inputs: hidden },
    ],
    MAX_ROWS,
  );
  const exact =
    reduction === 'invariant'
      ? (out: Float64Array, _outputs: number, w: Float64Array, _inputs: number, from: Float64Array, rows: readonly ForwardRow[]) =>
          products.multiply(out, w, from, rows.length)
      : (out: Float64Array, outputs: number, w: Float64Array, inputs: number, from: Float64Array, rows: readonly ForwardRow[]) =>
          rows.forEach((row, at) => projectRounded(out, outputs, w, inputs, from, at, row));

  // Fault: large products go another way, with less precision.
  const coarse: typeof exact = (out, outputs, w, inputs, from, rows) => {
    exact(out, outputs, w, inputs, from, rows);
    if (rows.length > MAX_ROWS / 2) for (let i = 0; i < rows.length * outputs; i++) out[i] = roundToBf16(out[i]!);
  };
  const multiply = faults.has('deterministic-mode-depends-on-message-size') ? coarse : exact;

  const layerForward = (weights: LayerWeights, layer: number, rows: readonly ForwardRow[]) => {
    norm(normed, x, weights.inputNorm, rows.length, hidden, normEps);
    multiply(qkv, qkvWidth, weights.qkv, hidden, normed, rows);
    for (let r = 0; r < rows.length; r++) {
      const { position, table } = rows[r]!;
      const start = r * qkvWidth;
      for (let head = 0; head < qWidth + kvWidth; head += headDim) rotate(qkv, start + head, headDim, cos, sin, position);
      const block = table[(position / store.tokensPerBlock) | 0]!;
      const cell = ((layer * store.blocks + block) * store.tokensPerBlock + (position % store.tokensPerBlock)) * kvWidth;
      const k = start + qWidth;
      for (let i = 0; i < kvWidth; i++) {
        store.keys[cell + i] = qkv[k + i]!;
        store.values[cell + i] = qkv[k + kvWidth + i]!;
      }
    }
    for (let r = 0; r < rows.length; r++) {
      const { position, table, batch, index } = rows[r]!;
      // Fault: with neighbours in the step, every sequence but the first reads value rows one position off.
      const place = { layer, position, table, valueShift: misreads && batch > 1 && index > 0 ? 1 : 0 };
      attend(mixed, qkv, r * qkvWidth, r * qWidth, heads, headDim, store, place, rowOffsets, scores);
    }
    multiply(delta, hidden, weights.out, qWidth, mixed, rows);
    add(x, delta, rows.length * hidden);
    norm(normed, x, weights.mlpNorm, rows.length, hidden, normEps);
    multiply(gateUp, 2 * ff, weights.gateUp, hidden, normed, rows);
    for (let r = 0; r < rows.length; r++) {
      for (let i = 0; i < ff; i++) {
        const gate = gateUp[r * 2 * ff + i]!;
        gated[r * ff + i] = (gate / (1 + Math.exp(-gate))) * gateUp[r * 2 * ff + ff + i]!;
      }
    }
    multiply(delta, hidden, weights.down, ff, gated, rows);
    add(x, delta, rows.length * hidden);
  };

  return {
    maxRows: MAX_ROWS,
    forward(rows) {
      rows.forEach(({ token }, r) => {
        // As lookupKernels.cu of TensorRT-LLM: an id outside the vocabulary embeds to zeros.
        const known = token >= 0 && token < vocab;
        for (let i = 0; i < hidden; i++) x[r * hidden + i] = known ? embedding[token * hidden + i]! : 0;
      });
      checkpoint.layers.forEach((weights, layer) => layerForward(weights, layer, rows));
      const sampled = rows.filter((row) => row.logits !== undefined);
      if (sampled.length === 0) return;
      let at = 0;
      rows.forEach((row, r) => {
        if (row.logits !== undefined) x.copyWithin(hidden * at++, r * hidden, (r + 1) * hidden);
      });
      norm(normed, x, checkpoint.finalNorm, at, hidden, normEps);
      multiply(logits, vocab, output, hidden, normed, sampled);
      sampled.forEach((row, s) => row.logits!.set(logits.subarray(s * vocab, (s + 1) * vocab)));
    },
  };
}

function norm(out: Float64Array, x: Float64Array, gain: Float64Array, rows: number, width: number, eps: number): void {
  for (let start = 0; start < rows * width; start += width) {
    let sum = 0;
    for (let i = 0; i < width; i++) sum += x[start + i]! * x[start + i]!;
    const root = Math.sqrt(sum / width + eps);
    for (let i = 0; i < width; i++) out[start + i] = gain[i]! * (x[start + i]! / root);
  }
}

function add(x: Float64Array, delta: Float64Array, length: number): void {
  for (let i = 0; i < length; i++) x[i]! += delta[i]!;
}

/** Half-split rotation: channel i pairs with channel i + headDim / 2. */
function rotate(v: Float64Array, start: number, headDim: number, cos: Float64Array, sin: Float64Array, position: number): void {
  const half = headDim >> 1;
  for (let i = 0; i < half; i++) {
    const c = cos[position * half + i]!;
    const s = sin[position * half + i]!;
    const a = v[start + i]!;
    const b = v[start + half + i]!;
    v[start + i] = a * c - b * s;
    v[start + half + i] = b * c + a * s;
  }
}

/** cos and sin of position · theta^(-2i / headDim), [positions, headDim / 2]. */
function rotaryTables(positions: number, headDim: number, theta: number): { cos: Float64Array; sin: Float64Array } {
  const half = headDim >> 1;
  const cos = new Float64Array(positions * half);
  const sin = new Float64Array(positions * half);
  for (let p = 0; p < positions; p++) {
    for (let i = 0; i < half; i++) {
      const angle = p * theta ** ((-2 * i) / headDim);
      cos[p * half + i] = Math.cos(angle);
      sin[p * half + i] = Math.sin(angle);
    }
  }
  return { cos, sin };
}
