/** Load generators choose what they ask: what was asked stands in their own records, and is read from there. */
import type { Lab } from '#checks/lab/lab.ts';
import { LockstepError } from '#core/errors/index.ts';
import { sha256 } from '#core/hash/index.ts';
import { canonicalJson } from '#core/json/index.ts';
import type { ChatMessage, Limits, Prompt, Request } from '#core/request/index.ts';

/** What may stand in the inputs of a record: a payload of OpenAI or generate, or tensors by name. */
export interface RecordedInputs {
  readonly messages?: readonly ChatMessage[];
  readonly prompt?: string;
  /** generate takes a list of one text, too. */
  readonly text_input?: string | readonly string[];
  readonly input_ids?: number | readonly number[];
  readonly max_tokens?: number;
  readonly request_output_len?: number;
  /** Of releases before 1.0. */
  readonly min_length?: number;
}

/** The request of a record; greedy, since every client is told so. Errors: `client-record-unread`. */
export function requestFrom(inputs: RecordedInputs): Request {
  const maxTokens = inputs.max_tokens ?? inputs.request_output_len;
  const prompt = promptFrom(inputs);
  if (prompt === undefined || maxTokens === undefined) {
    throw new LockstepError(
      'client-record-unread',
      `a record says nothing of its prompt or limit: ${JSON.stringify(inputs).slice(0, 300)}`,
      {
        hint: "Compare the record with docs/clients.md: the client's format may have changed with its release.",
      },
    );
  }
  const limits: Limits = { maxTokens, ...(inputs.min_length === undefined ? {} : { minTokens: inputs.min_length }) };
  const id = `recorded-${sha256(canonicalJson([prompt, limits])).slice(0, 8)}`;
  return { id, prompt, sampling: { kind: 'greedy' }, limits };
}

function promptFrom({ messages, prompt, text_input: text, input_ids: ids }: RecordedInputs): Prompt | undefined {
  if (messages !== undefined) return { kind: 'messages', messages };
  if (prompt !== undefined) return { kind: 'text', text: prompt };
  if (text !== undefined) return { kind: 'text', text: typeof text === 'string' ? text : (text[0] ?? '') };
  // One id is exported as a number, several as a list.
  if (ids !== undefined) return { kind: 'ids', ids: typeof ids === 'number' ? [ids] : ids };
  return undefined;
}

/** Texts to ask: of every kind of prompt some, as a user of the server would write them. */
export function inGrammarTexts(lab: Lab, label: string, count: number): string[] {
  return lab.plan.draw(`clients:${label}`, lab.count(count)).map((p) => {
    if (p.messages === undefined) return p.text ?? '';
    return lab.tokenizer.applyChatTemplate(p.messages, { addGenerationPrompt: true }).replace('<|bos|>', '');
  });
}

/** The last thing that the user says in them, for tools that make a conversation of one message from a text. */
export function inGrammarMessages(lab: Lab, label: string, count: number): string[] {
  const prompts = lab.plan.draw(`clients:${label}`, lab.count(count), (p) => p.messages?.length === 1 && p.messages[0]?.role === 'user');
  return prompts.map((p) => p.messages![0]!.content);
}
