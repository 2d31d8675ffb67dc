export * from './profile.ts';
export { IDEAL_PROFILE, profileIncludes, profileOf } from './profile-of.ts';
export { DEFAULT_PROFILE, RELEASES } from './releases.ts';
