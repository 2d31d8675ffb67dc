/** The part of docs/determinism.md that is made from the table of knobs; the rest of that page is written by hand. */
import { readFileSync } from 'node:fs';
import { KNOBS, type Knob } from '#targets/repository/index.ts';

const BEGIN = '<!-- knobs: made by `npm run docs` from src/targets/repository/knobs -->';
const END = '<!-- end of knobs -->';

const PLACES: readonly (readonly [Knob['place'], string])[] = [
  ['config.pbtxt', 'In `config.pbtxt`'],
  ['model.yaml', "In `1/model.yaml` of the LLM API's model"],
  ['engine config.json', 'In the `config.json` of an engine: fixed when it was built'],
  ['environment', 'In the environment of every rank: not seen by the audit'],
  ['command line', 'On the command line of the server: not seen by the audit'],
  ['client', 'In the client: not seen by the audit'],
];

/** @param path of the page */
export function withKnobs(path: string): string {
  const page = readFileSync(path, 'utf8');
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error(`${path} has lost its lines ${BEGIN} and ${END}`);
  return `${page.slice(0, begin + BEGIN.length)}\n\n${tables()}\n\n${page.slice(end)}`;
}

function tables(): string {
  return PLACES.map(([place, title]) => {
    const rows = KNOBS.filter((knob) => knob.place === place).map(
      ({ id, setting, deterministic, effect, how, level, known }) =>
        `| ${[`\`${id}\``, level, setting, deterministic, effect, how, known].map(escaped).join(' | ')} |`,
    );
    return [
      `### ${title}`,
      '',
      '| knob | level | setting | deterministic | another value can | set it | known from |',
      '|---|---|---|---|---|---|---|',
      ...rows,
    ].join('\n');
  }).join('\n\n');
}

const escaped = (text: string): string => text.replaceAll('|', '\\|');
