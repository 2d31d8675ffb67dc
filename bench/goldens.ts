/** Goldens from disk to verdict: read, checked field by field, compared. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compareIds, NO_NOISE } from '#checks/compare/index.ts';
import { openGoldenStore } from '#checks/goldens/index.ts';
import type { Answer } from '#checks/laws/index.ts';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import type { Request } from '#core/request/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { alternate, rates, type Row } from './rounds.ts';

const GOLDENS = 100_000;
const TOKENS = 10;

export async function goldensBench(): Promise<Row[]> {
  const tokenizer = loadTokenizer(TINY_CHECKPOINT);
  const root = mkdtempSync(join(tmpdir(), 'lockstep-bench-'));
  try {
    const open = () => openGoldenStore({ root, checkpoint: 'bench', tokenizerHash: tokenizer.hash });
    const made = Array.from({ length: GOLDENS }, (_, n) => ({ request: requestOf(n), answer: answerOf(n) }));
    open().save('load', made, { provenance: { date: '2026-01-01T00:00:00.000Z', version: '0', identity: {} }, failures: 0 });
    const values: number[] = [];
    await alternate({
      loadAndCompare: async () => {
        const { perSecond } = await rates(() => {
          // A new store: nothing is remembered from the round before.
          const goldens = open().load('load');
          let same = 0;
          for (const { request, answer } of made) {
            const golden = goldens.get(request.id);
            if (golden !== undefined && compareIds(golden.answer, answer, { tokenizer, noise: NO_NOISE }).verdict === 'identical') same++;
          }
          if (same !== GOLDENS) throw new Error(`${same} of ${GOLDENS} goldens are identical to themselves`);
          return same;
        });
        values.push(perSecond);
        return perSecond;
      },
    }).then(({ loadAndCompare }) => values.splice(0, values.length, ...loadAndCompare));
    return [{ measure: `goldens: ${GOLDENS.toLocaleString('en')} of ${TOKENS} tokens loaded and compared`, values, unit: 'per s', goal: { atLeast: 50_000 } }];
  } finally {
    rmSync(root, { recursive: true });
  }

  function requestOf(n: number): Request {
    return { id: `load-${n}`, prompt: { kind: 'text', text: `question ${n}` }, sampling: { kind: 'greedy' }, limits: { maxTokens: TOKENS } };
  }

  function answerOf(n: number): Answer {
    const ids = Array.from({ length: TOKENS }, (_, i) => 6 + ((n * 31 + i * 37) % 500));
    return {
      promptIds: [0, 6 + (n % 500), 7], ids, text: tokenizer.decode(ids, { skipSpecialTokens: true }), finish: 'length',
      margins: ids.map((id) => id / 128), runnerUps: ids.map((id) => id - 1), logProbs: ids.map((id) => -id / 1024),
    };
  }
}
