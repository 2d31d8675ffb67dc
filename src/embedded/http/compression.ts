/** Content codings of /infer. Source: src/data_compressor.h and CompressionTypeUsed in src/http_server.cc (2.51). */
import { constants, deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import { CoreError } from '../core/types.ts';

export const UNKNOWN_CODING = 'Unsupported compression type';

export type Coding = 'identity' | 'gzip' | 'deflate';

/** Of the request body. Errors: UNSUPPORTED, which becomes 501 (415 up to 2.36). */
export function requestCoding(header: string | undefined): Coding {
  if (header === 'gzip' || header === 'deflate') return header;
  if (header === undefined || header === '' || header === 'identity') return 'identity';
  throw new CoreError('UNSUPPORTED', UNKNOWN_CODING);
}

/** What can be read of the body: a cut one counts as far as it goes, one that is not compressed at all counts as empty. */
export function decompress(coding: Coding, body: Buffer): Buffer {
  if (coding === 'identity') return body;
  if (body.length === 0) throw new CoreError('INVALID_ARG', 'nothing to be decompressed');
  try {
    const lenient = { finishFlush: constants.Z_SYNC_FLUSH };
    return coding === 'gzip' ? gunzipSync(body, lenient) : inflateSync(body, lenient);
  } catch {
    return Buffer.alloc(0);
  }
}

export function compress(coding: Coding, body: Buffer): Buffer {
  return coding === 'gzip' ? gzipSync(body) : coding === 'deflate' ? deflateSync(body) : body;
}

/** The first coding of highest weight; unknown ones and `*` are passed over. */
export function responseCoding(acceptEncoding: string | undefined): Coding {
  let best: Coding = 'identity';
  let weight = 0;
  for (const part of (acceptEncoding ?? '').split(',')) {
    const [type, q] = part.trimStart().split(';q=');
    const candidate = q === undefined ? 1 : Number.parseFloat(q);
    if ((type === 'identity' || type === 'gzip' || type === 'deflate') && candidate > weight) {
      best = type;
      weight = candidate;
    }
  }
  return best;
}
