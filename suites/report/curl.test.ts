/** The curl line of a failure, run by a shell against a server, gives the answer that the route gave. */
import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { curlOf } from '#checks/routes/curl.ts';
import { ROUTES } from '#checks/routes/index.ts';
import { TOKENIZER, caseOn, contextOf } from '#checks/routes/testing.ts';
import { PACKAGE_ROOT, defaultSettings, toRunConfig } from '#core/config/index.ts';
import { ROUTE_IDS, type Prompt, type RouteId } from '#core/request/index.ts';
import { startTarget, type Target } from '#targets/index.ts';

let target: Target;
beforeAll(async () => {
  target = await startTarget(toRunConfig(defaultSettings(), PACKAGE_ROOT));
}, 60_000);
afterAll(() => target?.stop());

const PROMPT: Prompt = { kind: 'messages', messages: [{ role: 'user', content: "Göran asks: it's `x` $HOME, which way to Lund?" }] };
const TEXT: Prompt = { kind: 'text', text: "<|user|>Göran asks: it's `x` $HOME, which way to Lund?<|assistant|>" };

/** The answer in what curl printed: one JSON object, or the events of a stream; ids where ids are served. */
function answerIn(printed: string): { readonly text: string; readonly ids: readonly number[] } {
  const events = printed.startsWith('data:')
    ? printed.split('\n').flatMap((line) => (line.startsWith('data: {') ? [line.slice('data: '.length)] : []))
    : [printed];
  const parts = events.map((event) => JSON.parse(event) as Record<string, unknown>);
  const choice = (part: Record<string, unknown>) =>
    (part['choices'] as readonly { text?: string; delta?: { content?: string }; message?: { content?: string } }[] | undefined)?.[0];
  const texts = parts.map((part) => {
    const c = choice(part);
    return (part['text_output'] as string | undefined) ?? c?.text ?? c?.delta?.content ?? c?.message?.content ?? '';
  });
  return { text: texts.join(''), ids: parts.flatMap((part) => [part['output_ids'] ?? []].flat() as number[]) };
}

/** Routes whose streams tell the whole text each time. */
const WHOLE: readonly RouteId[] = ['bls-accumulate', 'llmapi'];

test.each(ROUTE_IDS.flatMap((route) => (['stream', 'unary'] as const).map((mode) => ({ route, mode }))))(
  '$route, $mode',
  async ({ route, mode }) => {
    await using context = contextOf(target.endpoints);
    const c = caseOn(route, { mode, prompt: route === 'openai-completions' ? TEXT : PROMPT, limits: { maxTokens: 12 } });
    const t = await ROUTES[route].run(c, context, { deadlineMs: 20_000 });
    const command = curlOf(c, context, { http: `http://${target.endpoints.http}`, openai: target.endpoints.openai ?? '' });
    const { stdout, stderr } = spawnSync('bash', ['-c', command ?? ''], { encoding: 'utf8', timeout: 20_000 });
    // Over HTTP a decoupled model answers a request that is not streamed through generate_stream alone.
    if (stdout.includes('error')) throw new Error(`${command}\n${stdout}${stderr}`);
    const { text, ids } = answerIn(stdout);
    const whole = WHOLE.includes(route) && mode === 'stream';
    const [seen, told] =
      route === 'raw' ? [ids.slice(0, t.ids.length).join(), t.ids.join()] : [whole ? text.slice(-t.text.length) : text, t.text];
    expect(seen).toBe(told);
    expect(told.length).toBeGreaterThan(2);
  },
);

test('what JSON cannot carry has no line', () => {
  const context = { ...contextOf({}), tokenizer: TOKENIZER };
  const c = caseOn('raw', { limits: { maxTokens: 4, stopWords: ['a', 'b'] } });
  expect(curlOf(c, context, { http: '', openai: '' })).toBeUndefined();
});
