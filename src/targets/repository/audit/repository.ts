/** The knobs of a model repository, file by file. */
import { existsSync } from 'node:fs';
import { isAbsolute, join, resolve } from 'node:path';
import { REPOSITORY_1_X, type RepositoryRelease } from '#core/profile/index.ts';
import { placeOf, placesIn, type Place, type PlaceStep } from '#wire/protocol/pbtxt-places.ts';
import { parameterOf } from '../knobs/engine.ts';
import { BUILD_KNOBS, CONFIG_KNOBS, type FileKnob, LLMAPI_KNOBS } from '../knobs/index.ts';
import { type Positioned, readPositioned } from '../positioned.ts';
import { releaseFor } from '../release-for.ts';
import type { Audit, Finding } from './finding.ts';
import { type ModelFile, readModels } from './models.ts';
import { roleOf } from './model-role.ts';

/**
 * @param folder absolute
 * @param asked TensorRT-LLM release whose defaults hold; undefined: what an engine of the repository says, else 1.x
 *
 * Errors: `repository-missing`, `config-malformed`, `file-unreadable`, `file-malformed`, `release-unknown`.
 */
export function auditRepository(folder: string, asked: string | undefined): Audit {
  const models = readModels(folder);
  const engines = engineConfigs(models);
  const release = chooseRelease(asked, engines);
  const findings = models.flatMap((model) => [...ofConfig(model, release), ...ofYaml(model, release)]);
  const built = engines.flatMap(({ model, config }) => ofFile(BUILD_KNOBS, config, model, release));
  const yamls = models.map(yamlOf).filter((file) => file !== undefined);
  return {
    read: [...models.map(({ file }) => file), ...yamls, ...engines.map(({ config }) => config.file)],
    findings: [...findings, ...built],
  };
}

/** The engines that the repository names, where their folders can be seen from here. */
function engineConfigs(models: readonly ModelFile[]): readonly { readonly model: string; readonly config: Positioned }[] {
  return models.flatMap((model) => {
    if (roleOf(model.config) !== 'engine') return [];
    const path = parameterOf(model, 'gpt_model_path');
    if (path === undefined) return [];
    const file = join(isAbsolute(path) ? path : resolve(model.folder, path), 'config.json');
    if (!existsSync(file)) return [];
    const config = readPositioned(file, 'json');
    const value = config.value as Readonly<Record<string, unknown>> | null;
    return typeof value === 'object' && value !== null && 'pretrained_config' in value ? [{ model: model.name, config }] : [];
  });
}

function chooseRelease(asked: string | undefined, engines: ReturnType<typeof engineConfigs>): RepositoryRelease {
  if (asked !== undefined) return releaseFor(asked, '--release');
  const [engine] = engines;
  const version = (engine?.config.value as { readonly version?: unknown } | undefined)?.version;
  if (engine === undefined || typeof version !== 'string') return REPOSITORY_1_X;
  return releaseFor(version, `${engine.config.file}:${engine.config.lineOf(['version'])}: the engine`);
}

function ofConfig(model: ModelFile, release: RepositoryRelease): readonly Finding[] {
  const { name, config, file, text } = model;
  const places = placesIn(text);
  const seen = { name, config, release, role: roleOf(config) };
  return CONFIG_KNOBS.flatMap((knob) =>
    knob.look(seen).map(({ path, found, edit }): Finding => {
      const where = { file, line: lineOf(places, path, text) };
      return { knob, level: knob.level, model: name, found, where, ...(edit === undefined ? {} : { fix: { kind: 'config', edit } }) };
    }),
  ).toSorted((a, b) => line(a) - line(b));
}

const line = ({ where }: Finding): number => ('line' in where ? where.line : 0);

/** Of the setting, of what it would stand in, or of the model's name. */
function lineOf(places: readonly Place[], path: readonly PlaceStep[], text: string): number {
  // A parameter that is not there has no place among the others.
  for (let length = path.length; length > (path[0] === 'parameters' ? 1 : 0); length--) {
    const place = placeOf(places, path.slice(0, length), text);
    if (place !== undefined) return place.line;
  }
  return placeOf(places, ['name'], text)?.line ?? 1;
}

function yamlOf(model: ModelFile): string | undefined {
  const file = join(model.folder, '1', 'model.yaml');
  return roleOf(model.config) === 'llmapi' && existsSync(file) ? file : undefined;
}

function ofYaml(model: ModelFile, release: RepositoryRelease): readonly Finding[] {
  const file = yamlOf(model);
  return file === undefined ? [] : ofFile(LLMAPI_KNOBS, readPositioned(file, 'yaml'), model.name, release);
}

function ofFile(knobs: readonly FileKnob[], file: Positioned, model: string, release: RepositoryRelease): readonly Finding[] {
  const value = (typeof file.value === 'object' && file.value !== null ? file.value : {}) as Readonly<Record<string, unknown>>;
  return knobs.flatMap((knob) =>
    knob.look(value, release).map((seen): Finding => {
      const where = { file: file.file, line: file.lineOf(seen.path) };
      const fix = 'set' in seen ? ({ fix: { kind: 'yaml', path: seen.path, value: seen.set } } as const) : {};
      return { knob, level: knob.level, model, found: seen.found, where, ...fix };
    }),
  );
}
