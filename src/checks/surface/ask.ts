/** Sends words to a route, outside of the request vocabulary that goldens and plans are written in. */
import { isDecoupled } from '#checks/routes/decoupled.ts';
import { EMPTY_FINAL } from '#checks/routes/raw-request.ts';
import { uniqueRequestId } from '#checks/routes/request-id.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { LockstepError } from '#core/errors/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import type { ChatMessage, RouteId } from '#core/request/index.ts';
import { type CallOptions, type EventStream, httpErrorText, type InferRequest } from '#wire/clients/index.ts';
import { bytesTensor, int32Tensor, type Tensor } from '#wire/protocol/tensors.ts';
import { type InputContext, membersOf, tensorsOf } from './inputs.ts';
import { readGenerated, readMessage, readOpenAi, type Reply, ReplyBuilder } from './reply.ts';
import { surfaceOf } from './spellings.ts';
import type { Words } from './words.ts';

/** A prompt in every form that a route may take. */
export interface AskedPrompt {
  /** What tensorrt_llm is sent. */
  readonly ids: readonly number[];
  /** What preprocessing is sent; it adds BOS. */
  readonly text: string;
  readonly messages: readonly ChatMessage[] | undefined;
}

export interface Question {
  readonly route: RouteId;
  /** One per batch row; the front end and generate take one. */
  readonly rows: readonly { readonly prompt: AskedPrompt; readonly words: Words }[];
  /** Inputs that no word stands for, as tensors [1, …] or, on JSON routes, as members by name. */
  readonly tensors?: readonly Tensor[];
  readonly members?: Readonly<Record<string, unknown>>;
  /** Tells equal questions apart that are to be sent again. */
  readonly repeat?: number;
}

const MODEL_OF = {
  raw: 'raw',
  ensemble: 'ensemble',
  bls: 'bls',
  'bls-accumulate': 'blsAccumulate',
  llmapi: 'llmapi',
} as const;

/** Asks each question once: what two probes ask alike is sent once. Never rejects for what the server did. */
export class Asker {
  readonly #lab: Lab;
  readonly #known = new Map<string, Promise<Reply>>();

  constructor(lab: Lab) {
    this.#lab = lab;
  }

  ask(question: Question): Promise<Reply> {
    const { route, rows, members = {}, tensors = [], repeat = 0 } = question;
    const key = canonicalJson([
      route,
      repeat,
      rows.map(({ prompt, words }) => [prompt.ids, words]),
      members,
      tensors.map((t) => [t.name, t.datatype, t.shape, Buffer.from(t.data).toString('hex')]),
    ]);
    let reply = this.#known.get(key);
    if (reply === undefined) this.#known.set(key, (reply = this.#send(question)));
    return reply;
  }

  async #send(question: Question): Promise<Reply> {
    const { tokenizer } = this.#lab;
    const builder = new ReplyBuilder();
    try {
      await this.#exchange(question, builder);
    } catch (thrown) {
      this.#lab.signal?.throwIfAborted();
      const { code, message } = LockstepError.from(thrown);
      if (code === 'internal') throw thrown;
      builder.refuse(code, message);
    }
    return builder.reply((ids) => tokenizer.decode(ids, { skipSpecialTokens: true }));
  }

  async #exchange(question: Question, builder: ReplyBuilder): Promise<void> {
    const { clients, models } = this.#lab.parts;
    const [first] = question.rows;
    if (first === undefined) throw new TypeError('a question has at least one row');
    switch (question.route) {
      case 'raw':
      case 'ensemble':
      case 'bls':
      case 'bls-accumulate':
      case 'llmapi':
        return this.#infer(question, models[MODEL_OF[question.route]], builder);
      case 'generate': {
        const body = { text_input: first.prompt.text, ...this.#members(question, first.words) };
        // The stream form takes any number of responses.
        const events = clients.http.openGenerate(models.ensemble, body, { ...this.#call(), stream: true });
        return readEvents(events, (payload) => readGenerated(payload, builder), builder);
      }
      case 'openai-completions': {
        const body = { model: models.openai, prompt: first.prompt.text, ...this.#members(question, first.words) };
        return readEvents(clients.openai!.openCompletions(body, this.#call()), (payload) => readOpenAi(payload, builder), builder);
      }
      case 'openai-chat': {
        const { messages = [] } = first.prompt;
        const body = { model: models.openai, messages, ...this.#members(question, first.words) };
        return readEvents(clients.openai!.openChat(body, this.#call()), (payload) => readOpenAi(payload, builder), builder);
      }
    }
  }

  async #infer({ route, rows, tensors = [] }: Question, model: string, builder: ReplyBuilder): Promise<void> {
    const { grpc } = this.#lab.parts.clients;
    const surface = surfaceOf(route, this.#lab.profile);
    const prompts = rows.map((row) => row.prompt);
    const request: InferRequest = {
      model,
      id: uniqueRequestId('parameters'),
      inputs: [
        ...(route === 'raw'
          ? idTensors(prompts, this.#lab.tokenizer.padId ?? 0)
          : [
              bytesTensor(
                'text_input',
                route === 'llmapi' ? [rows.length] : [rows.length, 1],
                prompts.map((p) => p.text),
              ),
            ]),
        ...tensorsOf(
          surface,
          rows.map((row) => row.words),
          this.#context(),
        ),
        ...tensors,
      ],
      parameters: EMPTY_FINAL,
    };
    const unary = !(await isDecoupled(this.#lab.parts.clients, model, this.#call()));
    await using call = unary ? grpc.openInfer(request, this.#call()).call : grpc.openStream(this.#call());
    if (!unary) {
      void call.send(request);
      call.halfClose();
    }
    try {
      for await (const message of call.messages) readMessage(message, builder);
    } catch (thrown) {
      this.#lab.signal?.throwIfAborted();
      // The status says the same, with its name.
      if (LockstepError.from(thrown).code === 'internal') throw thrown;
    }
    const { name, details } = await call.status;
    if (name !== 'OK') builder.refuse(name, details);
  }

  #members({ route, members = {} }: Question, words: Words): Record<string, unknown> {
    return { ...membersOf(surfaceOf(route, this.#lab.profile), words, this.#context()), ...members };
  }

  #context(): InputContext {
    return { tokenizer: this.#lab.tokenizer, models: this.#lab.profile.models };
  }

  #call(): CallOptions {
    return { signal: this.#lab.signal, deadlineMs: this.#lab.parts.deadlineMs };
  }
}

/** input_ids INT32 [rows, longest], right-padded, and input_lengths INT32 [rows, 1]. */
function idTensors(prompts: readonly AskedPrompt[], padId: number): Tensor[] {
  const width = Math.max(...prompts.map((p) => p.ids.length));
  const padded = prompts.flatMap((p) => [...p.ids, ...Array.from({ length: width - p.ids.length }, () => padId)]);
  return [
    int32Tensor('input_ids', [prompts.length, width], padded),
    int32Tensor(
      'input_lengths',
      [prompts.length, 1],
      prompts.map((p) => p.ids.length),
    ),
  ];
}

async function readEvents(
  stream: EventStream,
  read: (payload: Readonly<Record<string, unknown>>) => void,
  builder: ReplyBuilder,
): Promise<void> {
  await using _ = stream;
  const { status } = await stream.head;
  for await (const event of stream.events) {
    if (event.done) continue;
    const payload = event.json as Readonly<Record<string, unknown>> | undefined;
    if (status !== 200 || payload === undefined || 'error' in payload) builder.refuse(`HTTP ${status}`, httpErrorText(event.text));
    else read(payload);
  }
}
