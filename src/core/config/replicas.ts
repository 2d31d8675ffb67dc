/** Addresses of several servers in one setting: `gpu1:8001,8011|gpu2:8001`, or URLs with `|` between them. */
import { LockstepError } from '#core/errors/index.ts';

/** Where one replica listens; as the settings give it. */
export interface Replica {
  /** '' where only an OpenAI endpoint is known. */
  readonly grpc: string;
  /** '' where only an OpenAI endpoint is known. */
  readonly http: string;
  readonly metrics: string | undefined;
  readonly openai: string | undefined;
}

/** Hosts are separated by `|`, several ports of one host by commas; a scheme stands before the host. */
export function addressesOf(text: string): readonly string[] {
  return text.split('|').flatMap((part) => {
    const [, scheme = '', host = '', ports = ''] = /^(\w+:\/\/)?(.*):([\d,]+)$/.exec(part) ?? [];
    return ports === '' ? [part] : ports.split(',').map((port) => `${scheme}${host}:${port}`);
  });
}

const KINDS = ['grpc', 'http', 'metrics', 'openai'] as const;

/**
 * The addresses of servers that already run, in their order, one replica each: the second of `--grpc` belongs to the second of `--http`.
 *
 * Errors: `flags-contradict` when the settings name different numbers of servers, or one address twice.
 */
export function replicasOf(given: Readonly<Record<(typeof KINDS)[number] | 'target', string | undefined>>): readonly Replica[] {
  if (given.target === 'openai') {
    const urls = given.openai?.split('|') ?? [];
    refuseTwice('openai', urls);
    return urls.map((openai) => ({ grpc: '', http: '', metrics: undefined, openai }));
  }
  if (given.target !== 'external') return [];
  const lists = Object.fromEntries(
    KINDS.map((kind) => {
      const text = given[kind];
      return [kind, text === undefined ? undefined : kind === 'openai' ? text.split('|') : addressesOf(text)];
    }),
  );
  const counts = KINDS.filter((kind) => lists[kind] !== undefined).map((kind) => `--${kind} ${lists[kind]?.length}`);
  const { grpc = [], http = [] } = lists;
  if (KINDS.some((kind) => lists[kind] !== undefined && lists[kind].length !== grpc.length)) {
    throw new LockstepError('flags-contradict', `the addresses name different numbers of servers: ${counts.join(', ')}`, {
      hint: 'Give every replica in every setting, in one order: --grpc gpu1:8001|gpu2:8001 --http gpu1:8000|gpu2:8000.',
    });
  }
  for (const kind of KINDS) refuseTwice(kind, lists[kind] ?? []);
  return grpc.map((address, i) => ({
    grpc: address,
    http: http[i] as string,
    metrics: lists['metrics']?.[i],
    openai: lists['openai']?.[i],
  }));
}

/** A server that is compared with itself is always alike. */
function refuseTwice(kind: string, addresses: readonly string[]): void {
  const seen = addresses.map((address) => address.toLowerCase().replace(/\/+$/, ''));
  const at = seen.findIndex((address, i) => seen.indexOf(address) !== i);
  if (at < 0) return;
  throw new LockstepError('flags-contradict', `--${kind} names ${addresses[at]} twice, and replicas are different servers`, {
    hint: 'Name each server once.',
  });
}
