/** Content codings of /infer. Source: src/data_compressor.h and CompressionTypeUsed in src/http_server.cc (2.51). */
import { deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import { CoreError } from '../core/types.ts';

export type Coding = 'identity' | 'gzip' | 'deflate';

/** Of the request body. Errors: UNSUPPORTED, which becomes 501 (415 up to 2.36). */
export function requestCoding(header: string | undefined): Coding {
  if (header === 'gzip' || header === 'deflate') return header;
  if (header === undefined || header === '' || header === 'identity') return 'identity';
  throw new CoreError('UNSUPPORTED', 'Unsupported compression type');
}

export function decompress(coding: Coding, body: Buffer): Buffer {
  if (coding === 'identity') return body;
  if (body.length === 0) throw new CoreError('INVALID_ARG', 'nothing to be decompressed');
  try {
    return coding === 'gzip' ? gunzipSync(body) : inflateSync(body);
  } catch {
    throw new CoreError('INTERNAL', 'encountered inconsistent stream state during decompression');
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
