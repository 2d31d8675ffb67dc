import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
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
  const twice = headers.find(([name], i) => headers.findIndex(([other]) => other === name) !== i);
  if (twice !== undefined) {
    throw new LockstepError('flags-contradict', `the header ${twice[0]} is given twice`, { hint: 'Leave one of them out.' });
  }
  const token = readToken(files.bearerTokenFile)?.trim();
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token)) {
    throw new LockstepError(
      'access-unreadable',
      `${files.bearerTokenFile} holds no token: ${token === '' ? 'it is empty' : 'it has blanks or line breaks inside'}`,
      {
        hint: 'Write the token and nothing else into it.',
      },
    );
  }
  if (token !== undefined && headers.some(([name]) => name === 'authorization')) {
    throw new LockstepError('flags-contradict', '--bearer-token-file and --header both say what authorization is', {
      hint: 'Leave one of them out.',
    });
  }
  const [ca, cert, key] = [certificates(files.tlsCa), certificates(files.tlsCert), pem(files.tlsKey, 'PRIVATE KEY')];
  if (cert !== undefined) matching(cert, key, files);
  return {
    ca,
    cert,
    key,
    headers: { ...Object.fromEntries(headers), ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) },
  };
}

function pem(path: string | undefined, kind: 'CERTIFICATE' | 'PRIVATE KEY'): string | undefined {
  const text = read(path);
  if (text === undefined || new RegExp(`^-----BEGIN [A-Z ]*${kind}-----$`, 'm').test(text)) return text;
  const other = /^-----BEGIN ([A-Z ]+)-----$/m.exec(text)?.[1];
  throw new LockstepError(
    'access-unreadable',
    other === undefined ? `${path} is no PEM file: it has no line -----BEGIN …-----` : `${path} holds a ${other}, and a ${kind} is wanted`,
    {
      hint:
        other === undefined
          ? 'Convert it, for example with: openssl x509 -inform der -in FILE -out FILE.pem'
          : 'Name the right file; perhaps two are exchanged.',
    },
  );
}

/** Each certificate is read by itself: a context takes what it can of a CA file and passes over the rest in silence. */
function certificates(path: string | undefined): string | undefined {
  const text = pem(path, 'CERTIFICATE');
  for (const [i, one] of (text?.match(/-----BEGIN [A-Z ]*CERTIFICATE-----[^]*?(?:-----END [A-Z ]*CERTIFICATE-----|$)/g) ?? []).entries()) {
    try {
      new X509Certificate(one);
    } catch (thrown) {
      throw new LockstepError('access-unreadable', `certificate ${i + 1} of ${path} cannot be read: ${(thrown as Error).message}`, {
        hint: 'Restore the file; openssl x509 -in FILE -noout -text shows what it holds.',
        cause: thrown,
      });
    }
  }
  return text;
}

/** Errors: `access-unreadable` for a key with a passphrase, of another certificate, or damaged. */
function matching(cert: string, key: string | undefined, { tlsCert, tlsKey }: AccessFiles): void {
  try {
    createSecureContext({ cert, key });
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException;
    const [what, hint] =
      code === 'ERR_OSSL_X509_KEY_VALUES_MISMATCH'
        ? [`${tlsKey} is not the key of ${tlsCert}`, 'Name the pair that was made together.']
        : /ENCRYPTED/.test(key ?? '')
          ? [`${tlsKey} has a passphrase`, 'Take it off into a file that only you can read: openssl pkey -in FILE -out FILE.open']
          : [`${tlsKey} cannot be used: ${message}`, 'Restore the file; openssl pkey -in FILE -check looks at it.'];
    throw new LockstepError('access-unreadable', what, { hint, cause: thrown });
  }
}

/** What is no file may be the token itself, given by mistake. */
function readToken(path: string | undefined): string | undefined {
  if (path === undefined || existsSync(path)) return read(path);
  throw new LockstepError('access-unreadable', 'there is no file of the name that --bearer-token-file gives', {
    hint: 'It names the file that the token is in; the token itself is not to be seen on a command line.',
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
