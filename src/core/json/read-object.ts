import { existsSync, readFileSync } from 'node:fs';
import { parseJson } from './parse-json.ts';

/** The object in a file that this project wrote for itself; one that is missing or spoiled is as good as none, and made anew. */
export function readJsonObject(path: string): Readonly<Record<string, unknown>> | undefined {
  if (!existsSync(path)) return undefined;
  const { value } = parseJson(readFileSync(path));
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
}
