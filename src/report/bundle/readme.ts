/** README.md of a bundle, as the text of an upstream issue. */
import type { AnswerView, ExchangeView } from '#checks/lab/result.ts';
import type { FailingCase, Sighting, Tries } from '#checks/shrink/index.ts';
import { type RouteId, describeCase } from '#core/request/index.ts';
import { UNKNOWN } from '#core/identity/index.ts';

export interface ReadmeParts {
  readonly failing: FailingCase;
  readonly sighting: Sighting;
  /** The law in one sentence, where it is one of those about an exchange. */
  readonly statement: string | undefined;
  readonly tries: Tries;
  readonly answers: readonly AnswerView[];
  readonly exchanges: readonly ExchangeView[];
  readonly identity: Readonly<Record<string, string>>;
  /** Shell lines that reproduce it; empty where no script can. */
  readonly commands: readonly string[];
  readonly files: readonly (readonly [name: string, what: string])[];
}

/** Routes in the words of those who do not know Lockstep. */
const ROUTE: Readonly<Record<RouteId, string>> = {
  raw: '`tensorrt_llm` over gRPC, ids in and out',
  ensemble: '`ensemble` over gRPC',
  bls: '`tensorrt_llm_bls` over gRPC',
  'bls-accumulate': '`tensorrt_llm_bls` with accumulate_tokens over gRPC',
  llmapi: "the LLM API's model over gRPC",
  generate: '`ensemble` over the generate endpoints of HTTP',
  'openai-completions': '`/v1/completions` of the OpenAI front end',
  'openai-chat': '`/v1/chat/completions` of the OpenAI front end',
};

/** Rows of a time line; a longer one shows its ends. */
const ROWS = 24;

export function readmeOf(parts: ReadmeParts): string {
  const { failing, sighting, statement, tries, answers, exchanges, identity, commands, files } = parts;
  const { law, code } = failing.violation;
  const { prompt, sampling, limits } = failing.case.request;
  const often =
    tries.n === 0
      ? 'It was not tried again.'
      : tries.k === 0
        ? `Tried again ${tries.n} times, it was **not** seen again.`
        : `Seen in ${tries.k} of ${tries.n} tries.`;
  const company = [
    ...failing.company.before.map(
      (one) =>
        `- before it: ${describeCase(one.case)}, ${inline(JSON.stringify(one.case.request.prompt))}, ${inline(JSON.stringify(one.case.request.limits))}`,
    ),
    ...failing.company.beside.map(
      (one) =>
        `- beside it: ${describeCase(one.case)}, ${inline(JSON.stringify(one.case.request.prompt))}, ${inline(JSON.stringify(one.case.request.limits))}`,
    ),
  ];
  return [
    `# ${law}: ${oneLine(sighting.text)}`,
    '',
    ...(statement === undefined ? [] : [`**Expected.** ${statement}`, '']),
    `**Seen.** ${escaped(sighting.text)} (${law}, ${code}). ${often}`,
    '',
    `**Where.** ${ROUTE[failing.case.route]}, ${failing.case.mode === 'stream' ? 'streamed' : 'not streamed'}${failing.asked.cancel === undefined ? '' : `, the client leaves (${JSON.stringify(failing.asked.cancel)})`}.`,
    '',
    '## To reproduce',
    '',
    ...(commands.length === 0
      ? ['What is wrong does not show in the answer of one client; `case.fixture` has the exchange.']
      : ['```', ...commands, '```', '', 'Each says `reproduced` (exit code 1) or `not reproduced` (exit code 0).']),
    ...(failing.company.before.length > 0 ? ['', 'On a server that was started anew: what was asked before matters.'] : []),
    '',
    '## The request',
    '',
    `- prompt: ${inline(JSON.stringify(prompt.kind === 'text' ? prompt.text : prompt.kind === 'ids' ? prompt.ids : prompt.messages))}`,
    `- sampling: ${inline(JSON.stringify(sampling))}`,
    `- limits: ${inline(JSON.stringify(limits))}`,
    ...company,
    '',
    ...(sighting.truth === undefined ? [] : [`Prompt ids: ${inline(JSON.stringify(sighting.truth.promptIds))}`, '']),
    ...answers.flatMap(answerLines),
    ...exchanges.flatMap(exchangeLines),
    '## Versions',
    '',
    '| | |',
    '|---|---|',
    ...Object.entries(identity)
      .filter(([, value]) => value !== UNKNOWN)
      .map(([key, value]) => `| ${cell(key)} | ${cell(value)} |`),
    '',
    '## Files',
    '',
    ...files.map(([name, what]) => `- \`${name}\`: ${what}`),
    '',
  ].join('\n');
}

function answerLines({ name, of, first, total, at, pieces }: AnswerView): string[] {
  const shown = pieces.map((piece, i) => {
    const id = piece.id === undefined ? '' : `${piece.id} `;
    const margin = piece.margin === undefined ? '' : ` (margin ${piece.margin.toPrecision(3)})`;
    return `${i === at ? '**→** ' : ''}${id}${inline(JSON.stringify(piece.bytes ?? piece.text))}${margin}`;
  });
  return [
    `### Answer: ${name}`,
    '',
    `${total} ${of}, ${first > 0 ? `from ${first} on` : 'from the first on'}${at < pieces.length ? '; → where they part' : ''}:`,
    '',
    shown.join(' · ') || '(nothing)',
    '',
  ];
}

function exchangeLines({ name, events, total, ending, endedMs, finishReasons, errors }: ExchangeView): string[] {
  const rows = events.length <= ROWS ? events : [...events.slice(0, ROWS / 2), ...events.slice(-ROWS / 2)];
  return [
    `### Time line: ${name}`,
    '',
    '| ms | flags | ids | text |',
    '|---|---|---|---|',
    ...rows.map(
      ({ atMs, flags, ids = [], text = '' }) =>
        `| ${atMs.toFixed(1)} | ${flags.join(' ')} | ${ids.join(' ')} | ${cell(JSON.stringify(text))} |`,
    ),
    `| ${endedMs.toFixed(1)} | ${ending} | | ${cell([...finishReasons, ...errors.map((e) => `${e.code}: ${e.message}`)].join('; '))} |`,
    '',
    ...(rows.length < total ? [`${rows.length} of ${total} events are shown.`, ''] : []),
  ];
}

function oneLine(text: string): string {
  return escaped(text.replaceAll(/\s+/g, ' ')).slice(0, 160);
}

/** What a server said must not become markup. */
function escaped(text: string): string {
  return text.replaceAll(/[\\`*_<>[\]|#]/g, (c) => `\\${c}`).replaceAll(/\p{Cc}/gu, ' ');
}

function cell(text: string): string {
  return escaped(text);
}

/** Code, with as many backticks around it as it takes. */
function inline(text: string): string {
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return longest === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`;
}
