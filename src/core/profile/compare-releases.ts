/** Orders releases by their first two numbers: `2.9` comes before `2.36`, and neither a patch nor other front ends change anything. */
export function compareReleases(a: string, b: string): number {
  const [majorA = 0, minorA = 0] = a.split('.').map(Number.parseFloat);
  const [majorB = 0, minorB = 0] = b.split('.').map(Number.parseFloat);
  return majorA - majorB || minorA - minorB;
}
