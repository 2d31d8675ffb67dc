import { createHash } from 'node:crypto';

/** SHA-256 in lower-case hexadecimal. */
export function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}

/** The first 12 hexadecimal digits of SHA-256: short enough to read, long enough not to collide in one store. */
export function shortHash(data: string | Uint8Array): string {
  return sha256(data).slice(0, 12);
}
