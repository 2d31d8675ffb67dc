/** Orders releases by their first two numbers, so that `2.9` comes before `2.36` and a patch changes nothing. */
export function compareReleases(a: string, b: string): number {
  const [majorA = 0, minorA = 0] = a.split('.').map(Number);
  const [majorB = 0, minorB = 0] = b.split('.').map(Number);
  return majorA - majorB || minorA - minorB;
}
