import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { DEFAULT_PROFILE, profileOf, RELEASES as PROFILES } from '#core/profile/index.ts';
import type { JsonValue } from '#wire/protocol/json-value.ts';
import { decodeBytesElements, fp32Values, type Tensor } from '#wire/protocol/tensors.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import { pythonDumps } from '../fastapi/index.ts';
import { testCore } from '../http/test-core.ts';
import { startOpenAiServer } from './index.ts';
import type { FrontEndSettings } from './settings.ts';

/**
 * Every byte that NVIDIA's front ends answered to these requests, and every tensor that they sent to the model: the files
 * of twelve branches under the HTTP stack of their requirements (r24.11: FastAPI 0.111.1, Starlette 0.37.2, httptools;
 * later ones: FastAPI 0.121.2, Starlette 0.49.3, h11), Pydantic 2.14.4, uvicorn 0.54.0, NumPy 1.26.4 (once 2.4.6), in front of
 * a stand-in for the in-process binding that plays the scripts of test-core.ts. Bytes are latin-1 characters; ids, `created` and dates
 * are masked. What a release answered like the one before it is not said again. Of r24.11 only what differs in more than
 * the headers that httptools writes in lower case. Left out: the text of error responses, which the stand-in cannot give.
 */
interface Recorded {
  readonly answers: readonly string[];
  /** Name, datatype, shape and values. */
  readonly tensors: readonly string[];
  readonly groups: readonly Group[];
}
interface Group {
  readonly name: string;
  readonly settings: FrontEndSettings;
  readonly tokenizer: boolean;
  readonly cases: readonly { readonly request: string; readonly seen: readonly Seen[] }[];
}
interface Seen {
  readonly from: string;
  /** Index in `answers`. */
  readonly answer: number;
  /** Indices in `tensors`; absent: the model was not reached. */
  readonly tensors?: string;
  readonly cancelled?: true;
}
const recorded = JSON.parse(readFileSync(new URL('real-releases.cases.json', import.meta.url), 'utf8')) as Recorded;

const RELEASES = PROFILES.openai.filter(({ trtllmServe }) => trtllmServe === undefined).map(({ id }) => id);
/**
 * Asked everything. The others are asked what changed with them or changes with the next: what a release has wrongly is
 * handed on to those after it, until one of them should have it too. npm run test:processes asks all of them everything.
 */
const ASKED_EVERYTHING = process.env['LOCKSTEP_REAL'] === '1' ? RELEASES : [DEFAULT_PROFILE.openai.id, RELEASES.at(-1)];
/** What flat had besides, where this was recorded. */
const MORE = [
  'random_seed" data_type: TYPE_UINT64',
  'guided_decoding_guide_type" data_type: TYPE_STRING',
  'guided_decoding_guide" data_type: TYPE_STRING',
]
  .map((input) => `,\n  { name: "${input} dims: [1] optional: true }`)
  .join('');

const tokenizer = {
  bosId: 1,
  tokenText: () => '<|bos|>',
  applyChatTemplate: (messages, { variables }) => {
    const tools = variables?.['tools'];
    const shown = tools == null ? '' : `<|tools|>${pythonDumps(jsonOf(tools), { ascii: false })}\n`;
    return `<|bos|>${shown}${messages.map((m) => `<|${m.role}|>${m.content}\n`).join('')}<|assistant|>`;
  },
} satisfies Partial<Tokenizer> as unknown as Tokenizer;

describe('answers and tensors are those of the real front end', { timeout: 60_000 }, () => {
  test.concurrent.each(RELEASES)('%s', async (release) => {
    const wrong: object[] = [];
    let asked = 0;
    const next = RELEASES[RELEASES.indexOf(release) + 1];
    for (const group of recorded.groups) {
      using made = testCore(profileOf(`openai=${release}`), MORE);
      const options = { core: made.core, tokenizer: group.tokenizer ? tokenizer : undefined, settings: group.settings };
      await using server = await startOpenAiServer({ ...options, host: '127.0.0.1', port: 0 });
      for (const { request, seen } of group.cases) {
        if (!ASKED_EVERYTHING.includes(release) && !seen.some(({ from }) => from === release || from === next)) continue;
        const { answer, tensors, cancelled } = seen.findLast(({ from }) => RELEASES.indexOf(from) <= RELEASES.indexOf(release)) as Seen;
        const bytes = recorded.answers[answer] as string;
        const real = release === 'r24.11' ? framedByHttptools(bytes) : bytes;
        const before = made.seen.length;
        const got = await exchange(server.port, request, real);
        const sent = made.seen[before];
        const expected = tensors?.split(' ').map((i) => recorded.tensors[Number(i)]);
        asked++;
        if (got !== real) wrong.push({ group: group.name, request, real, got });
        const shown = sent && [...sent.inputs.values()].map(show);
        if (shown?.join('\n') !== expected?.join('\n')) wrong.push({ group: group.name, request, expected, shown });
        if (sent !== undefined && sent.isCancelled() !== (cancelled ?? false)) wrong.push({ group: group.name, request, cancelled });
      }
    }
    // One is enough to read, and how many there are.
    expect({ wrong: wrong.length, first: wrong[0] }).toEqual({ wrong: 0, first: undefined });
    expect(asked).toBeGreaterThan(ASKED_EVERYTHING.includes(release) ? 370 : 5);
  });
});

/** The same answer with the headers that httptools frames it by. */
function framedByHttptools(answer: string): string {
  const end = answer.indexOf('\r\n\r\n');
  const lines = answer.slice(0, end).split('\r\n');
  const transfer = lines.filter((line) => line.startsWith('Transfer-Encoding: '));
  const close = lines.filter((line) => line.startsWith('Connection: '));
  const others = lines.filter((line) => !transfer.includes(line) && !close.includes(line));
  return [...others, ...close.map((l) => l.toLowerCase()), ...transfer.map((l) => l.toLowerCase())].join('\r\n') + answer.slice(end);
}

function show({ name, datatype, shape, data }: Tensor): string {
  const bytes = Buffer.from(data);
  const values =
    datatype === 'BYTES'
      ? decodeBytesElements(data).map((element) => Buffer.from(element).toString('utf8'))
      : datatype === 'FP32'
        ? [...fp32Values(data)]
        : datatype === 'INT32'
          ? [bytes.readInt32LE()]
          : datatype === 'UINT64'
            ? [String(bytes.readBigUInt64LE())]
            : [...bytes];
  return `${name} ${datatype} ${JSON.stringify(shape)} ${JSON.stringify(values)}`;
}

function jsonOf(value: unknown): JsonValue {
  if (Array.isArray(value)) return value.map(jsonOf);
  if (value !== null && typeof value === 'object') return new Map(Object.entries(value).map(([key, member]) => [key, jsonOf(member)]));
  return value as JsonValue;
}

function masked(text: string): string {
  return text
    .replace(/cmpl-[0-9a-f-]{36}/g, 'ID')
    .replace(/"created":\d+/g, '"created":T')
    .replace(/date: [^\r]+/g, 'date: D');
}

/** Until the server closes, or has said all that is expected on a connection that it keeps open. */
function exchange(port: number, request: string, expected: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(request, 'latin1'));
    const chunks: Buffer[] = [];
    const done = () => {
      socket.destroy();
      resolve(masked(Buffer.concat(chunks).toString('latin1')));
    };
    const keepsOpen = !/connection: close/i.test(expected);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      if (keepsOpen && masked(Buffer.concat(chunks).toString('latin1')) === expected) done();
    });
    socket.on('end', done);
    socket.setTimeout(5000, done);
    socket.on('error', reject);
  });
}
