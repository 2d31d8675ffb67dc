/** Known gaps of trtllm-serve: what running ones were seen to do against a law (docs/observed.md#trtllm-serve). */
import { FLAG, type Transcript, countFlag } from '#core/transcript/index.ts';
import { answered, OPENAI_ROUTES } from './observed.ts';
import { countedWhole, streamedText } from './trtllm-serve.ts';
import { ENGINE_RAN_ON, type Gap, type LawContext } from './types.ts';

const PAGE = 'docs/observed.md#trtllm-serve';
const BOTH: readonly string[] = ['trtllm-serve-1.1', 'trtllm-serve-1.3rc'];
const hasStopWords = (t: Transcript): boolean => (t.case.request.limits.stopWords ?? []).length > 0;
const shownText = (t: Transcript, { truth, tokenizer, profile }: LawContext): string | undefined =>
  truth && streamedText(truth, t.case.request, tokenizer, profile);

/** JSON events of a stream: all but the end marker. */
const jsonEvents = (t: Transcript): number => t.events - countFlag(t, FLAG.done);

export const TRTLLM_SERVE_GAPS: readonly Gap[] = [
  {
    id: 'stop-string-leaks',
    law: 'deltas-equal-whole',
    routes: OPENAI_ROUTES,
    mode: 'stream',
    axis: 'openai',
    releases: BOTH,
    deviation: 'What a stop string of several tokens begins with was shown before the string was known.',
    thread: PAGE,
    listed: ({ openai, models }) => openai.trtllmServe !== undefined && !models.torch.streamHoldsBackStopStrings.value,
    shows: (t, context) => answered(t) && hasStopWords(t) && shownText(t, context) !== context.truth?.text,
    explains: (t, _violation, context) => hasStopWords(t) && t.text === shownText(t, context),
  },
  {
    id: 'id-per-chunk',
    law: 'request-id-echoed',
    routes: OPENAI_ROUTES,
    mode: 'stream',
    axis: 'openai',
    releases: ['trtllm-serve-1.1'],
    deviation: 'Every chunk of a stream has an id of its own.',
    thread: 'NVIDIA/TensorRT-LLM#14708',
    listed: ({ openai }) => openai.trtllmServe?.idPerChunk.value === true,
    shows: (t) => jsonEvents(t) > 1,
    explains: (t) => t.foreignIds.length === jsonEvents(t) - 1 && new Set(t.foreignIds).size === t.foreignIds.length,
  },
  {
    id: 'usage-chunk-is-chat',
    law: 'one-object',
    routes: ['openai-completions'],
    mode: 'stream',
    axis: 'openai',
    releases: ['trtllm-serve-1.1'],
    deviation: 'The usage chunk of a completions stream is a chat.completion.chunk.',
    thread: PAGE,
    listed: ({ openai }) => openai.trtllmServe?.completionsUsageIsChat.value === true,
    shows: (t) => t.usage !== undefined,
    explains: (t) => t.objects.join() === 'text_completion,chat.completion.chunk',
  },
  {
    id: 'usage-counts-eos',
    law: 'usage-counts',
    routes: OPENAI_ROUTES,
    mode: 'both',
    axis: 'models',
    releases: ['1.0', '1.2'],
    deviation: 'completion_tokens counts the EOS that ended the answer.',
    thread: 'docs/observed.md#torch-path',
    listed: ({ openai, models }) => openai.trtllmServe !== undefined && models.torch.usageCountsEos.value,
    shows: (t, { truth }) => answered(t) && truth?.finish === 'eos',
    explains: (t, _violation, { truth }) => truth?.finish === 'eos' && t.usage?.completionTokens === truth.ids.length + 1,
  },
  {
    id: 'usage-counts-past-stop',
    law: 'usage-counts',
    routes: OPENAI_ROUTES,
    mode: 'unary',
    axis: 'openai',
    releases: BOTH,
    deviation: 'Where a stop string is met by its text, the engine goes on to its end, and all that it gave is counted.',
    thread: PAGE,
    listed: ({ openai }) => openai.trtllmServe?.usageCountsPastStop.value === true,
    shows: (t, context) => answered(t) && counted(t, context) !== context.truth?.ids.length,
    explains: (t, _violation, context) => hasStopWords(t) && t.usage?.completionTokens === counted(t, context),
  },
  {
    id: 'disconnect-polled',
    law: 'cancel-frees',
    routes: OPENAI_ROUTES,
    mode: 'both',
    axis: 'openai',
    releases: BOTH,
    deviation:
      'Whether the client is still there is asked at whole seconds of the request only, so the engine goes on until then, or to its end.',
    thread: PAGE,
    listed: ({ openai }) => (openai.trtllmServe?.disconnectPollMs.value ?? 0) > 0,
    shows: (t) => t.ending === 'cancelled',
    explains: (_t, violation) => violation.code === ENGINE_RAN_ON || violation.code === 'stopped-late',
  },
];

function counted(t: Transcript, { truth, tokenizer, profile }: LawContext): number | undefined {
  return truth && countedWhole(truth, t.case.request, tokenizer, profile);
}
