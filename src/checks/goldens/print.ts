import type { Golden, GoldenIndex } from './golden.ts';
import { FORMAT } from './golden.ts';

const PER_LINE = 16;

/**
 * A suite's goldens as text: canonical (blocks by id, keys in fixed order), one value per line, lists of numbers
 * wrapped at 16, so that a changed answer is a short difference. It is plain JSON.
 */
export function printSuite(goldens: Iterable<Golden>): string {
  const sorted = [...goldens].toSorted((a, b) => (a.request.id < b.request.id ? -1 : 1));
  const blocks = sorted.map((golden) => `${JSON.stringify(golden.request.id)}: ${printBlock(golden)}`);
  return `{\n"format": ${FORMAT},\n"goldens": {\n${blocks.join(',\n')}\n}\n}\n`;
}

function printBlock({ request, answer, recorded }: Golden): string {
  const lines = [
    `"prompt": ${JSON.stringify(request.prompt)}`,
    `"sampling": ${JSON.stringify(request.sampling)}`,
    `"limits": ${JSON.stringify(request.limits)}`,
    `"finish": ${JSON.stringify(answer.finish)}`,
    `"text": ${JSON.stringify(answer.text)}`,
    `"promptIds": ${wrapped(answer.promptIds)}`,
    `"ids": ${wrapped(answer.ids)}`,
    `"margins": ${wrapped(answer.margins.map(round6))}`,
    `"runnerUps": ${wrapped(answer.runnerUps)}`,
    `"logProbs": ${wrapped(answer.logProbs.map(round6))}`,
    `"recorded": ${JSON.stringify(recorded)}`,
  ];
  return `{\n  ${lines.join(',\n  ')}\n}`;
}

export function printIndex(index: GoldenIndex): string {
  return `${JSON.stringify(index, undefined, 2)}\n`;
}

/** Six significant digits: what float32 carries. 0 stays 0, which marks an exact tie. */
export function round6(value: number): number {
  return Number(value.toPrecision(6));
}

function wrapped(values: readonly number[]): string {
  if (values.length <= PER_LINE) return `[${values.join(', ')}]`;
  const lines: string[] = [];
  for (let i = 0; i < values.length; i += PER_LINE) lines.push(`    ${values.slice(i, i + PER_LINE).join(', ')}`);
  return `[\n${lines.join(',\n')}\n  ]`;
}
