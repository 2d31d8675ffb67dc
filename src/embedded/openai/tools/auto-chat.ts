/**
 * Chat where the model chooses whether to call a tool: its text is read for calls.
 * Source: _get_streaming_response_delta and _get_chat_completion_response_message, engine/triton_engine.py (r25.05 to main).
 */
import { type AnswerForm, CHAT, chatWhole, deltaChunk } from '../answers.ts';
import { uuid1 } from '../uuid1.ts';
import { type CallDelta, Llama3Stream, type StreamPart, toolCalls } from './llama3-parser.ts';

/** @param limit the most characters that are read for calls while they stream; the answer is cut there */
export function autoToolChat(limit: number): AnswerForm {
  const stream = new Llama3Stream();
  let text = '';
  return {
    ...CHAT,
    overflows: (piece) => Array.from(text).length + Array.from(piece).length > limit,
    cut: (envelope) => deltaChunk(envelope, { content: '' }, 'length'),
    chunk: (envelope, piece, finish) => {
      text += piece;
      const part = stream.push(text, piece);
      if (finish === null) return part === undefined ? undefined : deltaChunk(envelope, delta(part), null);
      if (!stream.called) return deltaChunk(envelope, delta(part ?? { content: '' }), finish);
      const told = part !== undefined && 'call' in part && 'arguments' in part.call ? { call: stream.rest(part.call) } : part;
      return deltaChunk(envelope, delta(told ?? { content: '' }), 'tool_calls');
    },
    whole: (envelope, whole, finish, usage) => {
      const calls = toolCalls(whole);
      if (calls === undefined) return CHAT.whole(envelope, whole, finish, usage);
      const entries = calls.map((call) => ({ id: `cmpl-${uuid1()}`, type: 'function', function: call }));
      const message = { content: '', tool_calls: entries, role: 'assistant', function_call: null };
      return chatWhole(envelope, message, calls.length > 0 ? 'tool_calls' : finish, usage);
    },
  };
}

function delta(part: Exclude<StreamPart, undefined>): object {
  return 'content' in part ? part : { tool_calls: [callChunk(part.call)] };
}

function callChunk(call: CallDelta): object {
  if ('name' in call) return { index: call.index, id: `cmpl-${uuid1()}`, type: 'function', function: { name: call.name } };
  return { index: call.index, function: { arguments: call.arguments } };
}
