/** Who cancels what, and when. */
import type { Cancel } from '#checks/routes/index.ts';
import type { RouteId } from '#core/request/index.ts';

export interface Scenario {
  readonly id: string;
  readonly statement: string;
  readonly route: RouteId;
  readonly cancel: Cancel | 'leave-while-running';
  /** The answer is asked for whole: nothing arrives before its end. */
  readonly mode?: 'unary';
  /** All slots are taken before the case is sent, so that it waits in the queue. */
  readonly queued?: true;
  /** The route serves one request at a time, so that one which nobody waits for can take it away from all others. */
  readonly oneAtATime?: true;
}

export const SCENARIOS: readonly Scenario[] = [
  {
    id: 'cancel-mid-decode',
    statement: 'A gRPC cancel in the middle of an answer stops the engine and frees slot and blocks.',
    route: 'raw',
    cancel: { how: 'leave', afterEvents: 5 },
  },
  {
    id: 'cancel-in-prefill',
    statement: 'A gRPC cancel before the first token stops the engine and frees slot and blocks.',
    route: 'raw',
    cancel: { how: 'leave', afterEvents: 0 },
  },
  {
    id: 'cancel-while-queued',
    statement: 'A request cancelled while it waits for a slot never runs, and those that hold the slots are not disturbed.',
    route: 'raw',
    cancel: { how: 'leave', afterEvents: 0 },
    queued: true,
  },
  {
    id: 'cancel-by-deadline',
    statement: 'A client deadline that passes stops the engine and frees slot and blocks.',
    route: 'raw',
    cancel: { how: 'deadline', ms: 25 },
  },
  {
    id: 'cancel-by-stop-tensor',
    statement: 'A stop request with the same id ends the answer with its final flag and frees slot and blocks.',
    route: 'raw',
    cancel: { how: 'stop-tensor', afterEvents: 5 },
  },
  {
    id: 'cancel-ensemble',
    statement: 'A gRPC cancel of an ensemble request stops the engine.',
    route: 'ensemble',
    cancel: { how: 'leave', afterEvents: 5 },
  },
  {
    id: 'cancel-llmapi',
    statement: "A gRPC cancel of a stream of the LLM API's model stops its engine.",
    route: 'llmapi',
    cancel: { how: 'leave', afterEvents: 5 },
  },
  {
    id: 'stop-llmapi',
    statement: "A stop request with the same id ends a stream of the LLM API's model early and in order.",
    route: 'llmapi',
    cancel: { how: 'stop-tensor', afterEvents: 5 },
  },
  {
    id: 'cancel-bls',
    statement: 'A gRPC cancel of a BLS request stops the engine, and the instance of the BLS serves the next one.',
    route: 'bls',
    cancel: { how: 'leave', afterEvents: 5 },
    oneAtATime: true,
  },
  {
    id: 'close-generate-stream',
    statement: 'Closing a generate_stream connection stops the engine.',
    route: 'generate',
    cancel: { how: 'leave', afterEvents: 5 },
  },
  {
    id: 'close-generate-whole',
    statement: 'Closing the connection of an HTTP answer that is not streamed stops the engine.',
    route: 'generate',
    cancel: 'leave-while-running',
    mode: 'unary',
  },
  {
    id: 'close-openai-stream',
    statement: 'Closing an OpenAI stream stops the engine.',
    route: 'openai-completions',
    cancel: { how: 'leave', afterEvents: 5 },
  },
];
