export * from './profile.ts';
export * from './releases.ts';
