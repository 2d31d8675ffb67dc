/** A stock model's configuration → the text of config.pbtxt. */
import type { DeclaredTensor } from './tensors/row.ts';

export interface Setting {
  readonly key: string;
  readonly value: string;
  /** Why, in one line above it. */
  readonly comment?: string | undefined;
}

export interface Step {
  readonly model: string;
  /** [tensor of the step, tensor of the ensemble] */
  readonly inputs: readonly (readonly [string, string])[];
  readonly outputs: readonly (readonly [string, string])[];
}

export interface ModelText {
  /** Lines above everything else. */
  readonly comment: readonly string[];
  readonly name: string;
  /** Undefined: an ensemble. */
  readonly backend: string | undefined;
  readonly maxBatchSize: string;
  /** Undefined: left to the steps, or to the server's default. */
  readonly decoupled: string | undefined;
  readonly inputs: readonly DeclaredTensor[];
  readonly outputs: readonly DeclaredTensor[];
  readonly instances: string | undefined;
  readonly steps: readonly Step[];
  readonly parameters: readonly Setting[];
}

export function configText(model: ModelText): string {
  return [
    ...model.comment.map((line) => `# ${line}`),
    `name: ${quoted(model.name)}`,
    model.backend === undefined ? 'platform: "ensemble"' : `backend: ${quoted(model.backend)}`,
    `max_batch_size: ${model.maxBatchSize}`,
    ...(model.decoupled === undefined ? [] : ['model_transaction_policy {', `  decoupled: ${model.decoupled}`, '}']),
    ...tensors('input', model.inputs),
    ...tensors('output', model.outputs),
    ...(model.steps.length === 0 ? [] : ['ensemble_scheduling {', '  step [', ...steps(model.steps), '  ]', '}']),
    ...(model.instances === undefined
      ? []
      : ['instance_group [', '  {', `    count: ${model.instances}`, '    kind: KIND_CPU', '  }', ']']),
    ...model.parameters.flatMap(parameter),
    '',
  ].join('\n');
}

function tensors(kind: 'input' | 'output', rows: readonly DeclaredTensor[]): readonly string[] {
  const entry = (one: DeclaredTensor): string[] => [
    '  {',
    `    name: ${quoted(one.name)}`,
    `    data_type: TYPE_${one.type}`,
    `    dims: [ ${one.dims.join(', ')} ]`,
    ...(one.scalar ? ['    reshape: { shape: [ ] }'] : []),
    ...(one.optional ? ['    optional: true'] : []),
    ...(one.ragged ? ['    allow_ragged_batch: true'] : []),
    '  }',
  ];
  return [`${kind} [`, ...joined(rows.map(entry)), ']'];
}

function steps(all: readonly Step[]): readonly string[] {
  const map = (name: string, pairs: Step['inputs']): string[] =>
    pairs.map(([key, value]) => `      ${name} { key: ${quoted(key)} value: ${quoted(value)} }`);
  return joined(
    all.map((step) => [
      '    {',
      `      model_name: ${quoted(step.model)}`,
      '      model_version: -1',
      ...map('input_map', step.inputs),
      ...map('output_map', step.outputs),
      '    }',
    ]),
  );
}

function parameter({ key, value, comment }: Setting): readonly string[] {
  return [
    ...(comment === undefined ? [] : [`# ${comment}`]),
    'parameters {',
    `  key: ${quoted(key)}`,
    `  value: { string_value: ${quoted(value)} }`,
    '}',
  ];
}

function joined(entries: readonly string[][]): string[] {
  return entries.flatMap((lines, index) => (index + 1 < entries.length ? [...lines.slice(0, -1), `${lines.at(-1)},`] : lines));
}

/** A string of the text format; what no editor shows is escaped. */
export function quoted(text: string): string {
  const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
  // oxlint-disable-next-line no-control-regex -- control characters are what must be found
  return `"${text.replace(/["\\\u0000-\u001f\u007f]/g, (c) => escapes[c] ?? `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`)}"`;
}
