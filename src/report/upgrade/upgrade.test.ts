import { describe, expect, test } from 'vitest';
import type { ContractRecord, Observation } from '#checks/contract/index.ts';
import { diffContracts } from './contract/index.ts';

const one = (id: string, facts: Readonly<Record<string, string>>, more: Partial<Observation> = {}): Observation => ({
  id,
  area: 'http',
  exchange: { request: id, reply: JSON.stringify(facts) },
  facts,
  varying: {},
  ...more,
});
const record = (...observations: Observation[]): ContractRecord => ({ observations, skipped: [] });

/** Literals that running releases were seen to send (docs/observed.md#triton-by-release). */
describe('a difference of contracts', () => {
  const kinds = (before: Observation, after: Observation) =>
    diffContracts(record(before), record(after)).differences.map(({ kind, fatal, title }) => `${fatal ? 'fatal ' : ''}${kind}: ${title}`);

  test.each([
    ['another status', { status: '400' }, { status: '404' }, 'breaking: HTTP status 400 → 404 of requests that are refused'],
    [
      'an accepted request refused',
      { status: 'OK', body: '{}' },
      { status: 'INVALID_ARGUMENT', text: 'Expected 8, got 4' },
      'breaking: gRPC requests that were accepted are refused (INVALID_ARGUMENT): Expected 8, got 4',
    ],
    ['a hang', { status: 'INTERNAL' }, { status: 'no answer within 3000 ms' }, 'fatal breaking: a request is never answered: p'],
    [
      'a death',
      { status: 'INTERNAL' },
      { status: 'no answer within 3000 ms', server: 'died' },
      'fatal breaking: the server, or a model of it, dies of a request: p',
    ],
    [
      'a content type',
      { status: '200', 'content type': 'application/json' },
      { status: '200', 'content type': 'text/event-stream' },
      'breaking: content type `application/json` → `text/event-stream`',
    ],
    [
      'a text',
      { status: 'INTERNAL', text: "for model instance 'm_0_0'" },
      { status: 'INTERNAL', text: "for model 'm_0_0'" },
      "behaviour: error text: `…for model instance 'm_0_0'…` → `…for model 'm_0_0'…`",
    ],
    [
      'a refusal lifted',
      { status: 'INVALID_ARGUMENT', text: 'no' },
      { status: 'OK' },
      'addition: gRPC requests that were refused (INVALID_ARGUMENT) are accepted; it was: no',
    ],
  ])('%s', (_, before, after, expected) => {
    expect(kinds(one('p', before as Record<string, string>), one('p', after as Record<string, string>))).toEqual([expected]);
  });

  test('of metrics: a label breaks strict readers, a family does not', () => {
    const page = (facts: Readonly<Record<string, string>>) => one('metrics/page', { status: '200', ...facts }, { area: 'metrics' });
    const before = page({ 'nv_inference_request_failure labels': 'model version' });
    const after = page({
      'nv_inference_request_failure labels': 'model reason version',
      'nv_inference_request_failure reason': 'OTHER',
      'nv_new type': 'gauge',
      'nv_new labels': '',
    });
    expect(kinds(before, after)).toEqual([
      'breaking: metric nv_inference_request_failure has labels `model reason version` in place of `model version`',
      'addition: metric nv_new is new',
    ]);
  });

  test('what varies within a side is no difference, and the same change in many exchanges is one', () => {
    const a = record(
      one('p', { status: '400' }),
      one('q', { status: '400' }),
      one('r', { status: '200' }, { varying: { body: ['1', '2'] } }),
    );
    const b = record(one('p', { status: '500' }), one('q', { status: '500' }), one('r', { status: '200', body: '3' }));
    const { differences, varying } = diffContracts(a, b);
    expect(differences.map(({ changes }) => changes.length)).toEqual([2]);
    expect(varying).toBe(1);
    expect(diffContracts(a, a).differences).toEqual([]);
  });

  test('a configuration that comes empty is one difference, not one for each field', () => {
    const before = one('model/m/config-grpc', {
      status: 'OK',
      'config.name': '"m"',
      'config.platform': '"ensemble"',
      'config.input.A.dims.0': '1',
    });
    const after = one('model/m/config-grpc', { status: 'OK', 'config.name': '""', 'config.platform': '""', 'config.input': '[]' });
    expect(kinds(before, after)).toEqual(['breaking: gRPC answers OK with an empty configuration']);
  });

  test('what one side alone was asked is told', () => {
    const a = record(one('p', { status: '200' }));
    const b: ContractRecord = { observations: [], skipped: [{ id: 'p', why: 'the target has no model m' }] };
    expect(diffContracts(a, b).notCompared).toEqual([{ id: 'p', why: 'new side: the target has no model m' }]);
  });
});
