/** `--speed`: times as fast as recorded. */
export function speedOf(text: string): number {
  return text === 'max' ? Infinity : Number(text);
}
