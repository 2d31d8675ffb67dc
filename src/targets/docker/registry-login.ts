import { homedir } from 'node:os';
import { join } from 'node:path';
import type { AuthConfig } from 'dockerode';
import { z } from 'zod';
import { readJsonObject } from '#core/json/index.ts';
import { runCommand } from '../host/index.ts';

const CONFIG = z.object({
  auths: z.record(z.string(), z.object({ auth: z.string().optional() })).optional(),
  credsStore: z.string().optional(),
  credHelpers: z.record(z.string(), z.string()).optional(),
});

/** Docker Hub's entry has this name in config.json. */
const HUB = 'https://index.docker.io/v1/';

/**
 * What `docker login` left for the registry of an image, in ~/.docker/config.json or with its credential helper; undefined
 * where there is nothing, which is enough for public images. It goes to the engine and nowhere else.
 */
export async function registryLogin(reference: string, env: Readonly<Record<string, string | undefined>>): Promise<AuthConfig | undefined> {
  const registry = registryOf(reference);
  const config = readConfig(join(env['DOCKER_CONFIG'] ?? join(homedir(), '.docker'), 'config.json'));
  const helper = config.credHelpers?.[registry] ?? config.credsStore;
  if (helper !== undefined) return fromHelper(helper, registry);
  const auth = config.auths?.[registry]?.auth;
  if (auth === undefined || auth === '') return undefined;
  const text = Buffer.from(auth, 'base64').toString('utf8');
  const cut = text.indexOf(':');
  return { username: text.slice(0, cut), password: text.slice(cut + 1), serveraddress: registry };
}

/** The part before the first slash where it looks like a host, as the docker command reads it. */
export function registryOf(reference: string): string {
  const [first = '', ...rest] = reference.split('/');
  return rest.length > 0 && (/[.:]/.test(first) || first === 'localhost') ? first : HUB;
}

/** One that is missing or spoiled has no logins, as for the docker command when it pulls. */
function readConfig(path: string): z.output<typeof CONFIG> {
  return CONFIG.safeParse(readJsonObject(path)).data ?? {};
}

/** A helper that has nothing ends with an error; then the pull is tried without a login. */
async function fromHelper(helper: string, registry: string): Promise<AuthConfig | undefined> {
  try {
    const answer = await runCommand(`docker-credential-${helper}`, ['get'], { ms: 10_000, what: 'the registry login', input: registry });
    const { Username, Secret } = JSON.parse(answer) as { readonly Username: string; readonly Secret: string };
    return { username: Username, password: Secret, serveraddress: registry };
  } catch {
    return undefined;
  }
}
