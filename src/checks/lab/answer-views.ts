import { firstDivergence, firstTextDivergence } from '#checks/compare/index.ts';
import type { Answer } from '#checks/laws/index.ts';
import { type Transcript, textOfEvent } from '#core/transcript/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { AnswerView, PieceView } from './result.ts';

/** Pieces shown before the place where answers part, and from there on. */
const BEFORE = 40;
const FROM = 41;

/**
 * The accepted answer and the observed one, piece by piece: tokens where ids are known, which of a text route they are of
 * the accepted answer only, and there what each event brought. None where they do not part: one that this client cut off
 * is right as far as it goes.
 */
export function answerViews(t: Transcript, truth: Answer, tokenizer: Tokenizer): readonly AnswerView[] {
  const cut = t.ending === 'cancelled';
  const accepted = tokenPieces(truth.ids, truth.margins, tokenizer);
  if (t.case.route === 'raw') {
    const at = firstDivergence(truth.ids, t.ids);
    if (at < 0 || (cut && at === t.ids.length)) return [];
    return [view('accepted', 'tokens', accepted, at), view('observed', 'tokens', tokenPieces(t.ids, t.margins, tokenizer), at)];
  }
  const observed: PieceView[] = [];
  for (let i = 0; i < t.events; i++) {
    const text = textOfEvent(t, i);
    if (text !== '') observed.push({ text });
  }
  const char = firstTextDivergence(truth.text, t.text);
  if (char < 0 || (cut && char === t.text.length)) return [];
  const endsOf = textEnds(truth.ids, tokenizer);
  const token = characterStart(accepted, pieceAt(endsOf, char));
  const event = pieceAt(ends(observed), char);
  const cutAt = Math.min(char, endsOf[token - 1] ?? 0);
  const parts = cutInTwo(observed, event, cutAt);
  const split = parts.length - observed.length;
  return [view('accepted', 'tokens', accepted, token), { ...view('observed', 'events', parts, event + split), total: observed.length }];
}

/** An event that brought the end of what is equal and what is not stands as two pieces, the second below the token that it differs from. */
function cutInTwo(pieces: readonly PieceView[], event: number, char: number): readonly PieceView[] {
  const piece = pieces[event];
  const start = event === 0 ? 0 : (ends(pieces)[event - 1] as number);
  if (piece === undefined || char <= start) return pieces;
  const [equal, rest] = [piece.text.slice(0, char - start), piece.text.slice(char - start)];
  return [...pieces.slice(0, event), { text: equal }, { text: rest }, ...pieces.slice(event + 1)];
}

function view(name: string, of: AnswerView['of'], pieces: readonly PieceView[], at: number): AnswerView {
  const place = Math.min(at, pieces.length);
  const first = Math.max(0, place - BEFORE);
  return { name, of, first, total: pieces.length, at: place - first, pieces: pieces.slice(first, place + FROM) };
}

function tokenPieces(ids: ArrayLike<number>, margins: ArrayLike<number>, tokenizer: Tokenizer): PieceView[] {
  return Array.from(ids, (id, i) => {
    const margin = margins[i];
    return { ...tokenPiece(id, tokenizer), id, ...(margin === undefined || !Number.isFinite(margin) ? {} : { margin }) };
  });
}

function tokenPiece(id: number, tokenizer: Tokenizer): Pick<PieceView, 'text' | 'bytes'> {
  const bytes = tokenizer.tokenBytes(id);
  if (bytes === undefined) return { text: tokenizer.tokenText(id) ?? `<${id}?>` };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { text: '', bytes: Buffer.from(bytes).toString('hex') };
  }
}

/** How much text stands after each token: a part of a character counts with the token that ends it. */
function textEnds(ids: readonly number[], tokenizer: Tokenizer): number[] {
  const stream = tokenizer.stream();
  let end = 0;
  return ids.map((id) => (end += stream.push([id]).length));
}

function ends(pieces: readonly PieceView[]): number[] {
  let end = 0;
  return pieces.map(({ text }) => (end += text.length));
}

/** The token with the first byte of the character that this one ends. */
function characterStart(pieces: readonly PieceView[], at: number): number {
  const goesOn = (piece: PieceView | undefined) => piece?.bytes !== undefined && /^[89ab]/.test(piece.bytes);
  let start = at;
  while (start > 0 && goesOn(pieces[start])) start--;
  return start;
}

/** The piece that holds this character; behind the last one when none does. */
function pieceAt(endsOf: readonly number[], char: number): number {
  const at = endsOf.findIndex((end) => end > char);
  return at < 0 ? endsOf.length : at;
}
