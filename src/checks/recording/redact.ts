/** What a fixture does not tell: secrets of clients, wherever they stand. */
import type { FixtureEvent, Headers } from './types.ts';

const HIDDEN = '***';

/** Names that are made to carry secrets; Triton's restricted protocols have theirs behind a prefix. */
const SECRET_NAME =
  /^(?:(?:proxy-)?authorization|(?:set-)?cookie|triton-grpc-protocol-.+)$|(?:^|[-_])(?:(?:api-?)?key|token|secret|password|signature)$/i;
const SECRET_QUERY = /([?&](?:[\w.-]*[-_])?(?:(?:api-?)?key|token|secret|password|sig|signature)=)[^&#]+/gi;
/** Shorter values are no secrets, and would be found in any text. */
const SECRET_CHARACTERS = 6;

/** One exchange: what a secret header had is then hidden in messages and bodies too, since servers quote what they refuse. */
export class Redactor {
  readonly #secrets = new Set<string>();
  readonly #names: ReadonlySet<string>;

  /** @param names headers that carry secrets beside those that are made for it, in lower case */
  constructor(names: readonly string[] = []) {
    this.#names = new Set(names);
  }

  event<E extends FixtureEvent>(event: E): E {
    const hidden: { -readonly [K in keyof FixtureEvent]?: unknown } & { headers?: Headers; path?: string; bytes?: Buffer } = {};
    if ('headers' in event && event.headers !== undefined) hidden.headers = this.#headers(event.headers);
    if ('path' in event) hidden.path = this.#path(event.path);
    if ('bytes' in event) hidden.bytes = this.#bytes(event.bytes);
    return { ...event, ...hidden };
  }

  #headers(headers: Headers): Headers {
    const secret = (name: string): boolean => SECRET_NAME.test(name) || this.#names.has(name.toLowerCase());
    if (!headers.some(([name]) => secret(name))) return headers;
    return headers.map(([name, value]) => (secret(name) ? [name, this.#hidden(value)] : [name, value]));
  }

  /** The scheme before a token (`Bearer`) is none. */
  #hidden(value: string): string {
    const [scheme] = /^[A-Za-z]+ (?=\S)/.exec(value) ?? [''];
    this.#keep(value.slice(scheme.length));
    return scheme + HIDDEN;
  }

  #path(path: string): string {
    return path.replaceAll(SECRET_QUERY, (found: string, name: string) => {
      this.#keep(found.slice(name.length));
      return name + HIDDEN;
    });
  }

  #keep(secret: string): void {
    if (secret.length >= SECRET_CHARACTERS) this.#secrets.add(secret);
  }

  /** As long as they were, so that lengths stay true. */
  #bytes(bytes: Buffer): Buffer {
    let hidden = bytes;
    for (const secret of this.#secrets) {
      for (let at = hidden.indexOf(secret, 0, 'latin1'); at >= 0; at = hidden.indexOf(secret, at, 'latin1')) {
        if (hidden === bytes) hidden = Buffer.from(bytes);
        hidden.fill('*', at, at + secret.length);
      }
    }
    return hidden;
  }
}
