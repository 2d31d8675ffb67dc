import { describe, expect, test } from 'vitest';
import { jsonDouble } from './json-double.ts';
import { JsonSyntaxError, readJson } from './json-reader.ts';
import { jsonToTensorData, tensorDataToJson } from './json-tensors.ts';
import type { WritableJson } from './json-value.ts';
import { writeJson } from './json-writer.ts';

describe('doubles', () => {
  // Printed by a real tritonserver 2.51.0 for FP32 outputs.
  test.each([
    [Math.fround(0.1), '0.10000000149011612'],
    [Math.fround(3.4e38), '3.3999999521443644e38'],
    [Math.fround(1e30), '1.0000000150474662e30'],
    [Math.fround(1e-7), '1.0000000116860974e-7'],
    [-1.6933884620666504, '-1.6933884620666505'],
    [-0.9045124650001526, '-0.9045124650001526'],
    [16777216, '16777216.0'],
    [123456792, '123456792.0'],
    [-0, '-0.0'],
    [1, '1.0'],
    [Number.NaN, 'NaN'],
    [-Infinity, '-Infinity'],
  ])('%d is %s', (value, text) => {
    expect(jsonDouble(value)).toBe(text);
  });

  test('read back as the same double', () => {
    const bits = new DataView(new ArrayBuffer(4));
    const values = Array.from({ length: 20000 }, (_, i) => {
      bits.setUint32(0, Math.imul(i, 2654435761));
      return bits.getFloat32(0);
    }).filter(Number.isFinite);
    expect(values.map((value) => Number(jsonDouble(value)))).toEqual(values);
  });
});

describe('reader', () => {
  test('keeps integers apart from fractions and knows NaN', () => {
    expect(readJson(Buffer.from('[5, 5.0, 18446744073709551615, NaN, -Infinity, Inf, "\\ud83d\\ude00\\n"]'))).toEqual([
      5n,
      5,
      18446744073709551615n,
      Number.NaN,
      -Infinity,
      Infinity,
      '\u{1f600}\n',
    ]);
  });

  test('of two equal keys the first wins', () => {
    expect(readJson(Buffer.from('{"a":1,"a":2}'))).toEqual(new Map([['a', 1n]]));
  });

  // Texts and offsets of a real tritonserver 2.51.0.
  test.each([
    ['', 'The document is empty. at 0'],
    ['{"a":}', 'Invalid value. at 5'],
    ['{"a":Nan}', 'Invalid value. at 7'],
    ['{"a":1 "b":2}', "Missing a comma or '}' after an object member. at 7"],
    ['[1 2]', "Missing a comma or ']' after an array element. at 3"],
    ['{"a":"x', 'Missing a closing quotation mark in string. at 7'],
    ['{"a":"\u0001"}', 'Invalid escape character in string. at 6'],
  ])('%j: %s', (text, message) => {
    expect(() => readJson(Buffer.from(text))).toThrow(
      new JsonSyntaxError(message.replace(/ at \d+$/, ''), Number(/\d+$/.exec(message)?.[0])),
    );
  });
});

describe('writer', () => {
  test('escapes only what RapidJSON escapes, and lets bytes through that are no UTF-8', () => {
    expect(writeJson(['é/\u2028\u007f\u001f"\\', Uint8Array.of(0xff, 0x41)]).toString('latin1')).toBe(
      `["${Buffer.from('é/\u2028\u007f').toString('latin1')}\\u001F\\"\\\\","\u00ffA"]`,
    );
  });

  test('integers and fractions stay what they are', () => {
    expect(
      writeJson(
        new Map<string, WritableJson>([
          ['i', 5n],
          ['d', 5],
        ]),
      ).toString(),
    ).toBe('{"i":5,"d":5.0}');
  });
});

describe('tensors', () => {
  test('integers that do not fit wrap', () => {
    const data = jsonToTensorData('X', 'INT32', [[3000000000n], [-1n]], 2);
    expect(tensorDataToJson('X', 'INT32', [2, 1], data)).toEqual([-1294967296n, -1n]);
  });

  // Bytes, and what a lone surrogate becomes, as tritonserver 2.51.0 hands them to a Python model.
  test.each([
    ['a byte that begins nothing', 'a\xffb', 'a\xffb'],
    ['the beginning of a character', '\xe6\x97', '\xe6\x97'],
    ['a surrogate, and a character behind it', '\xed\xb2\x80\xe6\x97\xa5', '\xed\xb2\x80\xe6\x97\xa5'],
    ['an overlong form', '\xc0\x80', '\xc0\x80'],
    ['an escape of a lone low surrogate', '\\udc80', '\xed\xb2\x80'],
    ['pieces around an escape', '\xe6\\n\x97\xa5', '\xe6\n\x97\xa5'],
    ['four bytes', '\xf0\x9f\x98\x80', '\xf0\x9f\x98\x80'],
  ])('strings keep their bytes: %s', (_, written, kept) => {
    const value = readJson(Buffer.from(`"${written}"`, 'latin1'));
    expect(
      Buffer.from(jsonToTensorData('X', 'BYTES', value, 1))
        .subarray(4)
        .toString('latin1'),
    ).toBe(kept);
  });

  test('FP16 has no JSON form', () => {
    expect(() => tensorDataToJson('X', 'FP16', [1], new Uint8Array(2))).toThrow(
      'sending FP16 data via JSON is not supported. Please use the binary data format for output',
    );
  });

  test('too many and too few elements are refused', () => {
    for (const count of [1, 3]) {
      expect(() => jsonToTensorData('X', 'FP32', [1n, 2], count)).toThrow(
        "Unable to parse 'data': Shape does not match true shape of 'data' field",
      );
    }
  });
});
