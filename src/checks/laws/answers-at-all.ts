import { describeCase } from '#core/request/index.ts';
import { dataEvents, violationOf } from './observed.ts';
import type { Law } from './types.ts';

const broken = violationOf('answers-at-all');

/** The ground under all other laws: they speak about answers, this one about exchanges that never became one. */
export const answersAtAll: Law = {
  id: 'answers-at-all',
  statement: 'Every request gets an answer: no error, an orderly end, at least one event with data.',
  routes: 'all',
  applies: (t) => t.ending !== 'cancelled',
  check(t) {
    const error = t.errors[0];
    if (error !== undefined) {
      const at = error.event >= 0 ? { event: error.event } : undefined;
      return [broken('error', `${describeCase(t.case)} got ${error.code}: ${error.message}`, at)];
    }
    if (t.ending === 'deadline') {
      return [broken('no-end', `the exchange had ${t.events} events and did not end within ${Math.round(t.endedNs / 1e6)} ms`)];
    }
    if (t.ending === 'broken') return [broken('cut', `the exchange broke off after ${t.events} events`, { event: t.events })];
    if (dataEvents(t).length === 0) return [broken('no-data', `the exchange ended in order after ${t.events} events, none with data`)];
    return [];
  },
};
