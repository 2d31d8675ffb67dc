import type { Lab } from '#checks/lab/lab.ts';
import { LockstepError } from '#core/errors/index.ts';
import { HttpChannel } from '#wire/clients/index.ts';

const WITHIN_MS = 10_000;

/** What a server says of itself at one moment; a part that it does not tell is left out. */
export interface Surroundings {
  readonly metrics?: string;
  readonly statistics?: readonly unknown[];
  readonly configs?: Readonly<Record<string, unknown>>;
}

/** Never rejects: a server that died tells nothing, and that is no reason to have no bundle. */
export async function surroundingsOf({ parts }: Lab): Promise<Surroundings> {
  const options = { deadlineMs: WITHIN_MS };
  const { clients, endpoints } = parts;
  const [metrics, statistics, configs] = await Promise.all([
    endpoints.metrics === undefined ? undefined : told(() => pageOf(endpoints.metrics!, endpoints.access)),
    endpoints.http === '' ? undefined : told(() => clients.http.statistics('', '', options)),
    endpoints.http === ''
      ? undefined
      : told(async () => {
          const index = await clients.http.repositoryIndex({ ...options, readyOnly: true });
          const names = [...new Set(index.map(({ name }) => name))].toSorted();
          return Object.fromEntries(
            await Promise.all(names.map(async (name) => [name, await clients.http.modelConfig(name, '', options)] as const)),
          );
        }),
  ]);
  return {
    ...(metrics === undefined ? {} : { metrics }),
    ...(statistics === undefined ? {} : { statistics }),
    ...(configs === undefined ? {} : { configs }),
  };
}

async function pageOf(address: string, access: ConstructorParameters<typeof HttpChannel>[1]): Promise<string> {
  await using channel = new HttpChannel(address, access);
  return (await channel.ok({ method: 'GET', path: '/metrics' }, { deadlineMs: WITHIN_MS })).body.toString('utf8');
}

async function told<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (thrown) {
    // Whatever it was, it came from outside.
    LockstepError.from(thrown);
    return undefined;
  }
}
