import { diffWordsWithSpace } from 'diff';
import type { Observation } from '#checks/contract/index.ts';
import type { Change, ChangeClass } from './types.ts';

/** What kind of change one is: equal keys are one difference. */
export interface Nature {
  readonly key: string;
  readonly kind: ChangeClass;
  readonly fatal?: true;
  readonly title: string;
  readonly who: string;
}

export interface Natured {
  readonly change: Change;
  readonly nature: Nature;
}

const NOBODY = 'nobody, unless something refuses what it does not know';
const ACCEPTED = /^(OK|2\d\d)$/;
const SILENT = /^no answer|connection broken/;

/** The changes of one exchange, with what follows from another of them left out. */
export function naturesOf(before: Observation, after: Observation): readonly Natured[] {
  const changes = changesOf(before, after);
  const status = changes.find(({ fact }) => fact === 'status');
  const through = status === undefined ? undefined : throughStatus(before, status, after);
  if (status !== undefined && through?.whole === true) return [{ change: status, nature: through.nature }];
  // Every field of it would be a difference of its own.
  const name = changes.find(({ fact, after: is }) => fact === 'config.name' && is === '""');
  if (name !== undefined) return [{ change: name, nature: EMPTY_CONFIG }];
  const messages = changes.find(({ fact }) => fact === 'messages');
  const silence = messages === undefined ? undefined : throughSilence(before, messages);
  if (messages !== undefined && silence !== undefined) return [{ change: messages, nature: silence }];
  return changes
    .filter(({ fact }) => fact !== 'messages' && fact !== 'server')
    .map((change) => ({ change, nature: change === status && through !== undefined ? through.nature : natureOf(before, change) }));
}

export function changesOf(before: Observation, after: Observation): readonly Change[] {
  const names = new Set([...Object.keys(before.facts), ...Object.keys(after.facts)]);
  return [...names]
    .filter((name) => !(name in before.varying) && !(name in after.varying) && before.facts[name] !== after.facts[name])
    .flatMap((fact) => inside({ probe: before.id, fact, before: before.facts[fact], after: after.facts[fact] }));
}

/** A JSON body that is still one is compared field by field. */
function inside(change: Change): readonly Change[] {
  const [a, b] = [objectIn(change.before), objectIn(change.after)];
  if (change.fact !== 'body' || a === undefined || b === undefined) return [change];
  return [...new Set([...Object.keys(a), ...Object.keys(b)])]
    .filter((name) => JSON.stringify(a[name]) !== JSON.stringify(b[name]))
    .map((name) => ({ probe: change.probe, fact: `body.${name}`, before: textOf(a[name]), after: textOf(b[name]) }));
}

/** `whole`: everything else in the exchange follows from it. */
function throughStatus(
  before: Observation,
  change: Change,
  after: Observation,
): { readonly nature: Nature; readonly whole: boolean } | undefined {
  const [was = '', is = ''] = [change.before, change.after];
  const protocol = /^\d/.test(was) || /^\d/.test(is) ? 'HTTP' : 'gRPC';
  if (SILENT.test(is)) {
    const died = after.facts['server'] === 'died';
    return {
      whole: true,
      nature: {
        key: `silent ${died} ${change.probe}`,
        kind: 'breaking',
        fatal: true,
        title: `${died ? 'the server, or a model of it, dies of a request' : 'a request is never answered'}: ${change.probe}`,
        who: 'everybody who shares the server with whoever sends one',
      },
    };
  }
  if (SILENT.test(was)) {
    return {
      whole: true,
      nature: {
        key: 'answers again',
        kind: 'behaviour',
        title: `requests that hung or killed are answered (${is})`,
        who: 'nobody; it is a repair',
      },
    };
  }
  if (ACCEPTED.test(was) && !ACCEPTED.test(is)) {
    const why = after.facts['text'] ?? after.facts['body'] ?? '';
    return {
      whole: true,
      nature: {
        key: `refused ${is} ${template(why)}`,
        kind: 'breaking',
        title: `${protocol} requests that were accepted are refused (${is}): ${said(why)}`,
        who: 'clients that send such a request, and went unnoticed',
      },
    };
  }
  if (!ACCEPTED.test(was) && ACCEPTED.test(is)) {
    const why = before.facts['text'] ?? before.facts['body'] ?? '';
    return {
      whole: true,
      nature: {
        key: `accepted ${was} ${template(why)}`,
        kind: 'addition',
        title: `${protocol} requests that were refused (${was}) are accepted${why === '' ? '' : `; it was: ${said(why)}`}`,
        who: 'clients that rely on the refusal',
      },
    };
  }
  return {
    whole: false,
    nature: {
      key: `status ${was} ${is}`,
      kind: 'breaking',
      title: `${protocol} status ${was} → ${is} of requests that are refused`,
      who: `clients and proxies that branch on the status: retries, alerts, error classes`,
    },
  };
}

const EMPTY_CONFIG: Nature = {
  key: 'config empty',
  kind: 'breaking',
  title: 'gRPC answers OK with an empty configuration',
  who: 'clients that read configurations over gRPC: they see a model without inputs and outputs',
};

/** A stream on which nothing but a flag, or nothing at all, came before or comes now. */
function throughSilence(before: Observation, { before: was, after: is }: Change): Nature | undefined {
  if (is === '0') {
    return {
      key: 'stream silent',
      kind: 'breaking',
      title: 'streams that were answered end without a message',
      who: 'every client of such a stream: it gets no answer and no error',
    };
  }
  const flagAlone = was === '1' && /outputs none$/.test(before.facts['message 1'] ?? '');
  if (was !== '0' && !flagAlone) return undefined;
  return {
    key: 'stream answers',
    kind: 'behaviour',
    title: 'streams that ended without an answer are answered',
    who: 'nobody; it is a repair',
  };
}

function natureOf(of: Observation, change: Change): Nature {
  const { fact, before, after } = change;
  if (of.area === 'metrics' && / (type|help|labels|\w+)$/.test(fact) && !isFrame(fact)) return ofMetric(change);
  if (fact === 'content type') {
    return {
      key: `content type ${before} ${after}`,
      kind: 'breaking',
      title: `content type ${quoted(before)} → ${quoted(after)}`,
      who: 'clients that choose how to read a body by its content type',
    };
  }
  if (fact === 'headers') {
    return {
      key: `headers ${before} ${after}`,
      kind: 'behaviour',
      title: `headers ${quoted(before)} → ${quoted(after)}`,
      who: 'proxies and clients that read them',
    };
  }
  if (/^message \d+/.test(fact)) return ofMessage(change);
  if (fact === 'text' || fact === 'body' || fact === 'body.error') return ofText(change);
  return ofField(of, change);
}

const isFrame = (fact: string): boolean => ['status', 'content type', 'headers', 'body', 'text'].includes(fact);

function ofMetric({ fact, before, after }: Change): Nature {
  const at = fact.lastIndexOf(' ');
  const [family, what] = [fact.slice(0, at), fact.slice(at + 1)];
  if (before === undefined && what !== 'type' && what !== 'help' && what !== 'labels') {
    // The values of a label that is new: told with the label.
    return { ...labels(family), key: `metric ${family} labels` };
  }
  if (before === undefined) return { key: `metric ${family} new`, kind: 'addition', title: `metric ${family} is new`, who: NOBODY };
  if (after === undefined) {
    return {
      key: `metric ${family} gone`,
      kind: 'breaking',
      title: `metric ${family} is gone`,
      who: 'dashboards, alerts and recording rules that read it',
    };
  }
  if (what === 'labels') return { ...labels(family), title: `metric ${family} has labels ${quoted(after)} in place of ${quoted(before)}` };
  if (what === 'help') return { key: `metric ${family} help`, kind: 'behaviour', title: `help text of metric ${family}`, who: NOBODY };
  return {
    key: `metric ${family} ${what}`,
    kind: 'breaking',
    title: `${what} of metric ${family}: ${quoted(before)} → ${quoted(after)}`,
    who: 'queries that match it',
  };
}

const labels = (family: string): Nature => ({
  key: `metric ${family} labels`,
  kind: 'breaking',
  title: `metric ${family} has other labels`,
  who: 'readers that match all labels of a series, and sums that count it once',
});

/** A message of a stream: framing first, then the text of its error. */
function ofMessage(change: Change): Nature {
  const [a = '', b = ''] = [change.before, change.after];
  const frame = (message: string) => message.replace(/ · (outputs|error) [^]*$/, '');
  const errorOf = (message: string) => /· error ([^]*)$/.exec(message)?.[1];
  if (frame(a) === frame(b) && errorOf(a) !== undefined && errorOf(b) !== undefined) {
    return ofText({ ...change, before: errorOf(a), after: errorOf(b) });
  }
  return {
    key: `frame ${template(a)} ${template(b)}`,
    kind: 'breaking',
    title: `messages of a stream are framed otherwise: ${short(wordChange(a, b))}`,
    who: 'clients that wait for the final flag, count messages or read response parameters',
  };
}

function ofText({ before = '', after = '' }: Change): Nature {
  const [a, b] = [template(errorText(before)), template(errorText(after))];
  if (a === '' || b === '') {
    return {
      key: `body ${a === '' ? 'new' : 'gone'} ${a === '' ? b : a}`,
      kind: a === '' ? 'behaviour' : 'breaking',
      title: a === '' ? `an empty reply says now: ${said(after)}` : `a reply that said ${said(before)} is empty`,
      who: 'clients that read the body of a refusal',
    };
  }
  return {
    key: `text ${wordChange(a, b)}`,
    kind: 'behaviour',
    title: `error text: ${short(inContext(withoutId(errorText(before)), withoutId(errorText(after))))}`,
    who: 'whoever matches error texts: log filters, alerts, retries',
  };
}

function ofField(of: Observation, { fact, before, after }: Change): Nature {
  // A field of many models, or of many tensors of a model, is one field.
  const field = fact.split('.').at(-1)!;
  const where = { metadata: 'metadata', config: 'configuration', statistics: 'statistics' }[of.area as string] ?? 'replies';
  if (before === undefined)
    return {
      key: `field ${where} ${field} new`,
      kind: 'addition',
      title: `${where}: field ${field} is new`,
      who: 'strict parsers that refuse a field they do not know',
    };
  if (after === undefined) {
    return { key: `field ${where} ${field} gone`, kind: 'breaking', title: `${where}: field ${field} is gone`, who: 'whoever reads it' };
  }
  return {
    key: `field ${where} ${field} ${template(before)} ${template(after)}`,
    kind: 'behaviour',
    title: `${where}: ${field} ${short(wordChange(template(before), template(after)))}`,
    who: 'whoever reads it',
  };
}

/** The words that went and came, each run as `was → is`. */
function wordChange(a: string, b: string): string {
  const parts: string[] = [];
  let [gone, come] = ['', ''];
  const close = () => {
    if (gone !== '' || come !== '') parts.push(`${quoted(gone.trim())} → ${quoted(come.trim())}`);
    [gone, come] = ['', ''];
  };
  for (const { added, removed, value } of diffWordsWithSpace(a, b)) {
    if (removed) gone += value;
    else if (added) come += value;
    else if (value.trim() !== '') close();
    else if (gone !== '' || come !== '') [gone, come] = [gone + value, come + value];
  }
  close();
  return parts.every((part) => part === 'none → none') ? 'white space alone' : [...new Set(parts)].join(', ');
}

/** The first change with the words around it; beyond a few changes both texts say more. */
function inContext(a: string, b: string): string {
  const parts = diffWordsWithSpace(a, b);
  const changed = parts.filter(({ added, removed }) => added || removed).length;
  if (wordChange(a, b) === 'white space alone') return wordChange(a, b);
  if (changed > CHANGES_IN_CONTEXT) return `${quoted(cut(firstLine(a)))} → ${quoted(cut(firstLine(b)))}`;
  const first = parts.findIndex(({ added, removed }) => added || removed);
  const last = parts.findLastIndex(({ added, removed }) => added || removed);
  const head = (parts[first - 1]?.value ?? '')
    .split(/(?<=\s)/)
    .slice(-WORDS_AROUND)
    .join('');
  const tail = (parts[last + 1]?.value ?? '')
    .split(/(?<=\s)/)
    .slice(0, WORDS_AROUND)
    .join('');
  const side = (drop: 'added' | 'removed') =>
    parts
      .slice(first, last + 1)
      .filter((part) => !part[drop])
      .map(({ value }) => value)
      .join('');
  const whole = (middle: string) => quoted(cut(`…${head}${middle}${tail}…`.replace(/^…(?=\[|$)/, '…')));
  return `${whole(side('added'))} → ${whole(side('removed'))}`;
}

const CHANGES_IN_CONTEXT = 4;
const WORDS_AROUND = 3;
const CUT = 110;
const withoutId = (text: string): string => text.replace(/^\[request id: [^\]]*\] /, '');
const firstLine = (text: string): string => text.split('\n')[0]!;
const cut = (text: string): string => (text.length <= CUT ? text : `${text.slice(0, CUT - 1)}…`);

/** What a refusal says, as one of them says it. */
function said(body: string): string {
  return short(withoutId(firstLine(errorText(body))));
}

/** A text without what names one model, tensor or number of it. */
export function template(text: string): string {
  return text
    .replaceAll(/\b(edge_[a-z]+|tensorrt_llm_bls\w*|tensorrt_llm|ensemble|preprocessing|postprocessing|llmapi)(?=_0|\b)/g, '<model>')
    .replaceAll(/\[request id: \w+\]/g, '[request id: <id_unknown>]')
    .replaceAll(/'(?:[A-Z]|raw_input|[A-Z]+)'/g, "'<input>'")
    .replaceAll(/\[('<input>',?)+\]?/g, "['<input>']")
    .replaceAll(/(?<![\w.])\d+(?!\w)/g, 'N');
}

function errorText(body: string): string {
  const event = body.replace(/^data: /, '').trim();
  return textOf(objectIn(event)?.['error']) ?? body;
}

function objectIn(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  try {
    const json: unknown = JSON.parse(text ?? '');
    return typeof json === 'object' && json !== null && !Array.isArray(json) ? (json as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string | undefined {
  return value === undefined ? undefined : typeof value === 'string' ? value : JSON.stringify(value);
}

const quoted = (text: string | undefined): string => (text === undefined || text === '' ? 'none' : `\`${text.replaceAll('\n', '\\n')}\``);

const SHOWN = 260;
function short(text: string): string {
  const line = text.replaceAll(/\s*\n\s*/g, ' ');
  return line.length <= SHOWN ? line : `${line.slice(0, SHOWN - 1)}…`;
}
