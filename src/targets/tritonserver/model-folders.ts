import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Folders that a server looks at as models: each with a configuration. */
export function modelFolders(repository: string): string[] {
  if (!existsSync(repository)) return [];
  return readdirSync(repository)
    .filter((name) => existsSync(join(repository, name, 'config.pbtxt')))
    .toSorted();
}

/** Whether a process of Python answers for the model. */
export function isPythonModel(repository: string, model: string): boolean {
  const path = join(repository, model, 'config.pbtxt');
  return existsSync(path) && /^\s*backend:\s*"python"/m.test(readFileSync(path, 'utf8'));
}
