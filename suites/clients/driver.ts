import { join } from 'node:path';
import { PACKAGE_ROOT } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import type { Lab } from '#checks/lab/lab.ts';
import { clientEnvironment, runClient } from '#targets/clients/index.ts';

/** One line of a driver (docker/clients/job.py): what the client itself gave, and when. */
export interface Line {
  readonly step: number;
  readonly kind: 'sent' | 'response' | 'error' | 'end' | 'result';
  /** Since the driver began. */
  readonly atMs: number;
  /** Of a response: the id that the client read in it. */
  readonly request?: string;
  readonly final?: boolean | null;
  readonly outputs?: readonly TensorLine[];
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly ending?: 'complete' | 'cancelled' | 'deadline';
  /** Of an error: the client's class, status and text. */
  readonly exception?: string;
  readonly code?: string | null;
  readonly message?: string;
  /** The body of the answer, where the client keeps it. */
  readonly detail?: string;
  readonly result?: unknown;
}

/** A tensor as lines and jobs carry it: raw little-endian elements in base64. */
export interface TensorLine {
  readonly name: string;
  readonly datatype: string;
  readonly shape: readonly number[];
  readonly data: string;
}

export type Step = Readonly<Record<string, unknown>> & { readonly operation: string };

/** Drivers by the name of their file in docker/clients; `openai-node` is the one that is no Python. */
export type Driver = 'triton_grpc' | 'triton_grpc_aio' | 'triton_http' | 'openai_sdk' | 'openai-node';

const WITHIN_MS = 60_000;
const NODE_DRIVER = join(import.meta.dirname, 'openai-node.ts');

/** Runs the steps in one process of the client, and gives its lines step by step. */
export async function runDriver(
  lab: Lab,
  driver: Driver,
  url: string,
  steps: readonly Step[],
  more: Readonly<Record<string, unknown>> = {},
): Promise<readonly (readonly Line[])[]> {
  const { signal } = lab;
  const [program, file] =
    driver === 'openai-node'
      ? [process.execPath, NODE_DRIVER]
      : [(await clientEnvironment('libraries', signal)).python, join(PACKAGE_ROOT, 'docker/clients', `${driver}.py`)];
  const input = JSON.stringify({ url, steps, ...more });
  const output = await runClient({ program, args: [file], name: driver, ms: WITHIN_MS, signal, input });
  const lines = output.trimEnd().split('\n').map(lineOf);
  return steps.map((_, step) => lines.filter((l) => l.step === step));
}

function lineOf(text: string): Line {
  try {
    return JSON.parse(text) as Line;
  } catch (thrown) {
    throw new LockstepError('client-failed', `a line of the driver is no JSON: ${text.slice(0, 200)}`, { cause: thrown });
  }
}
