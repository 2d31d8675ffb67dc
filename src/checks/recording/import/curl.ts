import type { Headers } from '../types.ts';
import { type Imported, httpRequest, unreadable } from './imported.ts';
import { shellWords } from './shell-words.ts';

/** Switches of curl that change nothing of the request, and those whose value does not. */
const SWITCHES =
  /^(?:-[sSNvikfLg#]+|--(?:silent|show-error|no-buffer|verbose|include|insecure|fail|fail-with-body|location|compressed|globoff|progress-bar|http1\.1))$/;
const WITH_VALUE = new Set([
  '-o',
  '--output',
  '-m',
  '--max-time',
  '--connect-timeout',
  '-w',
  '--write-out',
  '--retry',
  '-c',
  '--cookie-jar',
  '--cacert',
]);
const DATA = new Set(['-d', '--data', '--data-ascii', '--data-raw', '--data-binary', '--json']);

/** A curl line as it was copied from a shell, a page or a browser. Errors: `import-unreadable`. */
export function importCurl(line: string): Imported {
  const words = shellWords(line.trim().replace(/^\$ /, ''));
  if (words === undefined) throw unreadable('the curl line has a quote that is not closed', 'Copy the whole line, quotes included.');
  let url: string | undefined;
  let method: string | undefined;
  const headers: (readonly [string, string])[] = [];
  const data: string[] = [];
  let json = false;
  const rest = words.slice(1).flatMap(together);
  for (let i = 0; i < rest.length; i++) {
    const word = rest[i]!;
    const value = (): string => {
      const next = rest[++i];
      if (next === undefined) throw unreadable(`${word} has no value`, 'Copy the whole curl line.');
      return next;
    };
    if (word === '-X' || word === '--request') method = value();
    else if (word === '--url') url = value();
    else if (word === '-H' || word === '--header') headers.push(headerOf(value()));
    else if (word === '-A' || word === '--user-agent') headers.push(['User-Agent', value()]);
    else if (DATA.has(word)) {
      const text = value();
      if (text.startsWith('@') && word !== '--data-raw')
        throw unreadable(
          `${word} names the file ${text.slice(1)}, which is not read from here`,
          `Write what is in it in its place: ${word} '…'.`,
        );
      json ||= word === '--json';
      data.push(text);
    } else if (WITH_VALUE.has(word)) value();
    else if (!word.startsWith('-')) url ??= word;
    else if (!SWITCHES.test(word))
      throw unreadable(`${word} is a flag of curl that is not known here`, 'Leave it out, or record the request itself: lockstep record.');
  }
  if (url === undefined) throw unreadable('the curl line has no URL', 'Copy the whole curl line.');
  const has = (name: string): boolean => headers.some(([key]) => key.toLowerCase() === name);
  const body = data.length === 0 ? undefined : Buffer.from(data.join(json ? '' : '&'), 'utf8');
  const type = json ? 'application/json' : 'application/x-www-form-urlencoded';
  const all: Headers = [
    ...headers,
    ...(body === undefined || has('content-type') ? [] : [['Content-Type', type] as const]),
    ...(json && !has('accept') ? [['Accept', 'application/json'] as const] : []),
  ];
  return httpRequest({
    url,
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers: all,
    body,
    note: 'Imported from a curl line.',
  });
}

/** `-XPOST` and `--json=…` are two words in one. */
function together(word: string): string[] {
  const short = /^(-[XHdomA])([^]+)$/.exec(word);
  if (short !== null) return [short[1]!, short[2]!];
  const long = /^(--[a-z-]+)=([^]*)$/.exec(word);
  return long === null ? [word] : [long[1]!, long[2]!];
}

function headerOf(line: string): readonly [string, string] {
  const [, name, value = ''] = /^([^\s:]+)[:;]\s*(.*?)\s*$/.exec(line) ?? [];
  if (name === undefined || /[\r\n]/.test(line)) throw unreadable('a header of the curl line is none', "Write it as -H 'name: value'.");
  return [name, Buffer.from(value, 'utf8').toString('latin1')];
}
