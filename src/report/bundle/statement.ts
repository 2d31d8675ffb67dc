import { LAWS } from '#checks/laws/index.ts';

/** Laws of claims of their own, about answers to equal requests and about the server behind them. */
const OTHERS: Readonly<Record<string, string>> = {
  golden: 'A greedy request gets the accepted answer.',
  'batch-invariance': 'An answer does not depend on what else is in the batch: it is the one that the request gets alone.',
  'cold-equals-warm': 'A prompt gets the same answer, with the same log-probabilities, when its KV blocks are reused.',
  'seed-decides': 'A sampled request with the same seed gets the same answer, whatever runs beside it.',
  'cancel-frees': 'When its client has gone, a request stops, and its slot and KV blocks are free again.',
  'neighbours-unchanged': 'A cancel changes nothing for the requests beside it.',
  'server-survives': 'The server lives on, whatever a client asks and whenever it leaves.',
};

/** What a law says, as one sentence; undefined for one that says it in its violations alone. */
export function statementOf(law: string): string | undefined {
  return LAWS.find(({ id }) => id === law)?.statement ?? OTHERS[law];
}
