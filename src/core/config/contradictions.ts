/** Settings that are each right and cannot be meant together. */
import { LockstepError } from '#core/errors/index.ts';
import type { CommandName } from './field.ts';
import { ACCESS, DOCKER, DOCKER_AND_SLURM, ENDPOINTS, SLURM, TLS } from './field-groups.ts';
import type { FieldName, Settings } from './fields.ts';
import type { Layer } from './layers.ts';
import { strength } from './layers.ts';

/** Commands that know by themselves what they start, if anything. */
export const WITHOUT_TARGET: readonly CommandName[] = [
  'serve',
  'start',
  'ps',
  'stop',
  'repository',
  'audit',
  'record',
  'upgrade',
  'bisect',
];

/**
 * Errors: `flags-contradict`. An endpoint, fault or checkpoint from a weaker source than the target is not meant for this run (a
 * config file names the GPU host, a flag asks for the embedded server), so it contradicts nothing: see `withoutUnused`.
 */
export function refuseContradictions(command: CommandName, settings: Settings, given: Layer): void {
  const { target } = settings;
  const meant = (name: FieldName) => {
    const one = given.get(name);
    return one !== undefined && strength(one) >= strength(given.get('target')) ? one : undefined;
  };
  if (settings.image !== undefined && meant('triton') !== undefined) {
    throw new LockstepError(
      'flags-contradict',
      `${meant('triton')!.name} names a tritonserver, and ${given.get('image')!.name} an image that has its own`,
      { hint: 'Leave one of them out.' },
    );
  }
  const starts =
    command === 'start' || (!WITHOUT_TARGET.includes(command) && command !== 'doctor' && (target === 'docker' || target === 'slurm'));
  if (starts && settings.engineDir !== undefined && settings.repository === undefined) {
    throw new LockstepError(
      'flags-contradict',
      `${given.get('engineDir')!.name} names an engine, and no --repository serves it: the project's own CPU models would answer`,
      { hint: 'Add --repository DIR; without one, make it: lockstep repository create --engine-dir DIR --tokenizer DIR --output DIR.' },
    );
  }
  if (command === 'check' && target === 'process' && settings.worldSize > 1 && settings.repository === undefined && !settings.dryRun) {
    throw new LockstepError(
      'flags-contradict',
      `${given.get('worldSize')!.name} asks for the ranks of an engine, and no --repository serves one: the project's own CPU models know no ranks, and the first two would fight for their ports`,
      { hint: 'Add --repository DIR, and --triton with the program that serves it; --dry-run prints the command alone.' },
    );
  }
  if (WITHOUT_TARGET.includes(command)) return;
  const forDocker =
    target === 'docker'
      ? undefined
      : DOCKER.filter((name) => target !== 'slurm' || !DOCKER_AND_SLURM.includes(name))
          .map(meant)
          .find((one) => one !== undefined);
  if (forDocker !== undefined) {
    throw new LockstepError('flags-contradict', `${forDocker.name} is for a container, and the target is ${target}`, {
      hint: 'Add --target docker, or leave it out.',
    });
  }
  const forSlurm = target === 'slurm' ? undefined : SLURM.map(meant).find((one) => one !== undefined);
  if (forSlurm !== undefined) {
    throw new LockstepError('flags-contradict', `${forSlurm.name} is for a job of Slurm, and the target is ${target}`, {
      hint: 'Add --target slurm, or leave it out.',
    });
  }
  if (target === 'external' || target === 'openai') {
    const checkpoint = given.get('checkpoint');
    if (checkpoint !== undefined && strength(checkpoint) >= strength(given.get('target'))) {
      throw new LockstepError(
        'flags-contradict',
        `${checkpoint.name} is for a server that this run starts; an external one serves its own`,
        {
          hint: 'Name the tokenizer of what it serves: --tokenizer DIR.',
        },
      );
    }
    const unknown = target === 'openai' ? (['grpc', 'http', 'metrics'] as const).map(meant).find((one) => one !== undefined) : undefined;
    if (unknown !== undefined) {
      throw new LockstepError(
        'flags-contradict',
        `${unknown.name} is a port of Triton, and target openai is for a server of which none is known`,
        {
          hint: 'Use --target external, or leave it out.',
        },
      );
    }
    if (target === 'openai' && settings.openai === undefined && command !== 'doctor') {
      throw new LockstepError('flags-contradict', 'target openai needs its endpoint: --openai is not set', {
        hint: 'Add --openai URL, the base URL without /v1, such as http://127.0.0.1:9000.',
      });
    }
    for (const name of target === 'openai' ? [] : (['grpc', 'http'] as const)) {
      if (settings[name] !== undefined || command === 'doctor') continue;
      throw new LockstepError('flags-contradict', `target external needs an address: --${name} is not set`, {
        hint: `Add --${name} HOST:PORT (Triton's own default is ${name === 'grpc' ? 8001 : 8000}).`,
      });
    }
    const tls = TLS.map(meant).find((one) => one !== undefined);
    const addresses = ENDPOINTS.map((name) => settings[name]).filter((one) => one !== undefined);
    if (tls !== undefined && addresses.length > 0 && !addresses.some((one) => /(?:^|\|)(?:grpcs|https):/.test(String(one)))) {
      throw new LockstepError('flags-contradict', `${tls.name} is for addresses with TLS, and none is given`, {
        hint: 'Write grpcs://HOST:PORT for gRPC and https://HOST:PORT for the others, or leave it out.',
      });
    }
  } else {
    const extra = [...ENDPOINTS, ...ACCESS]
      .map((name) => given.get(name))
      .find((one) => one !== undefined && strength(one) >= strength(given.get('target')));
    if (extra !== undefined) {
      throw new LockstepError(
        'flags-contradict',
        `${extra.name} is for a server that already runs, and target ${target} is started by this run`,
        {
          hint: 'Add --target external, or leave it out.',
        },
      );
    }
  }
  const triton = given.get('triton');
  const startsReal = target === 'process' || target === 'docker' || target === 'slurm';
  if (!startsReal && triton !== undefined && strength(triton) >= strength(given.get('target'))) {
    throw new LockstepError('flags-contradict', `${triton.name} says which tritonserver is started, and the target is ${target}`, {
      hint: 'Add --target process, docker or slurm, or leave it out.',
    });
  }
  const ofProcess = (target === 'slurm' ? (['lockGpuClocks'] as const) : (['worldSize', 'dryRun', 'lockGpuClocks'] as const))
    .map((name) => given.get(name))
    .find((one) => one !== undefined && strength(one) >= strength(given.get('target')));
  if (target !== 'process' && ofProcess !== undefined) {
    throw new LockstepError('flags-contradict', `${ofProcess.name} is for real servers that this run starts, and the target is ${target}`, {
      hint: 'Add --target process, or leave it out.',
    });
  }
  const repository = given.get('repository');
  if (repository !== undefined && strength(repository) >= strength(given.get('target'))) {
    const checkpoint = given.get('checkpoint');
    if (!startsReal) {
      throw new LockstepError(
        'flags-contradict',
        `${repository.name} says what a server that this run starts serves, and the target is ${target}`,
        {
          hint: 'Add --target process, docker or slurm, or leave the repository out.',
        },
      );
    }
    if (checkpoint !== undefined && strength(checkpoint) >= strength(repository)) {
      throw new LockstepError('flags-contradict', `${checkpoint.name} goes with docker/models, and ${repository.name} names its own`, {
        hint: 'Leave the checkpoint out; add --tokenizer DIR where it is not the tiny one.',
      });
    }
  }
  const fault = given.get('fault');
  if (target !== 'embedded' && settings.fault.length > 0 && strength(fault) >= strength(given.get('target'))) {
    throw new LockstepError('flags-contradict', `${fault?.name ?? '--fault'} works on the embedded server only, not on target ${target}`, {
      hint: 'Leave the fault out, or use --target embedded.',
    });
  }
}

/** Drops what belongs to another target, so that no report shows an address that was not used. */
export function withoutUnused(all: Settings): Settings {
  const unranked = all.target === 'process' || all.target === 'slurm' ? all : { ...all, worldSize: 1, dryRun: false };
  const settings = all.target === 'process' ? unranked : { ...unranked, lockGpuClocks: undefined };
  const running = { ...settings, fault: [], checkpoint: undefined, repository: undefined, triton: undefined };
  if (settings.target === 'external') return running;
  if (settings.target === 'openai') return { ...running, grpc: undefined, http: undefined, metrics: undefined };
  const started = {
    ...settings,
    ...{ grpc: undefined, http: undefined, metrics: undefined, openai: undefined },
    ...{ tlsCa: undefined, tlsCert: undefined, tlsKey: undefined, bearerTokenFile: undefined, header: [] },
  };
  return settings.target === 'embedded' ? { ...started, repository: undefined, triton: undefined } : { ...started, fault: [] };
}
