/**
 * Text and counts out of a response. Source: _get_output, _construct_string_from_pointer and _get_usage_from_response,
 * python/openai/openai_frontend/engine/utils/triton.py (r25.12).
 */
import { elementCount } from '#wire/protocol/tensors.ts';
import type { CoreInferResponse } from '../core/types.ts';
import { ServerFailure } from './server-failure.ts';

/** '' for a flag-only response or one without text_output; cut at the first NUL. Errors: ServerFailure. */
export function outputText(response: CoreInferResponse | undefined): string {
  const output = response?.outputs.find((tensor) => tensor.name === 'text_output');
  if (output === undefined) return '';
  const count = elementCount(output.shape);
  if (count !== 1) throw new ServerFailure(`Expected to find 1 string in the output, found ${count} instead.`);
  if (output.data.byteLength < 4)
    throw new ServerFailure(`Expected string buffer to contain its serialized byte size, but found size of ${output.data.byteLength}.`);
  const bytes = output.data.subarray(4);
  const nul = bytes.indexOf(0);
  return strictUtf8(nul === -1 ? bytes : bytes.subarray(0, nul));
}

function strictUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ServerFailure(utf8Complaint(bytes));
  }
}

/** The text of Python's UnicodeDecodeError. */
function utf8Complaint(bytes: Uint8Array): string {
  for (let at = 0; at < bytes.length;) {
    const first = bytes[at] ?? 0;
    const length =
      first < 0x80 ? 1 : first >= 0xc2 && first <= 0xdf ? 2 : first >= 0xe0 && first <= 0xef ? 3 : first >= 0xf0 && first <= 0xf4 ? 4 : 0;
    if (length === 0) return complaint(bytes, at, at, 'invalid start byte');
    for (let i = 1; i < length; i++) {
      const next = bytes[at + i];
      if (next === undefined) return complaint(bytes, at, at + i - 1, 'unexpected end of data');
      const low = i === 1 && first === 0xe0 ? 0xa0 : i === 1 && first === 0xf0 ? 0x90 : 0x80;
      const high = i === 1 && first === 0xed ? 0x9f : i === 1 && first === 0xf4 ? 0x8f : 0xbf;
      if (next < low || next > high) return complaint(bytes, at, at + i - 1, 'invalid continuation byte');
    }
    at += length;
  }
  return 'invalid UTF-8';
}

function complaint(bytes: Uint8Array, from: number, to: number, reason: string): string {
  const what =
    from === to ? `byte 0x${(bytes[from] ?? 0).toString(16).padStart(2, '0')} in position ${from}` : `bytes in position ${from}-${to}`;
  return `'utf-8' codec can't decode ${what}: ${reason}`;
}

export interface Usage {
  readonly prompt_tokens: number;
  readonly total_tokens: number;
  readonly completion_tokens: number;
}

/** In the key order of the real answers. */
export function usage(promptTokens: number, completionTokens: number): Usage {
  return { prompt_tokens: promptTokens, total_tokens: promptTokens + completionTokens, completion_tokens: completionTokens };
}

/** Null when the model does not return both counts. */
export function responseUsage(response: CoreInferResponse | undefined): Usage | null {
  const prompt = count(response, 'num_input_tokens');
  const completion = count(response, 'num_output_tokens');
  return prompt === undefined || completion === undefined ? null : usage(prompt, completion);
}

function count(response: CoreInferResponse | undefined, name: string): number | undefined {
  const tensor = response?.outputs.find((output) => output.name === name);
  if (tensor === undefined || tensor.data.byteLength < 4) return undefined;
  const view = new DataView(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
  if (tensor.datatype === 'UINT32') return view.getUint32(0, true);
  return tensor.datatype === 'INT32' ? view.getInt32(0, true) : undefined;
}
