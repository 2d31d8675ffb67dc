/**
 * The classification extension: an output as its top classes, `<value>:<index>` each. Labels are not served.
 * Source: src/classification.cc (2.51).
 */
import { tensorDataToJson } from '#wire/protocol/json-tensors.ts';
import { encodeBytesElements } from '#wire/protocol/tensors.ts';
import { CoreError, type CoreTensor } from '../core/types.ts';

/** @param batched whether the first dimension is the batch, whose rows are classified apart */
export function classified(output: CoreTensor, classes: number, batched: boolean): CoreTensor {
  if (['BYTES', 'BOOL', 'FP16', 'BF16'].includes(output.datatype)) {
    throw new CoreError('INVALID_ARG', `class result not available for output due to unsupported type '${output.datatype}'`);
  }
  const values = tensorDataToJson(output.name, output.datatype, output.shape, output.data).map(Number);
  const rows = batched && output.shape.length > 0 ? (output.shape[0] ?? 1) : 0;
  const perRow = values.length / Math.max(1, rows);
  const count = Math.min(classes, perRow);
  const fraction = output.datatype.startsWith('FP') ? 6 : 0;
  const texts: string[] = [];
  for (let at = 0; at < values.length; at += perRow) {
    const row = values.slice(at, at + perRow).map((value, index) => ({ value, index }));
    row.sort((a, b) => b.value - a.value);
    texts.push(...row.slice(0, count).map(({ value, index }) => `${value.toFixed(fraction)}:${index}`));
  }
  return { name: output.name, datatype: 'BYTES', shape: rows > 0 ? [rows, count] : [count], data: encodeBytesElements(texts) };
}
