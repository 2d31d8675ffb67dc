export type { CommandName, Field } from './field.ts';
export { COMMAND_NAMES } from './field.ts';
export type { FieldName, Settings, SettingsInput } from './fields.ts';
export { FIELDS } from './fields.ts';
export type { ParsedFlags } from './flags.ts';
export { parseFlags } from './flags.ts';
export { helpForFields, wrap } from './help.ts';
export type { Environment } from './environment.ts';
export { CLIENTS_VARIABLE, FAULTS_VARIABLE, RUN_VARIABLE, unknownVariables, VERSIONS_VARIABLE } from './environment.ts';
export { defineConfig, findConfigFile } from './config-file.ts';
export { nearest } from './nearest.ts';
export type { Replica } from './replicas.ts';
export { addressesOf, replicasOf } from './replicas.ts';
export { DEFAULT_JOB_DIR, MODEL_REPOSITORY, PACKAGE_ROOT, SPM_CHECKPOINT, TINY_CHECKPOINT, projectVersion } from './package-root.ts';
export { defaultSettings, resolveSettings } from './resolve.ts';
export type { AccessFiles, DockerConfig, RunConfig, SlurmConfig } from './run-config.ts';
export {
  accessFiles,
  foldersOf,
  htmlFile,
  HTML_FILE,
  runConfigFromEnvironment,
  toDockerConfig,
  toRunConfig,
  toRunVariable,
  toSlurmConfig,
} from './run-config.ts';
export { shownArguments } from './shown-arguments.ts';
