/** Recorded exchanges: the words, the file format, and its reader and writer. docs/fixtures.md explains them. */
export type * from './types.ts';
export { CallRecorder } from './call-recorder.ts';
export { fixtureFileName, isFixtureFile } from './file-name.ts';
export { messageBytes, messageJson } from './message-json.ts';
export { messageType } from './proto-types.ts';
export { KeptExchanges } from './kept.ts';
export { Redactor } from './redact.ts';
export { type OpenFixture, openFixture, parseFixture, readFixture } from './read.ts';
export { FixtureWriter, fixtureText, writeFixture } from './write.ts';
export { type Recorder, type Recording, startRecorder } from './recorder/recorder.ts';
