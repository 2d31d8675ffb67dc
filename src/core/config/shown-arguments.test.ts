import { expect, test } from 'vitest';
import { shownArguments } from './shown-arguments.ts';

test('keys of restricted APIs are not shown, and everything else is', () => {
  const args = [
    '--grpc-restricted-protocol=inference:key=secret',
    '--log-verbose=1',
    '--openai-restricted-api',
    'inference',
    'x',
    'secret',
    '--host',
    'h',
  ];
  expect(shownArguments(args)).toEqual([
    '--grpc-restricted-protocol=…',
    '--log-verbose=1',
    '--openai-restricted-api',
    '…',
    '…',
    '…',
    '--host',
    'h',
  ]);
});
