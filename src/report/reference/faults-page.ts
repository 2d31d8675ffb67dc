/** docs/faults.md, from the catalogue that `lockstep serve --list-faults` prints. */
import type { Fault } from '#embedded/faults/types.ts';

export function faultsPage(faults: readonly Fault[]): string {
  const groups = [...Map.groupBy(faults, (f) => f.class)].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return [
    '# Faults of the embedded server',
    '',
    `${faults.length} deliberate defects, each named after a defect that was reported in public or that the upstream source shows, each made at the place in the code where the real one would be. \`npx lockstep serve --fault ID\` and \`npx lockstep check --fault ID\` switch one on. \`npm run test:faults\` shows for every one of them, \`npm test\` for six of different classes, drawn by its seed, that the ordinary suite fails by the first law of its last column; the laws behind it may find it too (\`suites/self/\`). This page is made from \`src/embedded/faults/\` by \`npm run docs\`.`,
    ...groups.flatMap(([group, members]) => [
      '',
      `## ${group}`,
      '',
      '| id | what is broken | thread | must be found by |',
      '|---|---|---|---|',
      ...members.map(
        (f) =>
          `| \`${f.id}\`${f.profile === undefined ? '' : ` (profile ${f.profile})`}${f.checkpoint === undefined ? '' : ` (checkpoint ${f.checkpoint})`} | ${f.mechanism} | ${link(f.thread)} | ${f.caughtBy.map((l) => `\`${l}\``).join(', ')} |`,
      ),
    ]),
    '',
  ].join('\n');
}

function link(thread: string): string {
  const match = /^https:\/\/github\.com\/(.+?)\/(?:issues|pull)\/(\d+)$/.exec(thread);
  return match === null ? thread : `[${match[1]}#${match[2]}](${thread})`;
}
