/** Models that do as they are told, for what no stock model does: the same contract in Python and in the embedded server. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** One call of the response sender. With both, text and error go into one response. */
export interface Step {
  /** Before the call. */
  readonly waitMs?: number;
  readonly text?: string;
  readonly error?: string;
  /** Only bytes on the way; a step of nothing else is no call. */
  readonly pad?: string;
  /** Alone: the flag without a response. */
  readonly final?: true;
}

const CONFIG = (name: string) => `name: "${name}"
backend: "python"
model_transaction_policy { decoupled: true }
input [{ name: "SCRIPT" data_type: TYPE_STRING dims: [1] }]
output [{ name: "TEXT" data_type: TYPE_STRING dims: [1] }]
instance_group [{ kind: KIND_CPU }]
`;

const PLAYER = `
import json
import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils

FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            script = json.loads(pb_utils.get_input_tensor_by_name(request, "SCRIPT").as_numpy().reshape(-1)[0])
            threading.Thread(target=play, args=(script, request.get_response_sender())).start()
        return None


def play(script, sender):
    for step in script:
        time.sleep(step.get("waitMs", 0) / 1000)
        text, error = step.get("text"), step.get("error")
        flags = FINAL if step.get("final") else 0
        try:
            if text is None and error is None:
                if flags:
                    sender.send(flags=flags)
                continue
            tensors = [] if text is None else [pb_utils.Tensor("TEXT", np.array([text], dtype=object))]
            sender.send(pb_utils.InferenceResponse(tensors, None if error is None else pb_utils.TritonError(error)), flags=flags)
        except pb_utils.TritonModelException:
            pass  # what comes behind FINAL is refused here and nowhere else
`;

/** Long beside what else a load takes: a process of Python. */
export const SLOW_LOAD_MS = 4_000;

const SLOW = `
import time


class TritonPythonModel:
    def initialize(self, args):
        time.sleep(${SLOW_LOAD_MS / 1000})
`;

const BROKEN = `
class TritonPythonModel:
    def initialize(self, args):
        raise RuntimeError("no such thing")
`;

export interface ScriptedRepository extends Disposable {
  readonly path: string;
  /** Puts a model into the repository, not loaded: one whose start takes SLOW_LOAD_MS, or one that cannot start. */
  add(name: string, what: 'slow' | 'broken'): void;
}

/** Holds the one model `script`. */
export function scriptedRepository(): ScriptedRepository {
  const path = mkdtempSync(join(tmpdir(), 'lockstep-scripted-'));
  const write = (name: string, code: string) => {
    mkdirSync(join(path, name, '1'), { recursive: true });
    writeFileSync(join(path, name, 'config.pbtxt'), CONFIG(name));
    writeFileSync(join(path, name, '1', 'model.py'), code);
  };
  write('script', PLAYER);
  return {
    path,
    add: (name, what) => write(name, what === 'slow' ? SLOW : BROKEN),
    [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }),
  };
}
