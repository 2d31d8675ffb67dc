import { Metadata, type ServiceError, type StatusObject, status } from '@grpc/grpc-js';
import { LockstepError } from '#core/errors/index.ts';
import { type Access, withoutSecrets } from '../access.ts';

/** How a call ended, as the transport reported it. */
export interface CallStatus {
  /** 0 … 16, grpc/grpc doc/statuscodes.md. */
  readonly code: number;
  /** `OK`, `INVALID_ARGUMENT`, … */
  readonly name: string;
  readonly details: string;
  /** Trailers. */
  readonly metadata: Metadata;
}

export const STATUS_OK = status.OK;

export function callStatus(raw: Pick<StatusObject, 'code' | 'details'> & { readonly metadata?: Metadata }, access?: Access): CallStatus {
  return {
    code: raw.code,
    name: status[raw.code] ?? `CODE_${raw.code}`,
    details: withoutSecrets(raw.details, access),
    metadata: raw.metadata ?? new Metadata(),
  };
}

/** Nothing answered at the address: what grpc-js says when no connection came about (lib/load-balancer-pick-first.ts). */
export function isUnreachable(s: CallStatus): boolean {
  return s.code === status.UNAVAILABLE && /No connection established|Name resolution failed|ECONNREFUSED/.test(s.details);
}

/** The error for a call that did not end in OK: `grpc-<status-name>` or `target-unreachable`. */
export function statusError(
  s: CallStatus,
  call: { readonly method: string; readonly address: string },
  cause?: ServiceError,
): LockstepError {
  const context = { status: s.name, code: s.code, details: s.details, address: call.address, method: call.method };
  if (isUnreachable(s)) {
    return new LockstepError('target-unreachable', `nothing answers gRPC at ${call.address}: ${s.details}`, {
      hint: `Check that the server runs and that ${call.address} is its gRPC port (8001 by default).`,
      context,
      cause,
    });
  }
  const code = `grpc-${s.name.toLowerCase().replaceAll('_', '-')}`;
  return new LockstepError(code, `${call.method} on ${call.address} ended with ${s.name}: ${s.details || '(no details)'}`, {
    hint: HINTS[s.code] ?? 'Look at the server log for this request.',
    context,
    cause,
  });
}

/** The error when the caller's signal ended the call. */
export function interrupted(call: { readonly method: string; readonly address: string }, signal: AbortSignal): LockstepError {
  return new LockstepError('interrupted', `stopped while ${call.method} on ${call.address} was running`, { cause: signal.reason });
}

const HINTS: Readonly<Record<number, string>> = {
  [status.CANCELLED]: 'Find out which side cancelled: this client, or the server core.',
  [status.INVALID_ARGUMENT]: 'Compare the request with the model metadata.',
  [status.DEADLINE_EXCEEDED]: 'Raise the deadline, or look at the server for a request that is stuck.',
  [status.NOT_FOUND]: 'Ask for the repository index: is the model there, and ready?',
  [status.UNIMPLEMENTED]: 'A decoupled model answers on ModelStreamInfer only; an unknown RPC means another server or release.',
  [status.UNAVAILABLE]: 'Check that the server is alive and that the model is loaded.',
  [status.INTERNAL]: 'Read the details and the server log; the model or its back end failed.',
};
