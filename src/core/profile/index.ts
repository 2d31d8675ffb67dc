export { compareReleases } from './compare-releases.ts';
export { instanceText } from './instance-text.ts';
export { followCore } from './follow-core.ts';
export { followFrontEnd } from './follow-front-end.ts';
export * from './profile.ts';
export { misfit, unknownInputs } from './front-end-fit.ts';
export { IDEAL_PROFILE, profileIncludes, profileOf } from './profile-of.ts';
export { DEFAULT_PROFILE, RELEASES } from './releases.ts';
export { REPOSITORY_1_X, REPOSITORY_RELEASES } from './repository-releases.ts';
