/** What several laws ask of a transcript. */
import { FLAG, idsOfEvent, textOfEvent, type Transcript } from '#core/transcript/index.ts';
import { type Request, ROUTE_IDS, type RouteId } from '#core/request/index.ts';
import type { ReleaseProfile } from '#core/profile/index.ts';
import { chatText, type Tokenizer } from '#wire/tokenizer/index.ts';
import type { Answer, LawContext, Violation } from './types.ts';

export const TEXT_ROUTES: readonly RouteId[] = ROUTE_IDS.filter((route) => route !== 'raw');
export const BLS_ROUTES: readonly RouteId[] = ['bls', 'bls-accumulate'];
/** Routes behind which the PyTorch back end stands, with its own way to end answers and to make text. */
export const TORCH_ROUTES: readonly RouteId[] = ['llmapi'];
/** Streams whose events are made of one response of the engine each, and of nothing before it. */
export const CHUNKED_ROUTES: readonly RouteId[] = TEXT_ROUTES.filter(
  (route) => route !== 'bls-accumulate' && !TORCH_ROUTES.includes(route),
);
export const GRPC_ROUTES: readonly RouteId[] = ['raw', 'ensemble', ...BLS_ROUTES, 'llmapi'];
export const OPENAI_ROUTES: readonly RouteId[] = ['openai-completions', 'openai-chat'];

export function isRaw(t: Transcript): boolean {
  return t.case.route === 'raw';
}

export function isOpenAi(t: Transcript): boolean {
  return OPENAI_ROUTES.includes(t.case.route);
}

export function isStream(t: Transcript): boolean {
  return t.case.mode === 'stream';
}

/** An exchange that ran to its end without an error: what most laws speak about. `answers-at-all` names the others. */
export function answered(t: Transcript): boolean {
  return t.ending === 'complete' && t.errors.length === 0 && t.events > 0;
}

export function hasFlag(t: Transcript, event: number, flag: number): boolean {
  return ((t.flags[event] as number) & flag) !== 0;
}

/** Whether both were answered, and the reference is what the ensemble gave in the same mode. */
export function besideEnsemble(t: Transcript, reference: Transcript | undefined): boolean {
  return reference?.case.route === 'ensemble' && reference.case.mode === t.case.mode && answered(t) && answered(reference);
}

/** Indices of the events that carry a part of the answer: outputs, a delta, a choice; not roles, usage or markers. */
export function dataEvents(t: Transcript): number[] {
  const events: number[] = [];
  for (let i = 0; i < t.events; i++) {
    if (hasFlag(t, i, FLAG.data) && !hasFlag(t, i, FLAG.role | FLAG.error)) events.push(i);
  }
  return events;
}

/**
 * The mark that the last event with data bears on this route, or undefined where it bears none: `generate` just ends, and
 * a BLS says the end alone, after all data (`final-flag-once`).
 */
export function endFlag(t: Transcript): number | undefined {
  if (isOpenAi(t)) return FLAG.finish;
  return FLAGGED_ROUTES.includes(t.case.route) ? FLAG.final : undefined;
}

const FLAGGED_ROUTES: readonly RouteId[] = ['raw', 'ensemble', 'llmapi'];

export function isTorch(t: Transcript): boolean {
  return TORCH_ROUTES.includes(t.case.route);
}

export function isEmptyEvent(t: Transcript, event: number): boolean {
  return isRaw(t) ? idsOfEvent(t, event).length === 0 : textOfEvent(t, event) === '';
}

/** The first index where two lists differ; the shorter length when one is a prefix of the other; -1 when equal. */
export function firstDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) if (a[i] !== b[i]) return i;
  return a.length === b.length ? -1 : n;
}

/** The same for texts, by UTF-16 index. */
export function firstTextDifference(a: string, b: string): number {
  if (a === b) return -1;
  const n = Math.min(a.length, b.length);
  for (let i = 0; i < n; i++) if (a.charCodeAt(i) !== b.charCodeAt(i)) return i;
  return n;
}

/** Per token of the answer: whether it may stand alone without text, as a part of a character or a special token. */
export const mayBeTextless = remembered((tokenizer: Tokenizer, truth: Answer): readonly boolean[] => {
  const decoder = tokenizer.stream();
  const alone = textsAlone(tokenizer, truth);
  return truth.ids.map((id, k) => decoder.push([id]) === '' || alone[k] === '');
});

/** What `DecodeStream` shows of the answer up to its last token: all of it, but for a character that the end cut off. */
export const certainText = remembered((tokenizer: Tokenizer, truth: Answer): string => {
  const decoder = tokenizer.stream({ eager: true });
  const text = truth.ids.map((id) => decoder.push([id])).join('');
  return text.startsWith(truth.text) ? truth.text : text;
});

/** The decode of every id of the answer by itself. */
export const textsAlone = remembered((tokenizer: Tokenizer, truth: Answer): readonly string[] =>
  truth.ids.map((id) => tokenizer.decode([id], { skipSpecialTokens: true })),
);

/** The ids of the request's prompt as the models of the repository make them: with one BOS, for a conversation too. */
export const rightPromptIds = remembered((tokenizer: Tokenizer, { prompt }: Request): readonly number[] => {
  if (prompt.kind === 'ids') return prompt.ids;
  const text = prompt.kind === 'text' ? prompt.text : chatText(tokenizer, prompt.messages);
  return tokenizer.encode(text, { addSpecialTokens: true });
});

/**
 * The ids that a release makes of it on a route. A chat front end may keep the BOS text of the template though
 * preprocessing adds a BOS (profile fact `doubleBos`), and trtllm-serve encodes the rendered text itself, with nothing added.
 */
export function servedPromptIds(request: Request, route: RouteId, tokenizer: Tokenizer, { openai }: ReleaseProfile): readonly number[] {
  const { prompt } = request;
  const doubled = openai.doubleBos.value;
  if (route !== 'openai-chat' || prompt.kind !== 'messages' || !(doubled || openai.trtllmServe !== undefined))
    return rightPromptIds(tokenizer, request);
  const rendered = tokenizer.applyChatTemplate(prompt.messages, { addGenerationPrompt: true });
  return tokenizer.encode(rendered, { addSpecialTokens: doubled });
}

/** Answers and requests are read-only, and a load run meets the same few thousands of times: work once for each. */
function remembered<A extends object, B extends object, R>(work: (a: A, b: B) => R): (a: A, b: B) => R {
  const known = new WeakMap<A, WeakMap<B, R>>();
  return (a, b) => {
    let results = known.get(a);
    if (results === undefined) known.set(a, (results = new WeakMap()));
    let result = results.get(b);
    if (result === undefined) results.set(b, (result = work(a, b)));
    return result;
  };
}

/** A short quotation for a sentence, around the place of interest. */
export function quote(text: string, at = 0): string {
  const from = Math.max(0, at - 12);
  const part = text.slice(from, at + 24);
  return JSON.stringify(`${from > 0 ? '…' : ''}${part}${at + 24 < text.length ? '…' : ''}`);
}

/** Names the id and its spelling: `318 " red"`. */
export function nameId(id: number | undefined, context: LawContext): string {
  if (id === undefined) return 'nothing';
  const text = context.tokenizer.tokenText(id);
  return text === undefined
    ? `${id} (no such token)`
    : `${id} ${JSON.stringify(context.tokenizer.specialIds.has(id) ? text : context.tokenizer.decode([id]))}`;
}

/** A maker of violations of one law. */
export function violationOf(law: string): (code: string, text: string, at?: Violation['at']) => Violation {
  return (code, text, at) => (at === undefined ? { law, code, text } : { law, code, text, at });
}
