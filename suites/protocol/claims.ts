import type { Claim } from '#checks/lab/claim.ts';
import { misfit, type ReleaseProfile } from '#core/profile/index.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { decodeBytesElements, fp32Values, int32Values } from '#wire/protocol/tensors.ts';
import { NOT_DECOUPLED } from '#checks/lab/outcome.ts';
import { matches, show } from './expectations.ts';
import { BLS_HTTP, BLS_STREAMS, UNARY_HTTP, UNARY_OPENAI, UNARY_RPCS, UNARY_STREAMS } from './bls-tables.ts';
import {
  INFER_ERRORS,
  POSTPROCESSING,
  PREPROCESSING,
  type RpcCase,
  SERVER_RPCS,
  STREAMS as GRPC_STREAMS,
  type StreamCase,
  type TensorCase,
} from './grpc-tables.ts';
import { GENERATES, type HttpCase, INFER, ROUTES, STREAMS as SSE_STREAMS } from './http-tables.ts';
import { EXCHANGES as LLMAPI } from './llmapi-tables.ts';
import { OPENAI } from './openai-tables.ts';
import { TRTLLM_SERVE } from './trtllm-serve-tables.ts';
import { POSTPROCESSING_SPM, PREPROCESSING_SPM } from './spm-tables.ts';
import { tableClaim } from './table-claim.ts';
import { unaryCancel } from './unary-cancel.ts';
import { PlainGrpc, http, inferMessage, openAiOf, type HttpWhere } from './wire.ts';

async function rpc(c: RpcCase, lab: Lab): Promise<string | undefined> {
  using client = new PlainGrpc(lab.parts.endpoints, lab.parts.onLostEnd);
  const reply = await client.call(c.rpc, c.request);
  if (reply.code !== c.code) return `expected status ${c.code}, got ${reply.code} ${reply.details}`;
  if (c.details !== undefined && !matches(reply.details, c.details))
    return `expected the text ${show(c.details)}, got ${show(reply.details)}`;
  if (c.body !== undefined && !matches(reply.body, c.body)) return `expected ${show(c.body)}, got ${show(reply.body)}`;
  return undefined;
}

async function tensors(c: TensorCase, lab: Lab): Promise<string | undefined> {
  using client = new PlainGrpc(lab.parts.endpoints, lab.parts.onLostEnd);
  const reply = await client.call('ModelInfer', inferMessage(c.request));
  if (reply.code !== 'OK') return `expected an answer, got ${reply.code} ${reply.details}`;
  for (const [name, [datatype, shape, values]] of Object.entries(c.outputs)) {
    const i = reply.body.outputs.findIndex((o: { name: string }) => o.name === name);
    if (i < 0) return `output ${name} is missing`;
    const output = reply.body.outputs[i];
    const data = reply.body.raw_output_contents[i] as Uint8Array;
    if (output.datatype !== datatype) return `${name} is ${output.datatype}, expected ${datatype}`;
    if (output.shape.join() !== shape.join()) return `${name} has shape [${output.shape}], expected [${shape}]`;
    const actual =
      datatype === 'BYTES'
        ? decodeBytesElements(data).map((b) => Buffer.from(b).toString())
        : datatype === 'FP32'
          ? Array.from(fp32Values(data))
          : Array.from(int32Values(data));
    if (values !== undefined && actual.join() !== values.join()) return `${name} is [${actual}], expected [${values}]`;
  }
  return undefined;
}

async function stream(c: StreamCase, lab: Lab): Promise<string | undefined> {
  using client = new PlainGrpc(lab.parts.endpoints, lab.parts.onLostEnd);
  const reply = await client.stream(c.requests.map(inferMessage));
  if (reply.code !== (c.code ?? 'OK')) return `expected the stream to end with ${c.code ?? 'OK'}, got ${reply.code} ${reply.details}`;
  return matches(reply.messages, c.messages)
    ? undefined
    : `expected ${show(c.messages)}, got ${reply.messages.length} messages: ${show(reply.messages)}`;
}

async function exchange(c: HttpCase, lab: Lab, where: HttpWhere = lab.parts.endpoints): Promise<string | undefined> {
  const reply = await http(where, c);
  if (reply.status !== c.status) return `expected HTTP ${c.status}, got ${reply.status} ${show(reply.text)}`;
  if (!reply.complete && c.cut !== true) return 'the body ended before its framing said so';
  if (reply.complete && c.cut === true) return 'the body came to its end, expected a cut';
  if (c.type !== undefined && !matches(reply.type, c.type)) return `expected content type ${show(c.type)}, got ${show(reply.type)}`;
  if (c.header !== undefined && !matches(reply.headers, c.header))
    return `expected the headers ${show(c.header)}, got ${show(reply.headers)}`;
  if (c.text !== undefined && !matches(reply.text, c.text)) return `expected the body ${show(c.text)}, got ${show(reply.text)}`;
  if (c.json !== undefined) {
    let body: unknown;
    try {
      body = JSON.parse(reply.text);
    } catch {
      return `the body is not JSON: ${show(reply.text)}`;
    }
    if (!matches(body, c.json)) return `expected ${show(c.json)}, got ${show(body)}`;
  }
  return undefined;
}

/** Rows of NVIDIA's front end do not speak of trtllm-serve, nor those with an answer of models that refuse whatever it sends. */
function ofNvidia(row: HttpCase): HttpCase {
  const answers = row.status === 200 && row.body !== undefined;
  return {
    ...row,
    holds: (profile) => profile.openai.trtllmServe === undefined && !(answers && countsRefused(profile)) && (row.holds?.(profile) ?? true),
  };
}

function countsRefused({ openai, models }: ReleaseProfile): boolean {
  return openai.tokenCounts.value && !models.returnsTokenCounts.value;
}

/** An answer that is streamed needs a repository with the decoupled policy. */
function marked(row: HttpCase): HttpCase {
  const { body, status } = row;
  const streamed = status === 200 && typeof body === 'object' && 'stream' in body && body.stream === true;
  return streamed ? { ...row, streams: true } : row;
}

/** The tables were observed on decoupled repositories. */
const needsStreams = (lab: Lab): string | undefined => (lab.parts.decoupled ? undefined : NOT_DECOUPLED);
/** Most rows ask the engine, the ensemble or one of its steps: nothing is left of a table without them. */
const needsModels = (lab: Lab): string | undefined =>
  lab.parts.notServed.get('raw') ??
  // An ensemble that there is and that never runs is still refused, described and counted; the rows know.
  (lab.profile.core.ensembleRunsWithoutOptionalInputs.value ? lab.parts.notServed.get('ensemble') : undefined);
const noGenerate = (lab: Lab): string | undefined => (lab.profile.core.generate.value ? undefined : lab.parts.notServed.get('generate'));
const needsStock = (lab: Lab): string | undefined => needsModels(lab) ?? needsStreams(lab);

const needsGenerate = (lab: Lab): string | undefined =>
  lab.profile.core.generate.value ? needsStock(lab) : lab.parts.notServed.get('generate');

/** Both models with a BLS in them are asked, each by its name. */
const noBls = (lab: Lab): string | undefined => lab.parts.notServed.get('bls') ?? lab.parts.notServed.get('bls-accumulate');

const noFrontEnd = (lab: Lab): string | undefined =>
  lab.parts.endpoints.openai === undefined ? 'the target has no OpenAI front end' : coreWithout(lab);
/** A misfit of models and front end is what some rows are about; a core without one is not. */
const coreWithout = ({ profile }: Lab): string | undefined =>
  profile.core.ensembleNeedsAllOutputs.value && profile.openai.trtllmServe === undefined ? misfit(profile) : undefined;

export const CLAIMS: readonly Claim[] = [
  tableClaim({
    unless: needsStock,
    id: 'grpc-server-rpcs',
    statement: 'Health, metadata, configuration, statistics, index and settings answer over gRPC as a real core does.',
    cases: SERVER_RPCS,
    check: rpc,
  }),
  tableClaim({
    unless: needsStock,
    id: 'grpc-infer-errors',
    statement: 'A wrong ModelInfer request gets the code and the text of a real core.',
    cases: INFER_ERRORS,
    check: rpc,
  }),
  tableClaim({
    unless: needsModels,
    id: 'preprocessing-tensors',
    statement: 'preprocessing gives the tensors that the stock model was seen to give.',
    cases: [...PREPROCESSING, ...PREPROCESSING_SPM],
    check: tensors,
  }),
  tableClaim({
    unless: needsModels,
    id: 'postprocessing-texts',
    statement: 'postprocessing gives the texts that the stock model was seen to give: cut by length, without control tokens, one per beam.',
    cases: [...POSTPROCESSING, ...POSTPROCESSING_SPM],
    check: tensors,
  }),
  tableClaim({
    unless: needsStock,
    id: 'grpc-stream-framing',
    statement: 'ModelStreamInfer frames answers, ends and errors as real servers were seen to.',
    cases: GRPC_STREAMS,
    check: stream,
  }),
  tableClaim({
    unless: (lab) => needsStreams(lab) ?? noBls(lab),
    id: 'grpc-bls',
    statement: 'tensorrt_llm_bls frames its streams, ends and errors over gRPC as it was seen to.',
    cases: BLS_STREAMS,
    check: stream,
  }),
  tableClaim({
    unless: (lab) => needsStreams(lab) ?? noBls(lab) ?? noGenerate(lab),
    id: 'http-bls',
    statement: 'tensorrt_llm_bls answers generate and generate_stream as it was seen to.',
    cases: BLS_HTTP,
    check: (c, lab) => exchange(c, lab),
  }),
  tableClaim({
    unless: (lab) => needsStreams(lab) ?? lab.parts.notServed.get('llmapi'),
    id: 'llmapi-exchanges',
    statement: "The LLM API's model answers with its own tensors, defaults and error texts, streamed and not.",
    cases: LLMAPI,
    check: (c, lab) => stream({ ...c, requests: c.requests.map((r) => ({ ...r, model: lab.parts.models.llmapi })) }, lab),
  }),
  tableClaim({
    unless: needsStock,
    id: 'http-routes',
    statement: 'Every HTTP route answers with the status and body of a real front end.',
    cases: ROUTES,
    check: (c, lab) => exchange(c, lab),
  }),
  tableClaim({
    unless: needsStock,
    id: 'http-infer',
    statement: 'infer over HTTP answers, and refuses, as a real front end does.',
    cases: INFER,
    check: (c, lab) => exchange(c, lab),
  }),
  tableClaim({
    unless: needsGenerate,
    id: 'http-generate',
    statement: 'generate maps keys to tensors, and refuses, as a real front end does.',
    cases: GENERATES,
    check: (c, lab) => exchange(c, lab),
  }),
  tableClaim({
    unless: needsGenerate,
    id: 'http-generate-stream',
    statement: 'generate_stream frames its events as a real front end does.',
    cases: SSE_STREAMS,
    check: (c, lab) => exchange(c, lab),
  }),
  tableClaim({
    id: 'openai-front-end',
    statement: 'The OpenAI front end answers, and refuses, as the observed release does.',
    cases: [...OPENAI.map(ofNvidia), ...TRTLLM_SERVE].map(marked),
    unless: noFrontEnd,
    check: (c, lab) => exchange(c, lab, openAiOf(lab.parts.endpoints)),
  }),
];

/** Of a repository without the decoupled policy, which no ordinary run has: `self` makes one. */
export const UNARY_CLAIMS: readonly Claim[] = [
  tableClaim({
    id: 'unary-grpc',
    statement: 'Without the decoupled policy ensemble, BLS and raw answer unary calls, and refuse, as they were seen to.',
    cases: UNARY_RPCS,
    check: rpc,
  }),
  tableClaim({
    id: 'unary-grpc-stream',
    statement: 'Without the decoupled policy a stream gets one message, which is final; a BLS sends no flag alone.',
    cases: UNARY_STREAMS,
    check: stream,
  }),
  tableClaim({
    id: 'unary-http',
    statement: 'Without the decoupled policy infer and generate answer, and refuse, as they were seen to.',
    cases: UNARY_HTTP,
    check: (c, lab) => exchange(c, lab),
  }),
  tableClaim({
    id: 'unary-openai',
    statement: 'Without the decoupled policy the OpenAI front end answers whole, and a stream is cut where the engine refuses it.',
    cases: UNARY_OPENAI.map(ofNvidia),
    unless: noFrontEnd,
    check: (c, lab) => exchange(c, lab, openAiOf(lab.parts.endpoints)),
  }),
  unaryCancel,
];
