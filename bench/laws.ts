/** The laws and the detokenizer by themselves, for information: what their share of a checked token is. */
import { LAWS, answerOf, judge } from '#checks/laws/index.ts';
import { TINY_CHECKPOINT } from '#core/config/index.ts';
import { DEFAULT_PROFILE } from '#core/profile/index.ts';
import { FLAG, TranscriptBuilder, type Transcript } from '#core/transcript/index.ts';
import { loadTokenizer } from '#wire/tokenizer/index.ts';
import { alternate, rates, type Row } from './rounds.ts';
import { ANSWER_IDS, streamCase } from './server-under-load.ts';

const STREAMS = 2000;

export async function lawsBench(): Promise<Row[]> {
  const tokenizer = loadTokenizer(TINY_CHECKPOINT);
  const reference = streamed(0);
  const context = { tokenizer, profile: DEFAULT_PROFILE, reference, truth: answerOf(reference, tokenizer), foreignMarks: ['zzyzx'] };
  const transcript = streamed(0);
  const ids = Array.from(reference.ids);
  const perCpuSecond = async (work: () => void): Promise<number> => {
    const rate = await rates(() => {
      for (let i = 0; i < STREAMS; i++) work();
      return STREAMS * ANSWER_IDS;
    });
    return rate.perCpuSecond;
  };
  const values = await alternate({
    laws: () => perCpuSecond(() => judge([transcript], LAWS, context)),
    transcript: () => perCpuSecond(() => streamed(0)),
    decode: () => perCpuSecond(() => tokenizer.decode(ids, { skipSpecialTokens: true })),
    stream: () =>
      perCpuSecond(() => {
        const decoder = tokenizer.stream();
        for (const id of ids) decoder.push([id]);
        decoder.flush();
      }),
  });
  return [
    { measure: 'laws alone, one raw stream of 400 ids', values: values.laws, unit: 'tokens/s' },
    { measure: 'transcript alone, built and sealed', values: values.transcript, unit: 'tokens/s' },
    { measure: 'detokenizer, whole answers', values: values.decode, unit: 'tokens/s' },
    { measure: 'detokenizer, token by token', values: values.stream, unit: 'tokens/s' },
  ];
}

/** What a server without faults gives for the case. */
function streamed(prompt: number): Transcript {
  const c = streamCase(prompt);
  const ids = c.request.prompt.kind === 'ids' ? c.request.prompt.ids : [];
  const builder = new TranscriptBuilder(c, { ids: Int32Array.from(ids) });
  for (let k = 1; k <= ANSWER_IDS; k++) {
    builder.event(FLAG.data | (k === ANSWER_IDS ? FLAG.final : 0));
    builder.id(6 + ((prompt * 31 + k * 37) % 500));
    builder.sequenceLength(1);
    builder.usage({ promptTokens: ids.length, completionTokens: k });
  }
  return builder.seal('complete');
}
