import { readFileSync } from 'node:fs';
import type { AccessFiles } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Access } from '#wire/clients/index.ts';

/**
 * Reads certificates, token and headers. What is secret in it is sent to the server and shown nowhere.
 *
 * Errors: `access-unreadable`, which names the file; `flags-contradict` for a certificate without its key.
 */
export function readAccess(files: AccessFiles): Access {
  if ((files.tlsCert === undefined) !== (files.tlsKey === undefined)) {
    const [given, missing] = files.tlsCert === undefined ? ['--tls-key', '--tls-cert'] : ['--tls-cert', '--tls-key'];
    throw new LockstepError('flags-contradict', `${given} is given without ${missing}`, {
      hint: `Add ${missing} FILE; a certificate is of no use without its key.`,
    });
  }
  const headers = files.headers.map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
  });
  const token = read(files.bearerTokenFile)?.trim();
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new LockstepError(
      'access-unreadable',
      `${files.bearerTokenFile} holds no token: ${token === '' ? 'it is empty' : 'it has blanks or line breaks inside'}`,
      {
        hint: 'Write the token and nothing else into it.',
      },
    );
  }
  return {
    ca: pem(files.tlsCa),
    cert: pem(files.tlsCert),
    key: pem(files.tlsKey),
    headers: { ...Object.fromEntries(headers), ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
  };
}

function pem(path: string | undefined): string | undefined {
  const text = read(path);
  if (text === undefined || text.includes('-----BEGIN ')) return text;
  throw new LockstepError('access-unreadable', `${path} is no PEM file: it has no line -----BEGIN …-----`, {
    hint: 'Convert it, for example with: openssl x509 -inform der -in FILE -out FILE.pem',
  });
}

function read(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    throw new LockstepError('access-unreadable', `cannot read ${path}: ${(thrown as Error).message}`, {
      hint: 'Correct the path, or the rights of the file.',
      cause: thrown,
    });
  }
}
