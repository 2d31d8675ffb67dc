/** From settings to a container that answers. */
import { randomBytes } from 'node:crypto';
import { LockstepError } from '#core/errors/index.ts';
import { DETACHED, freePorts, thisOwner } from '../host/index.ts';
import { modelFolders, parseEnv, planMounts } from '../tritonserver/index.ts';
import { registerForCleanup } from '../watchdog/index.ts';
import { type Engine, connectEngine } from './engine.ts';
import { readEngineFolder, refuseOtherEngine } from './engine-folder.ts';
import { engineError } from './engine-error.ts';
import { findImage } from './image.ts';
import { RUN_LABEL, sharedPrefix } from './labels.ts';
import { INNER, type Ports, USUAL_ULIMITS, containerOptions, serverCommand } from './launch.ts';
import { imageFacts } from './probe.ts';
import { removeContainer, sweep } from './remove.ts';
import { DockerServer, type DockerServerOptions, type Plan } from './server.ts';
import { parseUlimit } from './units.ts';

/**
 * Starts a tritonserver in a container and waits until server, models and one answer are there.
 *
 * Errors: of the engine (`docker-engine-missing`, `docker-engine-forbidden`, …: engine-error.ts), of the image (`image-…`), of what is
 * mounted (`mount-source-missing`, `engine-…`), `ports-not-published`, `model-load-failed`, `container-out-of-memory`,
 * `image-without-front-end`, `server-argument-refused`, `container-exited`, `target-not-ready`, `canary-refused`, `interrupted`. Whatever was started is removed before the error is thrown.
 */
export async function startDockerServer(options: DockerServerOptions): Promise<DockerServer> {
  const { settings, signal, notice } = options;
  const mounts = planMounts(settings);
  const engineFolder = settings.engineDir === undefined ? undefined : readEngineFolder(settings.engineDir);
  const env = parseEnv(settings.env, options.env);
  const engine = await connectEngine(options.env, signal);
  const swept = await sweep(engine);
  if (swept > 0) notice(`removed ${swept === 1 ? '1 container that a killed run' : `${swept} containers that killed runs`} left`);
  const run = `${process.pid}-${randomBytes(6).toString('hex')}`;
  // What could not be removed stays with the watchdog.
  let left = false;
  const registration = registerForCleanup({
    containers: { socket: engine.socket, label: `${RUN_LABEL}=${run}` },
    shmPrefixes: [sharedPrefix(run)],
  });
  try {
    const image = await findImage(engine, settings.image, { allowFloatingTag: settings.allowFloatingTag, notice, signal });
    const gpus = settings.gpus ?? ((await hasNvidiaRuntime(engine)) ? 'all' : 'none');
    const owner = options.detach === true ? DETACHED : thisOwner();
    const facts = await imageFacts(engine, image, { gpus, run, owner: thisOwner(), signal });
    if (engineFolder !== undefined) refuseOtherEngine(settings.engineDir!, engineFolder, facts.tensorrtLlm);
    const plan: Plan = {
      options,
      engine,
      image,
      mounts,
      engineFolder,
      facts,
      gpus,
      env,
      run,
      owner,
      released: () => registration.release(),
      left: () => void (left = true),
    };
    return await launch(plan);
  } catch (thrown) {
    if (!left) registration.release();
    throw thrown;
  }
}

/** Usual limits that an engine, by its socket, refused to this process before. */
const refusedLimits = new Set<string>();

/** An engine without CAP_SYS_RESOURCE may not lift limits: the usual ones, which nobody asked for by name, are then left out. */
async function launch(plan: Plan): Promise<DockerServer> {
  const nameOf = (text: string) => parseUlimit(text).Name;
  const asked = plan.options.settings.ulimits;
  const { socket } = plan.engine;
  let usual = USUAL_ULIMITS.filter((text) => !asked.map(nameOf).includes(nameOf(text)) && !refusedLimits.has(`${socket} ${text}`));
  for (;;) {
    try {
      return await startOnce(plan, [...usual, ...asked]);
    } catch (thrown) {
      const error = LockstepError.from(thrown);
      const refused = usual.find((text) => error.code === 'ulimit-refused' && error.context['limit'] === nameOf(text));
      if (refused === undefined) throw error;
      plan.options.notice(
        `the engine may not set ${refused} (it lacks CAP_SYS_RESOURCE), so the container starts without; only GPUs need it`,
      );
      refusedLimits.add(`${socket} ${refused}`);
      usual = usual.filter((text) => text !== refused);
    }
  }
}

async function startOnce(plan: Plan, ulimits: readonly string[]): Promise<DockerServer> {
  const { engine, options } = plan;
  const onHost = options.settings.network === 'host';
  const ports = onHost ? await hostPorts(options.ports) : (options.ports ?? { http: 0, grpc: 0, metrics: 0, openai: 0 });
  const command = serverCommand({
    listen: onHost ? ports : INNER,
    onHostNetwork: onHost,
    models: modelFolders(options.settings.repository),
    tokenizer: plan.mounts.tokenizer,
    frontend: options.settings.frontend,
    serverArgs: options.settings.serverArgs,
  });
  const name = `lockstep-${randomBytes(3).toString('hex')}`;
  const parts = { ...plan, name, command, settings: options.settings, memoryBytes: options.memoryBytes, ulimits, ports };
  let server: DockerServer | undefined;
  let id: string | undefined;
  try {
    options.signal?.throwIfAborted();
    const container = await engine.docker.createContainer(containerOptions(parts));
    id = container.id;
    server = new DockerServer(plan, { id, name, ulimits, command });
    await server.start(onHost ? ports : undefined);
    return server;
  } catch (thrown) {
    const error = options.signal?.aborted === true ? interrupted(thrown) : engineError(thrown, engine.socket);
    // Another attempt may follow, so the registration stays as it is.
    if (server !== undefined) await server.discard().catch(plan.left);
    else if (id !== undefined) await removeContainer(engine, id).catch(plan.left);
    throw error;
  }
}

function interrupted(thrown: unknown): LockstepError {
  const error = LockstepError.from(thrown);
  return error.code === 'interrupted'
    ? error
    : new LockstepError('interrupted', 'stopped while the container was starting', { cause: thrown });
}

async function hostPorts(wanted: Ports | undefined): Promise<Ports> {
  const [http, grpc, metrics, openai] = await freePorts(4);
  const free = { http: http!, grpc: grpc!, metrics: metrics!, openai: openai! };
  if (wanted === undefined) return free;
  const either = (key: keyof Ports) => (wanted[key] === 0 ? free[key] : wanted[key]);
  return { http: either('http'), grpc: either('grpc'), metrics: either('metrics'), openai: either('openai') };
}

async function hasNvidiaRuntime(engine: Engine): Promise<boolean> {
  const info = (await engine.docker.info().catch((thrown: unknown) => {
    throw engineError(thrown, engine.socket);
  })) as { readonly Runtimes?: Readonly<Record<string, unknown>> };
  return info.Runtimes?.['nvidia'] !== undefined;
}
