/** What a configuration says, put to the test where behaviour can refute it. It can never prove it. */
export interface Trial {
  readonly id: 'equal-answers' | 'alone-and-together' | 'stream-order' | 'single-batches' | 'no-response-cache' | 'one-process-each';
  readonly statement: string;
  /** How often it could have been refuted. */
  readonly n: number;
  readonly verdict: 'not contradicted' | 'contradicted' | 'not tried';
  /** What contradicts it, or why it was not tried; '' otherwise. */
  readonly detail: string;
}

export function judged(id: Trial['id'], statement: string, n: number, against: readonly string[]): Trial {
  if (n === 0 && against.length === 0) return { id, statement, n, verdict: 'not tried', detail: 'nothing showed it either way' };
  const more = against.length > 3 ? `; ${against.length - 3} more` : '';
  return {
    id,
    statement,
    n,
    verdict: against.length > 0 ? 'contradicted' : 'not contradicted',
    detail: against.slice(0, 3).join('; ') + more,
  };
}
