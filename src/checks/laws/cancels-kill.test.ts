import { expect, test } from 'vitest';
import { profileOf, RELEASES } from '#core/profile/index.ts';
import { CANCELS_KILL, diedOfCancels } from './cancels-kill.ts';

test('the gap names the releases whose profile has it, and of 2.51 the BLS alone', () => {
  const listed = RELEASES.core.filter(({ id }) => CANCELS_KILL.listed(profileOf(`core=${id}`))).map(({ id }) => id);
  expect(CANCELS_KILL.releases).toEqual(listed);
  const newest = profileOf('core=2.51');
  expect(CANCELS_KILL.routes.filter((route) => CANCELS_KILL.listed(newest, route))).toEqual(['bls']);
  expect(CANCELS_KILL.listed(profileOf('ideal,core=2.48'))).toBe(false);
});

/** As a 2.48 and a 2.42 were seen to end, folders shortened. */
const TIMER = `tritonserver was killed by SIGSEGV
I1201 18:05:41.015517 8440 http_server.cc:362] "Started Metrics Service at 127.0.0.1:37323"
Signal (11) received.
Signal (11) received.
 0# 0x0000563AFB5EF80D in /cache/tritonserver-2.48.0/bin/tritonserver
 1# 0x00007F1AF285A050 in /lib/x86_64-linux-gnu/libc.so.6
 2# 0x0000563AFB943CCF in /cache/tritonserver-2.48.0/bin/tritonserver
 3# 0x0000563AFB7A2A43 in /cache/tritonserver-2.48.0/bin/tritonserver
 4# 0x0000563AFB8C3E50 in /cache/tritonserver-2.48.0/bin/tritonserver
 5# 0x0000563AFB8DB355 in /cache/tritonserver-2.48.0/bin/tritonserver
 6# 0x0000563AFBC3CCD1 in /cache/tritonserver-2.48.0/bin/tritonserver
 7# 0x00007F1AF28A71F5 in /lib/x86_64-linux-gnu/libc.so.6
 8# 0x00007F1AF29278EC in /lib/x86_64-linux-gnu/libc.so.6
I1201 18:05:51.653213 8678 pb_stub.cc:2049]  Non-graceful termination detected.`;
const QUEUE = `container lockstep-1 exited with code 139
Signal (11) received.
 0# 0x0000560190CA5A9D in /cache/tritonserver-2.42.0/bin/tritonserver
 1# 0x00007F360CA5A050 in /lib/x86_64-linux-gnu/libc.so.6
 2# 0x0000560190D10704 in /cache/tritonserver-2.42.0/bin/tritonserver
 3# 0x0000560190CFC039 in /cache/tritonserver-2.42.0/bin/tritonserver
 4# 0x00007F360C8D44A3 in /lib/x86_64-linux-gnu/libstdc++.so.6
 5# 0x00007F360CAA71F5 in /lib/x86_64-linux-gnu/libc.so.6
 6# 0x00007F360CB278EC in /lib/x86_64-linux-gnu/libc.so.6`;

test.each([
  ["gRPC's timer", TIMER],
  ['the completion queue', QUEUE],
  ['two threads printed at once', TIMER.replace(' 0# 0x', ' 0# 0x0000563AFB5EF80D in /cache/tritonserver-2.48.0/bin/tritonserver\n 0# 0x')],
])('a death of cancels is known by its stack: %s', (_, words) => {
  expect(diedOfCancels(words)).toBe(true);
});

test.each([
  ['the signal alone', 'tritonserver was killed by SIGSEGV'],
  ['another signal', TIMER.replaceAll('Signal (11)', 'Signal (6)')],
  [
    'a frame of the core',
    TIMER.replace(
      '4# 0x0000563AFB8C3E50 in /cache/tritonserver-2.48.0/bin/tritonserver',
      '4# 0x00007F1AF28A0000 in /cache/libs/libtritonserver-99f1.so',
    ),
  ],
  [
    'a frame of a back end',
    QUEUE.replace(
      '2# 0x0000560190D10704 in /cache/tritonserver-2.42.0/bin/tritonserver',
      '2# 0x00007F1AF28A0000 in /cache/backends/python/libtriton_python.so',
    ),
  ],
  ['a deeper stack', QUEUE.replace('4# 0x', '4# 0x0000560190CFC039 in /cache/tritonserver-2.42.0/bin/tritonserver\n 7# 0x')],
  ['no stack', 'tritonserver was killed by SIGKILL\nSignal (11) received.'],
])('another death is not: %s', (_, words) => {
  expect(diedOfCancels(words)).toBe(false);
});
