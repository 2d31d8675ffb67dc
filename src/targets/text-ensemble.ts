import { LockstepError } from '#core/errors/index.ts';

const OUTPUTS = /^output: \[\n([\s\S]*?)^\]\n/m;
const OUTPUT = / {2}\{\n {4}name: "(\w+)"\n[\s\S]*?\n {2}\},?\n/g;

/**
 * The ensemble's configuration with `text_output` as its only output.
 *
 * Up to Triton 2.50 an ensemble sends a response only when every output that was asked for is there, all of them when none
 * was named (docs/observed.md#triton-by-release): with outputs that come only when they are switched on, it says nothing.
 */
export function textEnsemble(config: string): string {
  const dropped: string[] = [];
  const outputs = config.replace(OUTPUTS, (_, list: string) => {
    const kept = list.replace(OUTPUT, (output: string, name: string) => {
      if (name === 'text_output') return output.replace(/,\n$/, '\n');
      dropped.push(name);
      return '';
    });
    return `output: [\n${kept}]\n`;
  });
  if (dropped.length === 0 || !outputs.includes('name: "text_output"'))
    throw new LockstepError('repository-unreadable', "the ensemble's configuration has no list of outputs in the expected form", {
      hint: 'Write docker/models/ensemble/config.pbtxt as it is in the repository: one output per block.',
    });
  return dropped.reduce(
    (text, name) => text.replace(new RegExp(` {6}output_map \\{\\n {8}key: "\\w+"\\n {8}value: "${name}"\\n {6}\\}\\n`), ''),
    outputs,
  );
}
