import { BYTE_OF_SYMBOL, byteOfToken } from './byte-symbols.ts';
import { type Component, patternOf, stepsOf, type TokenizerJson } from './tokenizer-json.ts';

/** Tokens to text, and what a stream has to know of them. */
export interface TokenDecoder {
  /** The token's spelling; undefined for an id that stands for nothing, which decoding leaves out. */
  tokenOf(id: number): string | undefined;
  decode(tokens: readonly string[]): string;
  /** What one token adds to the bytes of the text, wherever it stands. */
  bytesOf(token: string): Uint8Array;
  /** Whether what follows this token may change how it is shown, whatever it looks like now. */
  isOpen(token: string): boolean;
}

type Step = (tokens: readonly string[]) => readonly string[];

/**
 * The decoders of the Rust library (huggingface/tokenizers `decoders/`), step by step as they are there: one U+FFFD for
 * every byte token of a run that is not UTF-8 as a whole, one for every broken part of byte-level text.
 */
export function tokenDecoder(json: TokenizerJson): TokenDecoder {
  const tokens = new Map(Object.entries(json.model.vocab).map(([token, id]) => [id, token]));
  for (const { id, content } of json.added_tokens ?? []) tokens.set(id, content);
  const parts = stepsOf(json.decoder);
  const steps = parts.map(stepOf);
  const hasBytes = parts.some((part) => part.type === 'ByteFallback');
  const hasSymbols = parts.some((part) => part.type === 'ByteLevel');
  const bytesOf = (token: string): Uint8Array => {
    if (hasSymbols) return Uint8Array.from(bytesOfSymbols(token));
    const byte = hasBytes ? byteOfToken(token) : undefined;
    return byte === undefined ? Buffer.from(spacesOf(token, parts)) : Uint8Array.of(byte);
  };
  return {
    tokenOf: (id) => tokens.get(id),
    decode: (list) => steps.reduce((current, step) => step(current), list).join(''),
    bytesOf,
    isOpen: (token) => hasBytes && byteOfToken(token) !== undefined,
  };
}

function stepOf(part: Component): Step {
  switch (part.type) {
    case 'ByteLevel':
      return (tokens) => [new TextDecoder('utf-8', { ignoreBOM: true }).decode(Uint8Array.from(tokens.flatMap(bytesOfSymbols)))];
    case 'ByteFallback':
      return byteFallback;
    case 'Fuse':
      return (tokens) => [tokens.join('')];
    case 'Strip':
      return (tokens) => tokens.map((token) => strip(token, String(part['content']), Number(part['start'])));
    case 'Metaspace':
      return metaspace(part);
    default: {
      const { String: from = '' } = patternOf(part);
      return (tokens) => tokens.map((token) => token.replaceAll(from, () => String(part['content'])));
    }
  }
}

/** A token with a character outside the alphabet is text as it stands. */
function bytesOfSymbols(token: string): number[] {
  const bytes: number[] = [];
  for (const symbol of token) {
    const byte = BYTE_OF_SYMBOL.get(symbol);
    if (byte === undefined) return [...Buffer.from(token)];
    bytes.push(byte);
  }
  return bytes;
}

/** What stands for a space in the vocabulary becomes one; what is dropped at the start of a text is not. */
function spacesOf(token: string, parts: readonly Component[]): string {
  return parts.reduce((text, part) => {
    if (part.type === 'Metaspace') return text.replaceAll(String(part['replacement']), ' ');
    return part.type === 'Replace' ? text.replaceAll(patternOf(part).String ?? '', () => String(part['content'])) : text;
  }, token);
}

function byteFallback(tokens: readonly string[]): readonly string[] {
  const out: string[] = [];
  let run: number[] = [];
  const endRun = () => {
    if (run.length > 0) out.push(...textOfRun(run));
    run = [];
  };
  for (const token of tokens) {
    const byte = byteOfToken(token);
    if (byte !== undefined) {
      run.push(byte);
    } else {
      endRun();
      out.push(token);
    }
  }
  endRun();
  return out;
}

function textOfRun(bytes: readonly number[]): string[] {
  try {
    return [new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes))];
  } catch {
    return bytes.map(() => '\uFFFD');
  }
}

function strip(token: string, mark: string, most: number): string {
  let start = 0;
  for (let i = 0; i < most && token.startsWith(mark, start); i++) start += mark.length;
  return token.slice(start);
}

function metaspace(part: Component): Step {
  const mark = String(part['replacement']);
  const dropsFirst = part['prepend_scheme'] !== 'never';
  return (tokens) => tokens.map((token, i) => token.replaceAll(mark, i === 0 && dropsFirst ? '' : ' '));
}
