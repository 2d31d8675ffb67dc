import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LockstepError } from '#core/errors/index.ts';
import { writeFileAtomic } from '#core/files/index.ts';
import { shortHash } from '#core/hash/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import type { Answer } from '#checks/laws/index.ts';
import type { Request } from '#core/request/index.ts';
import { FORMAT, type Golden, type GoldenIndex, type Provenance } from './golden.ts';
import { printIndex, printSuite, round6 } from './print.ts';
import { readIndex, readSuite } from './read.ts';

export interface StoreOptions {
  /** The `goldens/` folder. */
  readonly root: string;
  /** Name of the checkpoint, as part of the folder's name. */
  readonly checkpoint: string;
  /** SHA-256 of the weights, where known: equal names may hide different weights. */
  readonly weightsHash?: string;
  /** SHA-256 of tokenizer.json. */
  readonly tokenizerHash: string;
}

export interface SaveResult {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly unchanged: number;
}

/**
 * Goldens on disk: `<root>/<checkpoint>-<hashes>/<suite>.json`, with an `index.json` that says where each recording
 * comes from. The identity of the target is not part of the key: the same goldens serve every target that runs the
 * checkpoint.
 *
 * One file per suite, not per golden: opening 100,000 files takes longer than reading and checking all they hold, and
 * a review of a re-recorded suite is one difference. Measured with 100,000 goldens of ten tokens (77 MB): 0.8 to 1.1 s to read,
 * check and compare them all, 90,000 to 120,000 per second on one core; half of it is JSON.parse.
 */
export interface GoldenStore {
  readonly folder: string;
  /** Suites that have goldens, sorted. */
  list(): readonly string[];
  /** Errors: `golden-missing`, `golden-malformed`, `golden-newer-format`. */
  load(suite: string): ReadonlyMap<string, Golden>;
  /** One golden. Errors: as `load`, and `golden-missing` when the suite has none of this request, or another request under its id. */
  get(suite: string, request: Request): Golden;
  /**
   * Adds these answers to the suite, or replaces those that are there under the same ids.
   *
   * Errors: `file-not-writable`; and as `load`, for the goldens that are there.
   */
  save(suite: string, answers: Iterable<{ readonly request: Request; readonly answer: Answer }>, provenance: Provenance): SaveResult;
  /** Where a golden was recorded. */
  provenance(golden: Golden): Provenance | undefined;
}

/** Errors: `goldens-not-folder`, and those of its parts. */
export function openGoldenStore(options: StoreOptions): GoldenStore {
  if (statSync(options.root, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new LockstepError('goldens-not-folder', `${options.root} is not a folder`, {
      hint: 'Name the folder of the goldens: --goldens DIR.',
    });
  }
  const hashes = [options.weightsHash, options.tokenizerHash].filter((h) => h !== undefined).map((h) => h.slice(0, 8));
  const folder = join(options.root, [options.checkpoint, ...hashes].join('-'));
  const indexPath = join(folder, 'index.json');
  const loaded = new Map<string, ReadonlyMap<string, Golden>>();

  const path = (suite: string) => join(folder, `${suite}.json`);
  const index = (): GoldenIndex =>
    existsSync(indexPath)
      ? readIndex(indexPath)
      : { format: FORMAT, checkpoint: options.checkpoint, tokenizerHash: options.tokenizerHash, recordings: {} };

  const load = (suite: string) => {
    let goldens = loaded.get(suite);
    if (goldens === undefined) {
      // Without the weights another model of the same tokenizer would be taken for this one.
      if (options.weightsHash !== undefined && !existsSync(folder)) refuseOtherName(folder, hashes);
      loaded.set(suite, (goldens = readSuite(path(suite))));
    }
    return goldens;
  };

  const list = () => {
    if (!existsSync(folder)) return [];
    const files = readdirSync(folder).filter((name) => name.endsWith('.json') && name !== 'index.json');
    return files.map((name) => name.slice(0, -'.json'.length)).toSorted();
  };

  return {
    folder,
    list,
    load,
    get(suite, request) {
      const golden = load(suite).get(request.id);
      const record = 'Record it on the accepted build, with the flags of this run that name the target: npx lockstep goldens record';
      if (golden === undefined)
        throw new LockstepError('golden-missing', `${path(suite)} has no golden for ${request.id}`, { hint: record });
      if (!sameRequest(golden.request, request)) {
        throw new LockstepError('golden-missing', `${path(suite)} has a golden for another request under the id ${request.id}`, {
          hint: record,
        });
      }
      return golden;
    },
    save(suite, answers, provenance) {
      const before: ReadonlyMap<string, Golden> = existsSync(path(suite)) ? readSuite(path(suite)) : new Map();
      const recorded = shortHash(canonicalJson(provenance)).slice(0, 8);
      const after = new Map(before);
      const result = { added: [] as string[], changed: [] as string[], unchanged: 0 };
      for (const { request, answer } of answers) {
        const old = before.get(request.id);
        const golden: Golden = { request, answer: rounded(answer), recorded };
        const keep = old !== undefined && sameRequest(old.request, request) && sameAnswer(old.answer, golden.answer);
        after.set(request.id, keep ? old : golden);
        if (keep) result.unchanged++;
        else (old === undefined ? result.added : result.changed).push(request.id);
      }
      if (result.added.length + result.changed.length > 0) {
        // The index first: a golden without provenance is worse than provenance without goldens.
        const known = index();
        writeFileAtomic(indexPath, printIndex({ ...known, recordings: { ...known.recordings, [recorded]: provenance } }));
        writeFileAtomic(path(suite), printSuite(after.values()));
        loaded.delete(suite);
      }
      return result;
    },
    provenance: (golden) => index().recordings[golden.recorded],
  };
}

/** Goldens are found by the name of the tokenizer's folder too, which may be a link, or another one on another host. */
function refuseOtherName(folder: string, hashes: readonly string[]): void {
  const root = dirname(folder);
  const end = `-${hashes.join('-')}`;
  const other = existsSync(root)
    ? readdirSync(root).find((name) => name.endsWith(end) && existsSync(join(root, name, 'index.json')))
    : undefined;
  if (other === undefined) return;
  throw new LockstepError('golden-missing', `there is no ${folder}, and ${other} is of the same weights and tokenizer`, {
    hint: `Name the tokenizer by a folder that is called ${other.slice(0, -end.length)}, or rename that folder of goldens.`,
  });
}

function sameRequest(a: Request, b: Request): boolean {
  return canonicalJson({ ...a, id: '' }) === canonicalJson({ ...b, id: '' });
}

/** Arithmetic moves the last digits of margins between runs; that is no reason to touch a golden. */
const SAME_NUMBER = 1e-4;

function sameAnswer(a: Answer, b: Answer): boolean {
  const close = (x: readonly number[], y: readonly number[]) =>
    x.length === y.length && x.every((v, i) => Math.abs(v - (y[i] as number)) <= SAME_NUMBER);
  const equal = (x: readonly number[], y: readonly number[]) => x.length === y.length && x.every((v, i) => v === y[i]);
  return (
    a.finish === b.finish &&
    a.text === b.text &&
    equal(a.ids, b.ids) &&
    equal(a.promptIds, b.promptIds) &&
    equal(a.runnerUps, b.runnerUps) &&
    close(a.margins, b.margins) &&
    close(a.logProbs, b.logProbs)
  );
}

function rounded(answer: Answer): Answer {
  return { ...answer, margins: answer.margins.map(round6), logProbs: answer.logProbs.map(round6) };
}
