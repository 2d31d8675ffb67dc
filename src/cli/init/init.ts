/** `lockstep init`: finds out what there is, and writes a configuration and a first set of prompts for it. */
import { existsSync, statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { findConfigFile, nearest, PACKAGE_ROOT, resolveSettings, type Settings } from '#core/config/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { writeFileAtomic } from '#core/files/index.ts';
import { quoted as quotedWord } from '#checks/lab/replay-command.ts';
import { ownPrompts } from '#checks/lab/own-prompts.ts';
import { connectEngine, kindOfReference } from '#targets/docker/index.ts';
import { readEngineFolder } from '#targets/repository/index.ts';
import { loadTokenizer, type Tokenizer } from '#wire/tokenizer/index.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { choose, shown } from './choose.ts';
import { findFolders, findRunning } from './find.ts';

const CONFIG = 'lockstep.config.ts';
const PROMPTS = 'lockstep.prompts.json';
/** Where a repository is made when there is none. */
const MODELS = './models';

/** A line of the configuration: setting, value, and how it is known. */
type Line = readonly [setting: string, value: unknown, why: string];

export async function init(context: CommandContext): Promise<number> {
  const { flags, env, cwd, terminal } = context;
  if (flags.positionals.length > 0) {
    const meant = nearest(flags.positionals[0] as string, ['--engine-dir', '--tokenizer', '--image']);
    throw new LockstepError('action-unknown', `init takes no ${flags.positionals[0]}`, {
      hint: meant === undefined ? 'Name folders by flags: --engine-dir DIR --tokenizer DIR.' : `Did you mean ${meant}?`,
    });
  }
  const existing = [findConfigFile(cwd), join(cwd, PROMPTS)].find((path) => path !== undefined && existsSync(path));
  if (existing !== undefined) {
    throw new LockstepError('init-exists', `${shown(existing, cwd)} is there already, and nothing is written over it`, {
      hint: 'Edit it, or move it away and run this again.',
    });
  }
  const settings = await resolveSettings({ command: 'init', flags: flags.layer, env, cwd, signal: context.signal });
  const lines = await linesOf(settings, context);
  const folder = lines.find(([name]) => name === 'tokenizer')?.[1] as string;
  const tokenizer = loadTokenizer(resolve(cwd, folder));
  const prompts = ownPrompts(tokenizer, hasTemplate(tokenizer));
  writeFileAtomic(join(cwd, PROMPTS), `[\n${prompts.map((prompt) => `  ${JSON.stringify(prompt)}`).join(',\n')}\n]\n`);
  const all: readonly Line[] = [
    ...lines,
    ['prompts', `./${PROMPTS}`, `${prompts.length} prompts for this tokenizer; add your own`],
    ['goldens', './goldens', 'accepted answers, to be committed'],
  ];
  writeFileAtomic(join(cwd, CONFIG), configText(all, !relative(PACKAGE_ROOT, cwd).startsWith('..')));
  const width = Math.max(...all.map(([name]) => name.length));
  for (const [name, value, why] of all) terminal.out(`${name.padEnd(width)}  ${JSON.stringify(value)}  (${why})`);
  terminal.out('');
  terminal.out(`written: ${CONFIG}, ${PROMPTS}`);
  const next = [
    ...missingRepository(lines, cwd),
    'npx lockstep doctor             what is missing on this host',
    'npx lockstep goldens record     the first accepted answers',
    'npx lockstep check              the suite against them',
  ];
  for (const [i, line] of next.entries()) terminal.out(`${i === 0 ? 'next:    ' : '         '}${line}`);
  return EXIT.held;
}

/** The command that makes the repository, where the configuration names one that is not there. */
function missingRepository(lines: readonly Line[], cwd: string): readonly string[] {
  const value = (setting: string) => lines.find(([name]) => name === setting)?.[1] as string | undefined;
  const [repository, engineDir, tokenizer] = [value('repository'), value('engineDir'), value('tokenizer')];
  if (repository === undefined || engineDir === undefined || tokenizer === undefined || existsSync(resolve(cwd, repository))) return [];
  return [
    `npx lockstep repository create --engine-dir ${quotedWord(engineDir)} --tokenizer ${quotedWord(tokenizer)} --output ${quotedWord(repository)} --nvidia-models DIR`,
    '                                (DIR: /app/all_models of the image; docs/gpu-ci.md)',
  ];
}

/** Errors: `init-nothing-found`, `init-ambiguous`, those of engines and tokenizers. */
async function linesOf(settings: Settings, { cwd, env, signal }: CommandContext): Promise<readonly Line[]> {
  const found = findFolders(cwd);
  const given = (value: string | undefined, flag: string) => (value === undefined ? undefined : requireFolder(resolve(cwd, value), flag));
  const engineDir = given(settings.engineDir, '--engine-dir') ?? choose('engine folder', '--engine-dir', found.engines, cwd);
  const repository = given(settings.repository, '--repository') ?? choose('model repository', '--repository', found.repositories, cwd);
  const tokenizer = given(settings.tokenizer, '--tokenizer') ?? choose('tokenizer', '--tokenizer', found.tokenizers, cwd);
  const running = engineDir === undefined && repository === undefined ? await addressesOf(settings, signal) : undefined;
  if (engineDir === undefined && repository === undefined && running === undefined) {
    throw new LockstepError(
      'init-nothing-found',
      'there is no engine folder and no model repository below this folder, and no Triton answers at 127.0.0.1:8000',
      {
        hint: 'Name what you serve: --engine-dir DIR and --tokenizer DIR, or --grpc and --http of a running server.',
      },
    );
  }
  if (tokenizer === undefined) {
    throw new LockstepError('init-nothing-found', 'there is no folder with tokenizer.json below this one', {
      hint: 'Add --tokenizer DIR: the folder of the checkpoint that is served, with tokenizer.json and tokenizer_config.json.',
    });
  }
  const why = (value: string | undefined, flag: string | undefined) =>
    flag === undefined ? `found at ${shown(value ?? '', cwd)}` : 'as you said';
  const tokenizerLine: Line = ['tokenizer', shown(tokenizer, cwd), why(tokenizer, settings.tokenizer)];
  if (running !== undefined) return [['target', running.target, running.why], ...running.lines, tokenizerLine];
  const engine = engineDir === undefined ? undefined : readEngineFolder(engineDir);
  return [
    ['target', 'docker', 'a container of this host with what is named below'],
    ...(await imageLine(settings.image, env, signal)),
    ...(engine === undefined
      ? []
      : ([
          [
            'engineDir',
            shown(engine.folder, cwd),
            `${why(engineDir, settings.engineDir)}, built by TensorRT-LLM ${engine.version ?? 'unknown'}`,
          ],
        ] as const)),
    repository === undefined
      ? ['repository', MODELS, 'which `lockstep repository create` makes']
      : ['repository', shown(repository, cwd), why(repository, settings.repository)],
    tokenizerLine,
  ];
}

/** Errors: `folder-missing`. */
function requireFolder(path: string, flag: string): string {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true) return path;
  throw new LockstepError('folder-missing', `${flag} must be a folder, and ${path} is ${existsSync(path) ? 'none' : 'not there'}`, {
    hint: 'Correct the path, or leave the flag out and let init look for it.',
  });
}

async function addressesOf(
  settings: Settings,
  signal: AbortSignal,
): Promise<{ readonly target: string; readonly why: string; readonly lines: readonly Line[] } | undefined> {
  const { grpc, http, metrics, openai } = settings;
  const said = (entries: readonly (readonly [string, string | undefined])[]) =>
    entries.flatMap(([name, value]): Line[] => (value === undefined ? [] : [[name, value, 'as you said']]));
  if (openai !== undefined && grpc === undefined && http === undefined) {
    return { target: 'openai', why: 'only an OpenAI endpoint is named', lines: said([['openai', openai]]) };
  }
  if (grpc !== undefined && http !== undefined) {
    return { target: 'external', why: 'its addresses are named', lines: said(Object.entries({ grpc, http, metrics, openai })) };
  }
  const here = await findRunning(signal);
  if (here === undefined) return undefined;
  const lines = Object.entries(here).map(([name, value]): Line => [name, value, 'it answers there']);
  return { target: 'external', why: 'a Triton runs on this host', lines };
}

/** The one image of the engine that has a tritonserver in it, by digest where it came from a registry. */
async function imageLine(named: string | undefined, env: CommandContext['env'], signal: AbortSignal): Promise<readonly Line[]> {
  if (named !== undefined)
    return [
      ['image', named, kindOfReference(named) === 'tag' ? 'as you said; a tag is refused, so replace it by NAME@sha256:…' : 'as you said'],
    ];
  try {
    const { docker } = await connectEngine(env, signal);
    const images = await docker.listImages({ filters: JSON.stringify({ label: ['com.nvidia.tritonserver.version'] }) });
    if (images.length !== 1)
      return [
        [
          'image',
          PLACEHOLDER,
          images.length === 0
            ? 'the engine has no image of tritonserver: name yours'
            : `the engine has ${images.length} images of tritonserver: name one`,
        ],
      ];
    const [image] = images;
    return [['image', image?.RepoDigests?.[0] ?? image?.Id, 'the one image of tritonserver on the engine']];
  } catch {
    return [['image', PLACEHOLDER, 'no Docker engine answers here: name the image by its digest']];
  }
}

const PLACEHOLDER = 'nvcr.io/nvidia/tritonserver@sha256:…';

function hasTemplate(tokenizer: Tokenizer): boolean {
  try {
    tokenizer.applyChatTemplate([{ role: 'user', content: 'hello' }], { addGenerationPrompt: true });
    return true;
  } catch {
    return false;
  }
}

/** Outside of a checkout nothing is called `lockstep`, and plain data does as well. */
function configText(lines: readonly Line[], inCheckout: boolean): string {
  const fields = lines.map(([name, value, why]) => `  // ${why.replaceAll(/\s+/g, ' ')}\n  ${name}: ${quoted(value)},`);
  const body = `{\n${fields.join('\n')}\n}`;
  return inCheckout ? `import { defineConfig } from 'lockstep';\n\nexport default defineConfig(${body});\n` : `export default ${body};\n`;
}

function quoted(value: unknown): string {
  return typeof value === 'string' && !/[\r\n\u2028\u2029]/.test(value)
    ? `'${value.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
    : JSON.stringify(value);
}
