import { rngFrom } from '#core/seed/index.ts';
import type { Tokenizer } from '#wire/tokenizer/index.ts';
import type { PoolPrompt } from './plan.ts';

const SUBJECTS = [
  'bread',
  'rain',
  'the moon',
  'chess',
  'a lighthouse',
  'iron',
  'a violin',
  'salt',
  'Lisbon',
  'bees',
  'a glacier',
  'coffee',
];
const PEOPLE = ['Ada', 'Tomás', 'Yuki', 'Olena', 'Kwame', 'Zoë'];

/** What a kind of question asks; the answers differ in length, script and how sure a model is of each word. */
const KINDS: Readonly<Record<string, (subject: string, person: string, n: number) => string>> = {
  question: (subject) => `What is ${subject}? Answer in one sentence.`,
  list: (subject, _, n) => `Name ${3 + (n % 5)} things that have to do with ${subject}, one per line.`,
  count: (_s, _p, n) => `Count from ${n + 2} to ${n + 11}, separated by commas.`,
  sum: (_s, _p, n) => `What is ${17 + 13 * n} plus ${25 + 7 * n}? Answer with the number only.`,
  story: (subject, person) => `Write a story of four sentences about ${person} and ${subject}.`,
  letter: (subject, person) => `Write a short letter from ${person} to a friend about ${subject}.`,
  script: (subject) => `Translate into Japanese, Arabic and Hindi: “${subject}”. Give the three translations only.`,
  emoji: (subject) => `Describe ${subject} with six emoji and no words.`,
  code: (subject) => `Write a Python function that returns a list of words about ${subject}. Code only.`,
  json: (subject, person) =>
    `Give a JSON object with the keys "name" (${person}), "topic" (${subject}) and "tags" (three words). JSON only.`,
  repeat: (subject, person) => `Repeat exactly: ${person} – «${subject}» 👩‍👩‍👧‍👦 e\u0301 ½`,
  choice: (subject, person) => `${person} likes ${subject}. Yes or no: is that a colour?`,
};
const SPLIT: readonly string[] = ['script', 'emoji', 'repeat'];
const PER_KIND = 6;
/** Of the highest ids, where rare tokens and pieces of characters are. */
const RARE_TOKENS = 24;
const RARE_PROMPTS = 4;

/**
 * A first set of prompts for a tokenizer that nobody wrote prompts for: questions of many kinds, as conversations where
 * there is a chat template, and texts that are made of the tokenizer's own rare tokens.
 */
export function ownPrompts(tokenizer: Tokenizer, chat: boolean): readonly PoolPrompt[] {
  const rng = rngFrom(1, 'own-prompts');
  const asked = Object.entries(KINDS).flatMap(([kind, ask]) => {
    const [subjects, people] = [rng.shuffle(SUBJECTS), rng.shuffle(PEOPLE)];
    return Array.from({ length: PER_KIND }, (_, i): PoolPrompt => {
      const content = ask(subjects[i] as string, people[i] as string, i);
      const said = chat ? { messages: [{ role: 'user' as const, content }] } : { text: content };
      return { name: `${kind}-${i + 1}`, kind, ...(SPLIT.includes(kind) ? { split: true } : {}), ...said };
    });
  });
  return [...asked, ...rare(tokenizer)];
}

function rare(tokenizer: Tokenizer): PoolPrompt[] {
  const rng = rngFrom(1, 'rare-tokens');
  const { vocabSize } = tokenizer;
  return Array.from({ length: RARE_PROMPTS }, (_, i): PoolPrompt => {
    const ids = Array.from({ length: RARE_TOKENS }, () => rng.int(Math.floor(vocabSize / 2), vocabSize - 1));
    // A piece of a character alone is no text that anybody sends.
    return { name: `rare-${i + 1}`, kind: 'rare', text: tokenizer.decode(ids).replaceAll('\ufffd', '') };
  }).filter(({ text }) => text !== undefined && text.trim() !== '');
}
