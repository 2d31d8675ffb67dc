import { crashFrames } from './crash-frames.ts';
import type { KnownGap } from './types.ts';

/**
 * Now and then the server ends by signal 11 when clients cancel gRPC streams; a later stream may be the one that meets it.
 * Claims that cancel are asked on a server of their own there, and again on another one when it died.
 */
export const CANCELS_KILL: KnownGap = {
  id: 'cancels-kill',
  law: 'server-survives',
  routes: ['raw', 'ensemble', 'bls', 'llmapi'],
  mode: 'both',
  axis: 'core',
  releases: ['2.41', '2.42', '2.43', '2.44', '2.45', '2.46', '2.47', '2.48', '2.49', '2.50', '2.51', '2.65+2.51', '2.71+2.51'],
  deviation: 'Now and then tritonserver ends by signal 11 in its gRPC front end when gRPC streams are cancelled.',
  thread: 'triton-inference-server/server#7368',
  listed: ({ core: { cancelsKillFor } }, route) =>
    route === undefined ? cancelsKillFor.value.length > 0 : cancelsKillFor.value.includes(route),
};

/** The handler that prints, then what was interrupted. */
const PRINTING = ['server', 'libc'];

/** The stacks that were seen, both in a thread of the front end (docs/observed.md#triton-by-release). */
const STACKS: readonly (readonly string[])[] = [
  // gRPC's timer rings an alarm of a stream that is gone: grpc_cq_end_op, AlarmImpl::Set, ExecCtx::Flush, timer_thread, the thread's start.
  [...PRINTING, 'server', 'server', 'server', 'server', 'server', 'libc', 'libc'],
  // A stream comes off the completion queue once more: ModelStreamInferHandler::Process, the thread's start.
  [...PRINTING, 'server', 'server', 'libstdc++', 'libc', 'libc'],
];

/** Whether a server with these last words died of it: by that signal, there. A crash in the core or in a back end is another one. */
export function diedOfCancels(words: string): boolean {
  const frames = crashFrames(words).join();
  return STACKS.some((stack) => stack.join() === frames);
}
