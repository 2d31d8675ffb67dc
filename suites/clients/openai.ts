/** The openai packages for Python and for Node: the same uses, the same laws. */
import type { Lab } from '#checks/lab/lab.ts';
import { inParallel } from '#checks/lab/in-parallel.ts';
import { requestOf } from '#checks/lab/plan.ts';
import { ROUTES } from '#checks/routes/index.ts';
import { openAiBody } from '#checks/routes/openai-request.ts';
import { promptText } from '#checks/routes/prompt.ts';
import type { Case, Request } from '#core/request/index.ts';
import { type Driver, type Step, runDriver } from './driver.ts';
import { payloadTranscript } from './transcripts.ts';
import { type Recorded, type Use, contextOf } from './use.ts';

type OpenAiRoute = 'openai-completions' | 'openai-chat';
export type OpenAiDriver = Extract<Driver, 'openai_sdk' | 'openai-node'>;

const COUNT = 20;
const LEAVE_AFTER = 3;

export function openAiRequests(lab: Lab, route: OpenAiRoute, label: string, count = COUNT): Request[] {
  const carried = (request: Request) => ROUTES[route].cannotCarry({ request, route, mode: 'stream', repeat: 0 }) === undefined;
  return lab.plan
    .draw(`clients:${label}`, lab.count(count), route === 'openai-chat' ? (p) => p.messages !== undefined : undefined)
    .map((p, i) => requestOf(p, { maxTokens: i % 4 === 3 ? 3 : 40 }, i % 4 === 3 ? '-cut' : ''))
    .filter(carried);
}

/** The body that the suite's own routes send: greedy, usage asked for in streams. */
export function openAiRequestBody(lab: Lab, c: Case): Readonly<Record<string, unknown>> {
  const { prompt } = c.request;
  const asked =
    c.route === 'openai-chat' && prompt.kind === 'messages' ? { messages: prompt.messages } : { prompt: promptText(prompt, lab.tokenizer) };
  return { ...asked, ...openAiBody(c, contextOf(lab)) };
}

async function answers(lab: Lab, driver: OpenAiDriver, route: OpenAiRoute, mode: Case['mode'], left = false): Promise<Recorded> {
  const requests = left
    ? lab.plan
        .draw('clients:long', lab.count(3, 1), (p) => p.long === true && p.messages !== undefined)
        .map((p) => requestOf(p, { maxTokens: 200 }, '-left'))
    : openAiRequests(lab, route, `${driver}-${route}-${mode}`);
  const cases = requests.map((request): Case => ({ request, route, mode, repeat: 0 }));
  const steps = cases.map((c): Step => ({
    operation: 'ask',
    endpoint: route === 'openai-chat' ? 'chat' : 'completions',
    body: openAiRequestBody(lab, c),
    cancel_after: left ? LEAVE_AFTER : null,
  }));
  const lines = await runDriver(lab, driver, lab.parts.endpoints.openai!, steps);
  return {
    cases: await inParallel(cases, 4, async (c, i) => ({
      transcript: payloadTranscript(c, lines[i]!, {
        id: '',
        ...(route === 'openai-chat' ? {} : { text: promptText(c.request.prompt, lab.tokenizer) }),
      }),
      truth: await lab.truthOn(c.request, route),
      ...(left ? { cancelAfter: LEAVE_AFTER } : {}),
    })),
  };
}

const COMMON = ['answers-at-all', 'finish-reason-true', 'usage-counts', 'prompt-ids', 'no-control-text', 'count-limit'];
const WHOLE = [...COMMON, 'text-is-true-decode'];
const STREAM = [...COMMON, 'deltas-equal-whole', 'no-empty-event', 'no-broken-utf8', 'eos-ending', 'length-ending'];

function uses(client: string, driver: OpenAiDriver, title: string): readonly Use[] {
  return [
    {
      id: `${client}-completions`,
      statement: `${title}: completions answers whole with text and usage of the engine's ids.`,
      routes: ['openai-completions'],
      laws: WHOLE,
      run: (lab) => answers(lab, driver, 'openai-completions', 'unary'),
      control: { fault: 'usage-null-trtllm', law: 'usage-counts' },
    },
    {
      id: `${client}-completions-stream`,
      statement: `${title}: the chunks of a completion are what the laws say.`,
      routes: ['openai-completions'],
      laws: STREAM,
      run: (lab) => answers(lab, driver, 'openai-completions', 'stream'),
      control: { fault: 'openai-default-max-tokens-16', law: 'deltas-equal-whole' },
    },
    {
      id: `${client}-chat`,
      statement: `${title}: chat answers whole with text and usage of the engine's ids.`,
      routes: ['openai-chat'],
      laws: WHOLE,
      run: (lab) => answers(lab, driver, 'openai-chat', 'unary'),
      control: { fault: 'openai-frontend-empty-content', law: 'text-is-true-decode' },
    },
    {
      id: `${client}-chat-stream`,
      statement: `${title}: the chunks of a chat answer are what the laws say, the role first.`,
      routes: ['openai-chat'],
      laws: [...STREAM, 'role-first'],
      run: (lab) => answers(lab, driver, 'openai-chat', 'stream'),
      control: { fault: 'chat-stream-without-role', law: 'role-first' },
    },
    {
      id: `${client}-close`,
      statement: `${title}: a stream that is closed early has given a beginning of the whole answer.`,
      routes: ['openai-completions'],
      laws: ['cancel-stops'],
      run: (lab) => answers(lab, driver, 'openai-completions', 'stream', true),
      control: { fault: 'stream-no-spaces-ensemble', law: 'cancel-stops' },
    },
  ];
}

/** TensorRT-LLM's own front end in the place of Triton's. */
export const TRTLLM_SERVE = 'openai=trtllm-serve-1.1';
/** A defect of the engine: those of Triton's front end are not in this one. */
export const SERVE_CONTROL: Use['control'] = { fault: 'stream-repeats-last-token-with-endid', law: 'eos-ending' };

function onTrtllmServe(all: readonly Use[]): readonly Use[] {
  return all
    .filter((use) => use.laws.includes('deltas-equal-whole'))
    .map((use) => ({
      ...use,
      id: `${use.id}-trtllm-serve`,
      statement: `${use.statement.slice(0, -1)}; from trtllm-serve.`,
      profile: TRTLLM_SERVE,
      control: SERVE_CONTROL,
    }));
}

const PYTHON = uses('openai-python', 'openai_sdk', 'openai for Python');
const NODE = uses('openai-node', 'openai-node', 'openai for Node');

export const OPENAI_PYTHON: readonly Use[] = [...PYTHON, ...onTrtllmServe(PYTHON)];
export const OPENAI_NODE: readonly Use[] = [...NODE, ...onTrtllmServe(NODE)];
