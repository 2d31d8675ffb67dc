import { setImmediate as nextTurn } from 'node:timers/promises';
import { nowNs } from '#core/clock/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { FLAG, type Transcript, type TranscriptBuilder } from '#core/transcript/index.ts';
import type { CallOptions, CallStatus, GrpcClient, InferRequest, InferStream } from '#wire/clients/index.ts';
import type { MessageReader } from './read-tensors.ts';
import type { RunOptions } from './types.ts';

export interface GrpcExchange {
  readonly grpc: GrpcClient;
  readonly request: InferRequest;
  /** ModelInfer instead of ModelStreamInfer. */
  readonly unary: boolean;
  readonly builder: TranscriptBuilder;
  readonly read: MessageReader;
  readonly options: RunOptions;
  /** Sends the stop request and awaits its own answer. */
  readonly stop?: (options: CallOptions) => Promise<void>;
}

/** grpc-js runs its deadline timer a little early or late; an earlier DEADLINE_EXCEEDED is the server's. */
const DEADLINE_SLACK_MS = 20;

/**
 * Runs one inference call from request to status and seals its transcript. The client closes its half at once, so the
 * call ends when the server has said everything, messages after the final one included.
 */
export async function runGrpcExchange(exchange: GrpcExchange): Promise<Transcript> {
  const { builder, options, request } = exchange;
  const { cancel } = options;
  const deadlineMs = cancel?.how === 'deadline' ? Math.min(cancel.ms, options.deadlineMs) : options.deadlineMs;
  const startNs = nowNs();
  const { call, sent } = open(exchange, { signal: options.signal, deadlineMs, tap: options.tap });
  await using _ = call;
  let left = false;
  let stopping: Promise<void> | undefined;
  /** Gives true when this client is to leave now. */
  const act = (dataEvents: number): boolean => {
    if (cancel === undefined || !('afterEvents' in cancel) || dataEvents !== cancel.afterEvents) return false;
    if (cancel.how === 'leave') return true;
    stopping ??= stop(exchange, deadlineMs);
    return false;
  };

  if (cancel !== undefined && 'afterEvents' in cancel && cancel.afterEvents === 0) {
    await sent;
    await nextTurn();
    if (act(0)) {
      left = true;
      call.cancel();
    }
  }
  let dataEvents = 0;
  try {
    for await (const message of call.messages) {
      const isData = message.outputs.length > 0;
      // ModelInfer has no flag: its one response ends the call.
      builder.event((isData ? FLAG.data : 0) | (message.final === true || exchange.unary ? FLAG.final : 0));
      if (message.errorMessage !== undefined) builder.error('in-band', message.errorMessage);
      if (message.id !== request.id) builder.foreignId(message.id);
      if (!isData) continue;
      try {
        exchange.read(message);
      } catch (thrown) {
        builder.error('malformed', LockstepError.from(thrown).message);
      }
      if (act(++dataEvents)) {
        left = true;
        break;
      }
    }
  } catch (thrown) {
    if (options.signal?.aborted) throw thrown;
    // The status below says the same.
  }
  const status = await call.status;
  await stopping;
  if (left) return builder.seal('cancelled');
  if (status.name === 'OK') return builder.seal('complete');
  if (status.name === 'DEADLINE_EXCEEDED' && (nowNs() - startNs) / 1e6 >= deadlineMs - DEADLINE_SLACK_MS) {
    return builder.seal(cancel?.how === 'deadline' && cancel.ms <= options.deadlineMs ? 'cancelled' : 'deadline');
  }
  return failed(builder, status);
}

function open(exchange: GrpcExchange, options: CallOptions): { readonly call: InferStream; readonly sent: Promise<void> } {
  if (exchange.unary) return exchange.grpc.openInfer(exchange.request, options);
  const call = exchange.grpc.openStream(options);
  const sent = call.send(exchange.request);
  call.halfClose();
  return { call, sent };
}

/** The stop request's own answer belongs to the exchange: its failure is an error of the transcript. */
async function stop(exchange: GrpcExchange, deadlineMs: number): Promise<void> {
  try {
    await exchange.stop?.({ signal: exchange.options.signal, deadlineMs, tap: exchange.options.tap });
  } catch (thrown) {
    const error = LockstepError.from(thrown);
    exchange.builder.error(String(error.context['status'] ?? error.code), `stop request: ${error.message}`, 'instead');
  }
}

function failed(builder: TranscriptBuilder, status: CallStatus): Transcript {
  builder.error(status.name, status.details, 'instead');
  return builder.seal('broken');
}
