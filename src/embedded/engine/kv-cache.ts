/** The blocks of one running sequence. */
export interface KvSequence {
  /** Block per tokensPerBlock positions; entries from `blocks` on are not yet given. */
  readonly table: Int32Array;
  /** Entries of `table` in use. */
  blocks: number;
  /** Whole blocks at the front that were taken from the reuse tree: positions that need no computing. */
  readonly reused: number;
  /** Blocks promised at admission and not yet given. */
  reserved: number;
  /** Blocks that are in the reuse tree already, and the node of the last of them. */
  stored: number;
  parent: number;
}

export interface AdmitOptions {
  /** Answers to the prompt that will live side by side. Default 1. */
  readonly beams?: number;
  /** False: every position is to be computed, for its logits. Default true. */
  readonly reuse?: boolean;
}

interface Node {
  /** Never used twice, so that a child of an evicted block cannot be found under its successor. */
  readonly serial: number;
  readonly key: string;
  readonly block: number;
}

export interface KvCacheOptions {
  readonly blocks: number;
  readonly tokensPerBlock: number;
  /** Keep whole blocks for later prompts with the same beginning (enable_kv_cache_reuse). */
  readonly reuse: boolean;
  /** Faults that live here: `tokens-from-other-prompts`, `kv-reuse-first-call-differs`, `reuse-not-effective`. */
  readonly faults: ReadonlySet<string>;
  /** Rounds a block's numbers to bfloat16; used by a fault only. */
  readonly roundBlock: (block: number) => void;
}

/**
 * Owns the blocks of the paged cache: reference counts, the tree of reusable blocks, eviction.
 *
 * A whole block is kept under (parent node, its token ids), so that it can only be found behind the same beginning;
 * the ids themselves are the key, so there are no hash collisions. A block nobody refers to stays findable until it
 * is needed for something else, least recently released first; a sequence's tail is released before its head, so
 * that children go before their parents. Admission is guaranteed_no_evict: a sequence gets in only if all the
 * blocks it can ever need are left.
 */
export class KvCache {
  readonly tokensPerBlock: number;
  readonly blocksMax: number;
  readonly #options: KvCacheOptions;
  readonly #free: number[];
  readonly #references: Int32Array;
  readonly #nodeOf: (Node | undefined)[];
  readonly #tree = new Map<string, Node>();
  /** Kept blocks without a reference, least recently released first. */
  readonly #evictable = new Set<Node>();
  #reserved = 0;
  #serial = 0;
  #reusedTotal = 0;

  constructor(options: KvCacheOptions) {
    this.#options = options;
    this.tokensPerBlock = options.tokensPerBlock;
    this.blocksMax = options.blocks;
    this.#free = Array.from({ length: options.blocks }, (_, i) => options.blocks - 1 - i);
    this.#references = new Int32Array(options.blocks);
    this.#nodeOf = Array.from({ length: options.blocks }, () => undefined);
  }

  /** Blocks that can be given: empty ones, and kept ones without a reference. */
  get blocksFree(): number {
    return this.#free.length + this.#evictable.size;
  }

  /** Blocks served from the tree since the start. */
  get blocksReused(): number {
    return this.#reusedTotal;
  }

  /** Blocks that `beams` answers to one prompt can need together: they share those that the prompt fills. */
  blocksFor(prompt: Int32Array, maxTokens: number, beams: number): number {
    const total = this.#blocksOf(prompt, maxTokens);
    return total + (beams - 1) * (total - this.#filledBy(prompt));
  }

  /** Whether these answers find room only where kept blocks make way for them. */
  evictsFor(prompt: Int32Array, maxTokens: number, beams: number): boolean {
    const needed = this.blocksFor(prompt, maxTokens, beams) + this.#reserved;
    return needed > this.#free.length && needed <= this.blocksFree;
  }

  /**
   * Room for `prompt` and all but the last of `maxTokens` new ids, and for as many forks as make `beams` of it, or
   * undefined while there is none.
   */
  admit(prompt: Int32Array, maxTokens: number, { beams = 1, reuse = true }: AdmitOptions = {}): KvSequence | undefined {
    const total = this.#blocksOf(prompt, maxTokens);
    const found = reuse ? this.#match(prompt) : [];
    const shared = found.filter((node) => this.#references[node.block]! > 0).length;
    if (this.blocksFor(prompt, maxTokens, beams) - shared > this.blocksFree - this.#reserved) return undefined;
    const sequence: KvSequence = {
      table: new Int32Array(total),
      blocks: found.length,
      reused: found.length,
      reserved: total - found.length,
      stored: found.length,
      parent: this.#parentOf(found.at(-1)),
    };
    this.#reserved += sequence.reserved;
    found.forEach((node, i) => {
      sequence.table[i] = node.block;
      this.#evictable.delete(node);
      this.#references[node.block]! += 1;
    });
    this.#reusedTotal += found.length;
    this.grow(sequence, prompt.length);
    return sequence;
  }

  /** Another answer to the prompt of an admitted sequence, with the blocks that the prompt fills in common. */
  fork(sequence: KvSequence, prompt: Int32Array): KvSequence {
    const common = this.#filledBy(prompt);
    const table = new Int32Array(sequence.table.length);
    table.set(sequence.table.subarray(0, common));
    for (let i = 0; i < common; i++) this.#references[table[i]!]! += 1;
    const reserved = table.length - common;
    this.#reserved += reserved;
    return { table, blocks: common, reused: common, reserved, stored: common, parent: 0 };
  }

  /** Gives blocks until `length` positions are covered. */
  grow(sequence: KvSequence, length: number): void {
    while (sequence.blocks * this.tokensPerBlock < length) {
      const block = this.#take();
      this.#references[block] = 1;
      sequence.table[sequence.blocks++] = block;
      sequence.reserved -= 1;
      this.#reserved -= 1;
    }
  }

  /** Makes the whole blocks of the first `length` positions findable; their numbers must be there. */
  keep(sequence: KvSequence, tokens: Int32Array, length: number): void {
    // Fault: blocks are kept in bfloat16. Only when the sequence is done, as its own reads must not see it.
    if (!this.#options.faults.has('kv-reuse-first-call-differs')) this.#store(sequence, tokens, length);
  }

  /** Ends a sequence: keeps its whole blocks, drops its references and what it had reserved. */
  release(sequence: KvSequence, tokens: Int32Array, length: number): void {
    this.#store(sequence, tokens, length);
    this.forget(sequence);
    for (let i = sequence.blocks - 1; i >= 0; i--) {
      const block = sequence.table[i]!;
      if (--this.#references[block]! > 0) continue;
      const node = this.#nodeOf[block];
      if (node === undefined) this.#free.push(block);
      else this.#evictable.add(node);
    }
  }

  /** Drops what a sequence had reserved and nothing else: its blocks stay taken. Used by a fault, and by release. */
  forget(sequence: KvSequence): void {
    this.#reserved -= sequence.reserved;
    sequence.reserved = 0;
  }

  #blocksOf(prompt: Int32Array, maxTokens: number): number {
    return Math.ceil((prompt.length + maxTokens - 1) / this.tokensPerBlock);
  }

  #filledBy(prompt: Int32Array): number {
    return Math.floor(prompt.length / this.tokensPerBlock);
  }

  #store(sequence: KvSequence, tokens: Int32Array, length: number): void {
    if (!this.#options.reuse) return;
    const rounds = this.#options.faults.has('kv-reuse-first-call-differs');
    for (; (sequence.stored + 1) * this.tokensPerBlock <= length; sequence.stored++) {
      const block = sequence.table[sequence.stored]!;
      const key = this.#key(sequence.parent, tokens, sequence.stored);
      let node = this.#tree.get(key);
      if (node === undefined) {
        node = { serial: ++this.#serial, key, block };
        this.#tree.set(key, node);
        this.#nodeOf[block] = node;
        if (rounds) this.#options.roundBlock(block);
      }
      sequence.parent = this.#parentOf(node);
    }
  }

  /** Kept blocks at the front of the prompt. The last id is always computed: its logits are not in the cache. */
  #match(prompt: Int32Array): Node[] {
    const found: Node[] = [];
    // Fault: what is kept is never looked up.
    if (!this.#options.reuse || this.#options.faults.has('reuse-not-effective')) return found;
    const most = Math.floor((prompt.length - 1) / this.tokensPerBlock);
    while (found.length < most) {
      const node = this.#tree.get(this.#key(this.#parentOf(found.at(-1)), prompt, found.length));
      if (node === undefined) break;
      found.push(node);
    }
    return found;
  }

  #parentOf(node: Node | undefined): number {
    // Fault: the chain is forgotten, so equal ids behind another beginning count as the same block.
    return this.#options.faults.has('tokens-from-other-prompts') ? 0 : (node?.serial ?? 0);
  }

  #key(parent: number, tokens: Int32Array, index: number): string {
    return `${parent}:${tokens.subarray(index * this.tokensPerBlock, (index + 1) * this.tokensPerBlock).join()}`;
  }

  #take(): number {
    const block = this.#free.pop();
    if (block !== undefined) return block;
    const [oldest] = this.#evictable;
    if (oldest === undefined) throw new Error('no block is left, though the admission promised one');
    this.#evictable.delete(oldest);
    this.#tree.delete(oldest.key);
    this.#nodeOf[oldest.block] = undefined;
    return oldest.block;
  }
}
