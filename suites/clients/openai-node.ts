/** The openai package for Node as a process of its own: the same job and the same lines as docker/clients/openai_sdk.py. */
import { text } from 'node:stream/consumers';
import OpenAI from 'openai';
import { nowNs } from '#core/clock/index.ts';
import { LockstepError } from '#core/errors/index.ts';

interface Job {
  readonly url: string;
  readonly steps: readonly {
    readonly operation: 'models' | 'ask';
    readonly endpoint: 'chat' | 'completions';
    readonly body: Readonly<Record<string, unknown>>;
    readonly cancel_after: number | null;
  }[];
}

const startNs = nowNs();

function tell(step: number, kind: string, fields: Readonly<Record<string, unknown>> = {}): void {
  process.stdout.write(`${JSON.stringify({ step, kind, atMs: (nowNs() - startNs) / 1e6, ...fields })}\n`);
}

async function ask(client: OpenAI, step: number, { endpoint, body, cancel_after }: Job['steps'][number]): Promise<void> {
  tell(step, 'sent');
  const given = endpoint === 'chat' ? await client.chat.completions.create(body as never) : await client.completions.create(body as never);
  if (!(Symbol.asyncIterator in given)) {
    tell(step, 'response', { payload: given });
    return tell(step, 'end', { ending: 'complete' });
  }
  let seen = 0;
  // Leaving the loop is the package's own way to close a stream.
  for await (const chunk of given as AsyncIterable<unknown>) {
    tell(step, 'response', { payload: chunk });
    if (++seen === cancel_after) return tell(step, 'end', { ending: 'cancelled' });
  }
  tell(step, 'end', { ending: 'complete' });
}

const job = JSON.parse(await text(process.stdin)) as Job;
const client = new OpenAI({ baseURL: `${job.url}/v1`, apiKey: 'none', maxRetries: 0, timeout: 30_000 });
for (const [number, step] of job.steps.entries()) {
  try {
    if (step.operation === 'models') tell(number, 'result', { result: (await client.models.list()).data });
    else await ask(client, number, step);
  } catch (thrown) {
    const known = thrown instanceof OpenAI.APIError ? thrown : undefined;
    const code = known?.status === undefined ? null : String(known.status);
    tell(number, 'error', {
      exception: (thrown as Error).constructor.name,
      code,
      detail: JSON.stringify(known?.error ?? null),
      message: known?.message ?? LockstepError.from(thrown).message,
    });
  }
}
