import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { ownerState, thisOwner } from './owner.ts';

test('an owner is alive, dead, detached, or of a host that cannot be seen from here', () => {
  const own = thisOwner();
  expect(ownerState(own)).toBe('living');
  expect(ownerState(own.replace(/^\d+:\d+/, `${process.pid}:1`))).toBe('dead');
  expect(ownerState(`1:1:another-boot@${hostname()}`)).toBe('dead');
  expect(ownerState('1:1:boot@another-host')).toBe('of another host');
  expect(ownerState('detached')).toBe('detached');
  expect(ownerState('')).toBe('of another host');
});
