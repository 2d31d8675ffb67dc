import { projectVersion } from '#core/config/index.ts';

/** `lockstep 0.1.0 (Node v24.21.0)`. */
export function versionLine(): string {
  return `lockstep ${projectVersion()} (Node ${process.version})`;
}
