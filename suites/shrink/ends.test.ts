/** How a search ends that is not let to its end, on real servers. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Bench, type FailingCase, Stage, shrink } from '#checks/shrink/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { benchFor, configOf, faultOf, serverFor } from './failing-cases.ts';

const fault = faultOf('stop-words-ignored');
const folder = mkdtempSync(join(tmpdir(), 'lockstep-shrink-ends-'));

const companion = {
  case: {
    request: { id: 'other', prompt: { kind: 'text', text: 'Emoji for cat?' }, sampling: { kind: 'greedy' }, limits: { maxTokens: 4 } },
    route: 'raw',
    mode: 'stream',
    repeat: 0,
  },
  asked: {},
} as const;

/** The tiny model answers nothing with a 1, and goes on behind it. */
const failing: FailingCase = {
  case: {
    request: {
      id: 'count',
      prompt: { kind: 'messages', messages: [{ role: 'user', content: '' }] },
      sampling: { kind: 'greedy' },
      limits: { maxTokens: 24, stopWords: ['1', 'nowhere', 'never'] },
    },
    route: 'raw',
    mode: 'stream',
    repeat: 0,
  },
  asked: { logProbs: true },
  company: { before: [companion, companion], beside: [companion] },
  violation: { claim: 'streaming/raw-streams', law: 'stop-words', code: 'ran-past', text: '' },
};

const { signal } = new AbortController();

test('a spent budget says so, is never overdrawn, and leaves the smallest case so far', async () => {
  await using bench = await benchFor(configOf(fault, [fault.id]));
  const stage = new Stage(bench, { budget: 14, signal, keep: folder });
  const shrunk = await shrink(failing, stage);
  expect(shrunk).toMatchObject({ ended: 'budget', before: { n: 3, k: 3 }, note: expect.stringContaining('are spent') });
  expect(shrunk.requests).toBeLessThanOrEqual(14);
  expect(shrunk.smallest.company).toEqual({ before: [], beside: [] });
});

test('a search that is stopped keeps what it had', async () => {
  await using bench = await benchFor(configOf(fault, [fault.id]));
  const stop = new AbortController();
  const stage = new Stage(bench, { budget: 400, signal: stop.signal, keep: folder });
  const shrunk = await shrink(failing, stage, { onRemoval: ({ what }) => what === 'max_tokens' && stop.abort() });
  expect(shrunk).toMatchObject({ ended: 'interrupted', after: { n: 0, k: 0 } });
  expect(shrunk.smallest.case.request.limits.maxTokens).toBeLessThan(24);
  expect(shrunk.smallest.case.request.prompt).toEqual(failing.case.request.prompt);
  expect(shrunk.sighting.transcript?.case.request).toEqual(shrunk.smallest.case.request);
});

test('a server that dies under the search, and that nobody may start again, ends it', async () => {
  const server = await serverFor(configOf(fault, [fault.id]), undefined);
  let alive = true;
  const parts = { ...server.lab.parts, owned: false, health: async () => ({ alive, detail: alive ? '' : 'nobody listens' }) };
  const bench: Bench = {
    lab: Object.assign(Object.create(Object.getPrototypeOf(server.lab) as object), { parts }) as Bench['lab'],
    renew: undefined,
  };
  const stage = new Stage(bench, { budget: 400, signal, keep: folder });
  const gone: Promise<void>[] = [];
  const shrunk = await shrink(failing, stage, {
    onRemoval: ({ what }) => {
      if (what !== 'max_tokens') return;
      alive = false;
      gone.push(Promise.resolve(server[Symbol.asyncDispose]()));
    },
  });
  await Promise.all(gone);
  expect(shrunk).toMatchObject({ ended: 'server-died', note: expect.stringContaining('nobody listens') });
  expect(shrunk.smallest.case.request.limits.maxTokens).toBeLessThan(24);
});

test('a case that does not fail here is no case to shrink', async () => {
  await using bench = await benchFor(configOf(fault, []));
  const stage = new Stage(bench, { budget: 400, signal, keep: folder });
  await expect(shrink(failing, stage)).rejects.toThrow(LockstepError);
  await expect(shrink(failing, stage)).rejects.toMatchObject({ code: 'not-reproduced' });
});
