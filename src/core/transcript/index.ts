export * from './transcript.ts';
export * from './builder.ts';
