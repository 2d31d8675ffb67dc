import { LockstepError } from '#core/errors/index.ts';
import type { ReleaseProfile } from './profile.ts';
import { DEFAULT_PROFILE, idealOf, RELEASES } from './releases.ts';

const AXES = ['core', 'models', 'openai'] as const;
type Axis = (typeof AXES)[number];

/**
 * The release profile of a name: `default`, `ideal` (no known gaps), either with other releases on some axes, or these
 * alone: `openai=r25.06`, `ideal,models=1.x`. The profile's id is the name, its parts in the order of the axes.
 *
 * Errors: `profile-unknown`.
 */
export function profileOf(name: string): ReleaseProfile {
  const parts = name.split(',').map((part) => part.trim());
  const base = parts[0] === 'default' || parts[0] === 'ideal' ? parts.shift() : undefined;
  const chosen = new Map<Axis, string>();
  for (const part of parts) {
    const [axis, id, ...more] = part.split('=') as [string, string | undefined, ...string[]];
    if (!isAxis(axis) || id === undefined || more.length > 0 || chosen.has(axis))
      throw unknown(name, `${part || 'an empty part'} is no axis=release`);
    chosen.set(axis, id);
  }
  const profile: ReleaseProfile = {
    id: DEFAULT_PROFILE.id,
    core: releaseOf('core', chosen.get('core'), name),
    models: releaseOf('models', chosen.get('models'), name),
    openai: releaseOf('openai', chosen.get('openai'), name),
  };
  const id = [
    ...(base === 'ideal' ? ['ideal'] : []),
    ...AXES.filter((axis) => chosen.has(axis)).map((axis) => `${axis}=${chosen.get(axis)}`),
  ].join(',');
  return { ...profile, ...(base === 'ideal' ? idealOf(profile) : {}), id: id === '' ? 'default' : id };
}

/** The default releases without their gaps. */
export const IDEAL_PROFILE: ReleaseProfile = profileOf('ideal');

/** Whether everything that the profile name `part` asks for is in force under the profile name `whole`. */
export function profileIncludes(whole: string, part: string): boolean {
  const has = profileOf(whole).id.split(',');
  return profileOf(part)
    .id.split(',')
    .every((one) => one === 'default' || has.includes(one));
}

function releaseOf<A extends Axis>(axis: A, id: string | undefined, name: string): ReleaseProfile[A] {
  if (id === undefined) return DEFAULT_PROFILE[axis];
  const found = (RELEASES[axis] as readonly ReleaseProfile[A][]).find((release) => release.id === id);
  if (found === undefined) throw unknown(name, `the axis ${axis} has no release ${id}`);
  return found;
}

function isAxis(text: string): text is Axis {
  return (AXES as readonly string[]).includes(text);
}

function unknown(name: string, why: string): LockstepError {
  return new LockstepError('profile-unknown', `there is no release profile ${name}: ${why}`, {
    hint: `Write default, ideal, or axis=release, joined by commas: ${AXES.map((axis) => `${axis}=${RELEASES[axis].map((r) => r.id).join('|')}`).join(' ')}.`,
  });
}
