import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { type Access, httpBase } from '#wire/clients/index.ts';
import { BROKEN, NO_ANSWER, type Reply, reply } from './reply.ts';
import type { Ask } from './types.ts';

/** Headers of every reply, whose presence says nothing. */
const EVERYWHERE = new Set(['content-type', 'content-length', 'connection', 'date']);

/** One exchange over a connection of its own, with node:http as it comes, so that anything can be sent. Never rejects. */
export function askHttp(
  address: string,
  access: Access | undefined,
  ask: Extract<Ask, { via: 'http' | 'metrics' }>,
  deadlineMs: number,
): Promise<Reply> {
  const url = new URL(httpBase(address));
  const secured = url.protocol === 'https:';
  const { promise, resolve } = Promise.withResolvers<Reply>();
  const out = (secured ? httpsRequest : httpRequest)({
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    ...(secured ? { ca: access?.ca, cert: access?.cert, key: access?.key } : {}),
    path: url.pathname.replace(/\/$/, '') + ask.path,
    method: ask.method,
    agent: false,
    headers: {
      ...(ask.body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(ask.body) }),
      ...access?.headers,
      ...ask.headers,
    },
  });
  const timer = setTimeout(() => {
    resolve(reply(`${NO_ANSWER} within ${deadlineMs} ms`));
    out.destroy();
  }, deadlineMs);
  out.on('error', () => {
    clearTimeout(timer);
    resolve(reply(BROKEN));
  });
  out.on('response', (came) => {
    const parts: Buffer[] = [];
    came.on('data', (part: Buffer) => parts.push(part));
    came.on('error', () => undefined);
    came.on('close', () => {
      clearTimeout(timer);
      const status = came.complete ? String(came.statusCode) : `${came.statusCode}, ${BROKEN}`;
      const headers = Object.keys(came.headers).filter((name) => !EVERYWHERE.has(name));
      const body = Buffer.concat(parts).toString('utf8');
      resolve(reply(status, { type: came.headers['content-type'] ?? '', headers: headers.toSorted(), body }));
    });
  });
  out.end(ask.body);
  return promise;
}
