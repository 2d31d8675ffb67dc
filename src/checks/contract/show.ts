import { realpathSync } from 'node:fs';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import type { Reply } from './reply.ts';
import type { Ask, Exchange } from './types.ts';

/** Longer bodies are cut in the record; the facts are made of all of it. */
const SHOWN = 4000;

/** An exchange as text that says what was sent and what came. */
export function showExchange(ask: Ask, came: Reply): Exchange {
  return { request: cut(requestText(ask)), reply: cut(here(replyText(ask, came))) };
}

/** Where this checkout lies is nobody's business. */
const here = (text: string): string => text.replaceAll(PACKAGE_ROOT, '<lockstep>').replaceAll(realpathSync(PACKAGE_ROOT), '<lockstep>');

function requestText(ask: Ask): string {
  switch (ask.via) {
    case 'http':
    case 'metrics': {
      const headers = Object.entries(ask.headers ?? {}).map(([name, value]) => `\n${name}: ${value}`);
      const body =
        ask.body === undefined ? '' : `\n\n${typeof ask.body === 'string' ? ask.body : `${hex(ask.body)} (${ask.body.length} bytes)`}`;
      return `${ask.method} ${ask.path}${ask.via === 'metrics' ? ' (metrics port)' : ''}${headers.join('')}${body}`;
    }
    case 'grpc':
      return `${ask.rpc} ${json(ask.message)}`;
    case 'grpc-bytes':
      return `${ask.path} ${hex(ask.bytes)}`;
    case 'stream': {
      const metadata = Object.entries(ask.metadata ?? {}).map(([name, value]) => `\nmetadata ${name}: ${value}`);
      return `ModelStreamInfer${metadata.join('')}${ask.messages.map((message) => `\n${json(message)}`).join('')}`;
    }
  }
}

function replyText(ask: Ask, came: Reply): string {
  if (ask.via === 'http' || ask.via === 'metrics') {
    const type = came.type === '' ? '' : `\ncontent-type: ${came.type}`;
    const headers = came.headers.length === 0 ? '' : `\nother headers: ${came.headers.join(', ')}`;
    return `${came.status}${type}${headers}${came.body === '' ? '' : `\n\n${came.body}`}`;
  }
  const head = came.type === '' ? came.status : `${came.status} ${came.type}`;
  return [...came.messages, head, ...(came.body === '' ? [] : [came.body])].join('\n');
}

function json(message: object): string {
  return JSON.stringify(message, (_, value: unknown) => (value instanceof Uint8Array ? hex(value) : value)).replaceAll(
    /\{"type":"Buffer","data":\[([\d,]*)\]\}/g,
    (_, bytes: string) => JSON.stringify(hex(Uint8Array.from(bytes === '' ? [] : bytes.split(',').map(Number)))),
  );
}

const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

function cut(text: string): string {
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}\n… ${text.length - SHOWN} characters more`;
}
