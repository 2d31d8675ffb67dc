import { requestOf } from '#checks/lab/plan.ts';
import { promptText } from '#checks/routes/prompt.ts';
import { nowNs } from '#core/clock/index.ts';
import { sleep } from '#core/deadline/index.ts';
import { decodeBytesElements } from '#wire/protocol/tensors.ts';
import { EMPTY_FINAL, bool, bytes, int32 } from '../protocol/requests.ts';
import { PlainGrpc, type StreamReply, inferMessage } from '../protocol/wire.ts';
import { type DangerousExchange, MISSED } from './types.ts';

/** Parts of an answer's own time after which it is told to stop, one after the other: no stop may come too early or too late for good. */
const PARTS = [0.5, 0.3, 0.7, 0.2, 0.1];

export const stopOfWholeAnswer: DangerousExchange = {
  id: 'stop-of-whole-answer',
  statement: "A stop request for an answer of the LLM API's model that is not streamed leaves neither of the two without an end.",
  known: 'the model of TensorRT-LLM 1.x sends nothing more for the request that was stopped: its client waits until its own deadline',
  thread: 'docs/observed.md#torch-path',
  route: 'llmapi',
  times: 2,
  triesEach: PARTS.length,
  async send(lab, i) {
    const [prompt] = lab.plan.draw('long', 1, (p) => p.long === true);
    const request = requestOf(prompt!, { maxTokens: lab.parts.budget.longTokens }, '-long');
    const beginNs = nowNs();
    await lab.run({ request, route: 'llmapi', mode: 'unary', repeat: i });
    const wholeMs = (nowNs() - beginNs) / 1e6;

    using client = new PlainGrpc(lab.parts.endpoints, lab.parts.onLostEnd);
    const flag = (name: string) => bool(name, [1], [true]);
    const ask = { model: lab.parts.models.llmapi, id: 'stop-of-whole-answer', parameters: EMPTY_FINAL };
    const text = bytes('text_input', [1], [promptText(request.prompt, lab.tokenizer)]);
    const long = int32('sampling_param_max_tokens', [1], [lab.parts.budget.longTokens]);
    const running = client.open([inferMessage({ ...ask, inputs: [text, long, flag('return_finish_reason')] })], lab.parts.deadlineMs);
    await sleep(wholeMs * PARTS[i % PARTS.length]!);
    const order = await client.stream([inferMessage({ ...ask, inputs: [text, flag('stop')] })], lab.parts.deadlineMs);
    const reply = await running.reply;
    if (wasWhole(reply)) return MISSED;
    const ended = [order, reply].filter(({ messages }) => messages.some((m) => m.final)).length;
    return ended === 2 ? undefined : `${ended} of 2 requests ended within ${lab.parts.deadlineMs} ms`;
  },
};

/** The answer came as if nobody had stopped it: the stop met nothing. */
function wasWhole({ messages }: StreamReply): boolean {
  return messages.some(({ error, outputs, raw }) => {
    const at = outputs.findIndex(({ name }) => name === 'finish_reason');
    return error === '' && at >= 0 && String(decodeBytesElements(raw[at]!).map((b) => Buffer.from(b))) !== 'cancelled';
  });
}
