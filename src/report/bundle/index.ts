/** A failing case with everything that an upstream issue needs, as one folder. docs/shrink.md explains it. */
export { type Surroundings, surroundingsOf } from './surroundings.ts';
export { writeBundle } from './write-bundle.ts';
export { readmeOf } from './readme.ts';
export { curlLine, curlScript, reproduceScript } from './scripts.ts';
