/** docs/json-report.md, from the schema itself. */
import { z } from 'zod';
import { JSON_REPORT_SCHEMA } from '../json-schema.ts';

interface Node {
  readonly type?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Node>>;
  readonly required?: readonly string[];
  readonly items?: Node;
  readonly enum?: readonly string[];
  readonly const?: unknown;
  readonly additionalProperties?: Node | boolean;
}

export function jsonPage(): string {
  const root = z.toJSONSchema(JSON_REPORT_SCHEMA) as Node;
  return [
    '# The JSON report',
    '',
    '`npx lockstep check --json FILE` writes it, whatever the outcome. It is built from the finished run. Within a version fields may be added; none is removed or changes its meaning. This page is made from the schema (`src/report/json-schema.ts`) by `npm run docs`.',
    '',
    '| field | type | meaning |',
    '|---|---|---|',
    ...rows(root, ''),
    '',
    '`outcome` and the exit code of `check`: `held` 0, `failed` 1, `broken` 2, `interrupted` 130.',
    '',
  ].join('\n');
}

function rows(node: Node, path: string): string[] {
  return Object.entries(node.properties ?? {}).flatMap(([name, child]) => {
    const here = `${path}${name}${child.type === 'array' ? '[]' : ''}`;
    const optional = node.required?.includes(name) === true ? '' : ', may be absent';
    const inner = child.type === 'array' ? (child.items ?? {}) : child;
    return [`| \`${here}\` | ${typeOf(inner)}${optional} | ${child.description ?? inner.description ?? ''} |`, ...rows(inner, `${here}.`)];
  });
}

function typeOf(node: Node): string {
  if (node.const !== undefined) return `\`${JSON.stringify(node.const)}\``;
  if (node.enum !== undefined) return node.enum.map((v) => `\`${v}\``).join(', ');
  if (node.type === 'object') return node.properties === undefined ? 'object of texts' : 'object';
  return node.type ?? 'any';
}
