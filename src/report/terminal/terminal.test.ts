import { describe, expect, test } from 'vitest';
import type { SideView } from '#checks/lab/result.ts';
import { formatDuration } from './duration.ts';
import { renderSides } from './sides.ts';
import { COLOURED, PLAIN, styleFor } from './style.ts';
import { cellWidth, truncate, visibleToken } from './width.ts';

const side = (name: string, tokens: readonly string[], at: number, text = tokens.join(''), position = at): SideView => ({
  name,
  ids: tokens.map((_, i) => i),
  tokens,
  text,
  at,
  position,
});

describe('sides', () => {
  test('the caret stands under the first differing token, whatever the width of the characters before it', () => {
    const lines = renderSides([side('raw', ['世界', 'é', '🙂', 'x'], 3), side('golden', ['世界', 'é', '🙂', 'yy'], 3)], {
      style: PLAIN,
      columns: 100,
    });
    const before = lines[0]?.slice(0, lines[0].indexOf('x')) ?? '';
    expect(lines.at(-1)?.indexOf('^')).toBe(cellWidth(before));
  });

  test('a window too wide for the terminal is cut around the place', () => {
    const tokens = Array.from({ length: 60 }, (_, i) => `token-number-${i}`);
    const other = tokens.with(30, 'different');
    const lines = renderSides([side('raw', tokens, 30), side('ensemble', other, 30)], { style: PLAIN, columns: 60 });
    expect(Math.max(...lines.map(cellWidth))).toBeLessThanOrEqual(64);
    expect(lines.join('\n')).toContain('different');
  });

  test('an answer that ends early shows its end', () => {
    expect(renderSides([side('raw', ['a', 'b'], 1), side('ensemble', ['a'], 1)], { style: PLAIN, columns: 80 }).join('\n')).toContain('∎');
  });

  test('texts that differ in a blank show it', () => {
    const lines = renderSides([side('raw', [], 0, 'a b', 1), side('chat', [], 0, 'ab', 1)], { style: PLAIN, columns: 80 });
    expect(lines).toEqual(['raw       “a␣b”', 'chat      “ab”', '            ^ character 1']);
  });

  test('the place is counted in the whole answer, not in the part that is shown', () => {
    const window = (last: string) => side('raw', ['a', 'b', last], 2, undefined, 19);
    const lines = renderSides([window('x'), window('y')], { style: PLAIN, columns: 80 });
    expect(lines[0]).toMatch(/^raw +… a /);
    expect(lines.at(-1)).toContain('token 19');
  });

  test('a cut never falls inside a surrogate pair', () => {
    const lines = renderSides([side('raw', [], 0, 'a🙂', 1), side('chat', [], 0, 'a🙃', 1)], { style: PLAIN, columns: 80 });
    expect(lines.at(-1)).toContain('character 1');
    expect(lines.every((line) => line.isWellFormed())).toBe(true);
  });
});

test('widths count cells, not code units', () => {
  expect([cellWidth('abc'), cellWidth('世'), cellWidth('e\u0301'), cellWidth('\u001b[31mx\u001b[39m')]).toEqual([3, 2, 1, 1]);
  expect(truncate('世界世界', 5)).toBe('世界…');
  expect(visibleToken('Ġa\n\u0007')).toBe('␣a⏎\\u0007');
});

test('durations have two digits', () => {
  expect([0.4, 340, 1234, 43_200, 125_000].map(formatDuration)).toEqual(['0 ms', '340 ms', '1.2 s', '43 s', '2 min 5 s']);
});

test('colour is for terminals, and NO_COLOR takes it away', () => {
  expect(styleFor({ isTTY: true }, {})).toBe(COLOURED);
  expect(styleFor({ isTTY: true }, { NO_COLOR: '1' })).toBe(PLAIN);
  expect(styleFor({ isTTY: true }, { TERM: 'dumb' })).toBe(PLAIN);
  expect(styleFor({ isTTY: false }, {})).toBe(PLAIN);
});
