/** tritonclient: gRPC, gRPC with asyncio and HTTP; generate by the requests package, since tritonclient has no call for it. */
import type { Use } from './use.ts';
import { aioCancel, aioStream, generate, grpcCancel, grpcStream, grpcUnary, httpUnary, LEAVE_AFTER } from './triton-asks.ts';

const STREAM_LAWS = ['answers-at-all', 'deltas-equal-whole', 'no-empty-event', 'eos-ending', 'length-ending', 'count-limit'];
const GRPC_STREAM_LAWS = [...STREAM_LAWS, 'final-flag-once', 'request-id-echoed'];
const RAW_LAWS = ['sequence-lengths-true', 'ids-in-vocabulary', 'greedy-is-argmax', 'log-probs-real', 'usage-counts', 'prompt-ids'];
const TEXT_LAWS = ['no-control-text', 'no-broken-utf8', 'usage-counts'];

export const TRITON_GRPC: readonly Use[] = [
  {
    id: 'triton-grpc-stream-raw',
    statement: 'tritonclient.grpc: answers of tensorrt_llm on one stream, several in flight, are what the laws say.',
    routes: ['raw'],
    laws: [...GRPC_STREAM_LAWS, ...RAW_LAWS],
    run: (lab) => grpcStream(lab, 'raw'),
    control: { fault: 'stream-repeats-last-token-with-endid', law: 'eos-ending' },
  },
  {
    id: 'triton-grpc-stream-ensemble',
    statement: 'tritonclient.grpc: answers of ensemble on one stream, several in flight, are what the laws say.',
    routes: ['ensemble'],
    laws: [...GRPC_STREAM_LAWS, ...TEXT_LAWS],
    run: (lab) => grpcStream(lab, 'ensemble'),
    control: { fault: 'stream-reordered-postprocessing', law: 'deltas-equal-whole' },
  },
  {
    id: 'triton-grpc-stream-bls',
    statement: 'tritonclient.grpc: answers of tensorrt_llm_bls on one stream, several in flight, are what the laws say.',
    routes: ['bls'],
    laws: [...GRPC_STREAM_LAWS, 'no-control-text', 'no-broken-utf8', 'usage-counts'],
    run: (lab) => grpcStream(lab, 'bls'),
    control: { fault: 'stream-no-spaces-ensemble', law: 'deltas-equal-whole' },
  },
  {
    id: 'triton-grpc-stream-bls-accumulate',
    statement: 'tritonclient.grpc: with accumulate_tokens every text of a stream is the beginning of the answer.',
    routes: ['bls-accumulate'],
    laws: [...GRPC_STREAM_LAWS, 'no-control-text', 'usage-counts'],
    run: (lab) => grpcStream(lab, 'bls-accumulate'),
    control: { fault: 'first-event-empty-text', law: 'no-empty-event' },
  },
  {
    id: 'triton-grpc-stream-llmapi',
    statement: "tritonclient.grpc: answers of the LLM API's model on one stream, several in flight, are what the laws say.",
    routes: ['llmapi'],
    laws: [...GRPC_STREAM_LAWS, 'no-control-text', 'finish-reason-true'],
    run: (lab) => grpcStream(lab, 'llmapi'),
    control: { fault: 'stream-repeats-last-token-with-endid', law: 'eos-ending' },
  },
  {
    id: 'triton-grpc-cancel',
    statement: 'tritonclient.grpc: after stop_stream(cancel_requests=True) an answer is a beginning of the whole one.',
    routes: ['raw'],
    laws: ['cancel-stops'],
    run: grpcCancel,
    control: { fault: 'batch-gt1-wrong-concurrent-equal', law: 'cancel-stops' },
  },
  {
    id: 'triton-grpc-unary-raw',
    statement: 'tritonclient.grpc: infer on a tensorrt_llm that gives one response has the ids, log-probabilities and logits of the laws.',
    routes: ['raw'],
    repository: 'unary',
    laws: ['answers-at-all', 'count-limit', 'request-id-echoed', 'length-ending', ...RAW_LAWS],
    run: (lab) => grpcUnary(lab, 'raw'),
    control: { fault: 'first-token-logits-in-context', law: 'greedy-is-argmax' },
  },
  {
    id: 'triton-grpc-unary-ensemble',
    statement: 'tritonclient.grpc: infer on an ensemble that gives one response has the text of its ids.',
    routes: ['ensemble'],
    repository: 'unary',
    laws: ['answers-at-all', 'text-is-true-decode', 'no-control-text', 'usage-counts', 'request-id-echoed'],
    run: (lab) => grpcUnary(lab, 'ensemble'),
    control: { fault: 'several-instances-one-gpu', law: 'answers-at-all' },
  },
];

export const TRITON_AIO: readonly Use[] = [
  {
    id: 'triton-aio-stream-raw',
    statement: 'tritonclient.grpc.aio: streams of tensorrt_llm beside each other are what the laws say.',
    routes: ['raw'],
    laws: [...GRPC_STREAM_LAWS, ...RAW_LAWS],
    run: (lab) => aioStream(lab, 'raw'),
    control: { fault: 'decoupled-client-one-token', law: 'deltas-equal-whole' },
  },
  {
    id: 'triton-aio-stream-ensemble',
    statement: 'tritonclient.grpc.aio: streams of ensemble beside each other are what the laws say.',
    routes: ['ensemble'],
    laws: [...GRPC_STREAM_LAWS, ...TEXT_LAWS],
    run: (lab) => aioStream(lab, 'ensemble'),
    control: { fault: 'stream-no-spaces-ensemble', law: 'deltas-equal-whole' },
  },
  {
    id: 'triton-aio-cancel',
    statement: 'tritonclient.grpc.aio: an iterator that is cancelled has given a beginning of the whole answer.',
    routes: ['raw'],
    laws: ['cancel-stops'],
    run: aioCancel,
    control: { fault: 'batch-gt1-wrong-concurrent-equal', law: 'cancel-stops' },
  },
];

export const TRITON_HTTP: readonly Use[] = [
  {
    id: 'triton-http-infer-raw',
    statement: 'tritonclient.http: infer on tensorrt_llm, binary and JSON tensors, has the ids and logits of the laws.',
    routes: ['raw'],
    repository: 'unary',
    laws: [
      'answers-at-all',
      'count-limit',
      'request-id-echoed',
      'sequence-lengths-true',
      'ids-in-vocabulary',
      'greedy-is-argmax',
      'log-probs-real',
    ],
    run: (lab) => httpUnary(lab, 'raw'),
    control: { fault: 'sequence-length-ignores-end-id', law: 'sequence-lengths-true' },
  },
  {
    id: 'triton-http-infer-ensemble',
    statement: 'tritonclient.http: infer on ensemble, binary and JSON tensors, has the text of its ids.',
    routes: ['ensemble'],
    repository: 'unary',
    laws: ['answers-at-all', 'text-is-true-decode', 'no-control-text', 'request-id-echoed'],
    run: (lab) => httpUnary(lab, 'ensemble'),
    control: { fault: 'several-instances-one-gpu', law: 'answers-at-all' },
  },
];

export const GENERATE: readonly Use[] = [
  {
    id: 'requests-generate',
    statement: 'requests: generate has the text of its ids.',
    routes: ['generate'],
    laws: ['answers-at-all', 'text-is-true-decode', 'no-control-text', 'usage-counts'],
    run: (lab) => generate(lab, 'unary'),
    control: { fault: 'echo-default-nonstream', law: 'text-is-true-decode' },
  },
  {
    id: 'requests-generate-stream',
    statement: 'requests: the events of generate_stream are what the laws say.',
    routes: ['generate'],
    laws: [...STREAM_LAWS, ...TEXT_LAWS],
    run: (lab) => generate(lab, 'stream'),
    control: { fault: 'first-event-empty-text', law: 'no-empty-event' },
  },
  {
    id: 'requests-generate-stream-close',
    statement: 'requests: a generate_stream that is closed early has given a beginning of the whole answer, and the server lives.',
    routes: ['generate'],
    laws: ['cancel-stops'],
    run: (lab) => generate(lab, 'stream', LEAVE_AFTER),
    control: { fault: 'segv-generate-stream-close', law: 'server-survives' },
  },
];
