import { expect, test } from 'vitest';
import { findLoadFailure } from './load-failure.ts';

// As tritonserver 2.51 writes it.
test('why a model did not load is found in the log, with all of its lines', () => {
  const log = [
    'I1201 14:00:00.000000 1 model_lifecycle.cc:472] "loading: broken:1"',
    `E1201 14:00:01.000000 1 model_lifecycle.cc:642] "failed to load 'broken' version 1: Internal: ModuleNotFoundError: No module named 'nope'`,
    '',
    'At:',
    '  /models/broken/1/model.py(1): <module>',
    '"',
    'I1201 14:00:01.000001 1 model_lifecycle.cc:777] "failed to load \'broken\'"',
  ];
  expect(findLoadFailure(log)).toEqual({
    model: 'broken',
    reason: "Internal: ModuleNotFoundError: No module named 'nope'\n\nAt:\n  /models/broken/1/model.py(1): <module>",
  });
  expect(findLoadFailure(log.slice(0, 1))).toBeUndefined();
  const others = [
    `E1201 14:56:50.083311 1 model_repository_manager.cc:724] "failed to load model 'bad': at least one version must be available under the version policy of model 'bad'"`,
    '[libprotobuf ERROR /tmp/x/text_format.cc:337] Error parsing text-format inference.ModelConfig: 2:17: Expected integer, got: zero',
    `E1201 14:56:52.139500 1 model_repository_manager.cc:1460] "Poll failed for model directory 'worse': failed to read text proto from /models/worse/config.pbtxt"`,
    'error: creating server: Internal - failed to load all models',
  ];
  expect(findLoadFailure(others)).toEqual({
    model: 'bad',
    reason: "at least one version must be available under the version policy of model 'bad'",
  });
  expect(findLoadFailure(others.slice(1))).toEqual({
    model: 'worse',
    reason: 'failed to read text proto from /models/worse/config.pbtxt: 2:17: Expected integer, got: zero',
  });
});
