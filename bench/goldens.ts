/** Goldens from disk to verdict: read, checked field by field, compared. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareIds, NO_NOISE } from '#checks/compare/index.ts';
import { openGoldenStore, type Golden } from '#checks/goldens/index.ts';
import type { Answer } from '#checks/laws/index.ts';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import type { Request } from '#core/request/index.ts';
import { loadTokenizer, type Tokenizer } from '#wire/tokenizer/index.ts';
import { ROUNDS, alternate, rates, type Row } from './rounds.ts';

const GOLDENS = 100_000;
const TOKENS = 10;

export async function goldensBench(): Promise<Row[]> {
  const tokenizer = loadTokenizer(TINY_CHECKPOINT);
  const root = mkdtempSync(join(tmpdir(), 'lockstep-bench-'));
  try {
    const open = () => openGoldenStore({ root, checkpoint: 'bench', tokenizerHash: tokenizer.hash });
    const made: readonly Made[] = Array.from({ length: GOLDENS }, (_, n) => ({ request: requestOf(n), answer: answerOf(n, tokenizer) }));
    open().save('load', made, { date: '2026-01-01T00:00:00.000Z', version: '0', identity: {} });
    const perSecond: number[] = [];
    const perCpuSecond: number[] = [];
    await alternate({
      loadAndCompare: async () => {
        const rate = await rates(() => loadAndCompare(open().load('load'), made, tokenizer));
        perSecond.push(rate.perSecond);
        perCpuSecond.push(rate.perCpuSecond);
        return rate.perSecond;
      },
    });
    const measure = `goldens: ${GOLDENS.toLocaleString('en')} of ${TOKENS} tokens loaded and compared`;
    return [
      { measure: `${measure}, by the clock`, values: perSecond.slice(-ROUNDS), unit: 'goldens/s', goal: { atLeast: 50_000 } },
      { measure: `${measure}, per CPU second`, values: perCpuSecond.slice(-ROUNDS), unit: 'goldens/s' },
    ];
  } finally {
    rmSync(root, { recursive: true });
  }
}

interface Made {
  readonly request: Request;
  readonly answer: Answer;
}

/** A new store each time, so that nothing is remembered from the round before. */
function loadAndCompare(goldens: ReadonlyMap<string, Golden>, made: readonly Made[], tokenizer: Tokenizer): number {
  let same = 0;
  for (const { request, answer } of made) {
    const golden = goldens.get(request.id);
    if (golden !== undefined && compareIds(golden.answer, answer, { tokenizer, noise: NO_NOISE }).verdict === 'identical') same++;
  }
  if (same !== GOLDENS) throw new Error(`${same} of ${GOLDENS} goldens are identical to themselves`);
  return same;
}

function requestOf(n: number): Request {
  return { id: `load-${n}`, prompt: { kind: 'text', text: `question ${n}` }, sampling: { kind: 'greedy' }, limits: { maxTokens: TOKENS } };
}

function answerOf(n: number, tokenizer: Tokenizer): Answer {
  const ids = Array.from({ length: TOKENS }, (_, i) => 6 + ((n * 31 + i * 37) % 500));
  return {
    promptIds: [0, 6 + (n % 500), 7],
    ids,
    text: tokenizer.decode(ids, { skipSpecialTokens: true }),
    finish: 'length',
    margins: ids.map((id) => id / 128),
    runnerUps: ids.map((id) => id - 1),
    logProbs: ids.map((id) => -id / 1024),
  };
}
