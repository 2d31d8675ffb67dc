import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { ContainerInspectInfo } from 'dockerode';
import { shownArguments } from '#core/config/index.ts';
import { pollUntil, sleep } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { DETACHED, freePorts, lastWordsFile, readProcess, thisOwner } from '../host/index.ts';
import type { Endpoints, Health, ProcessRef, Target } from '../types.ts';
import { registerForCleanup } from '../watchdog/index.ts';
import { type Engine, connectEngine } from './engine.ts';
import { type EngineFolder, readEngineFolder, refuseOtherEngine } from './engine-folder.ts';
import { engineError, engineGone } from './engine-error.ts';
import { identify } from './identity.ts';
import { type Image, findImage } from './image.ts';
import { INNER, type Ports, USUAL_ULIMITS, containerOptions, publishedPorts, serverCommand } from './launch.ts';
import {
  type ModelState,
  type Mounts,
  findLoadFailure,
  findPortTaken,
  loadFailed,
  modelFolders,
  modelOfStub,
  modelsWithoutStub,
  parseEnv,
  planMounts,
  repositoryIndex,
  stubsBelow,
  waitUntilAnswers,
} from '../tritonserver/index.ts';
import { type ImageFacts, imageFacts } from './probe.ts';
import { RUN_LABEL, containerWordsPath, sharedPrefix } from './labels.ts';
import { removeContainer, sweep } from './remove.ts';
import type { DockerSettings } from './settings.ts';
import { parseUlimit } from './units.ts';
import { ContainerWatch } from './watch.ts';

/** Engines of many gigabytes take minutes to load; a server that dies is not waited for. */
const READY_WITHIN_MS = 600_000;
const HEALTH_WITHIN_MS = 3_000;
const EVENT_AFTER_DEATH_MS = 200;
const END_WITHIN_MS = 5_000;
const OUT_OF_MEMORY = 'killed because memory ran out (event oom), and the server goes on without it';

export interface DockerServerOptions {
  readonly settings: DockerSettings;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** On loopback; default: free ones. */
  readonly ports?: Ports;
  /** It outlives this process: nothing but `lockstep stop` removes it once it is ready. */
  readonly detach?: boolean;
  readonly readyWithinMs?: number;
  /** Of the container; default: none but the host's own. */
  readonly memoryBytes?: number;
  /** Told what takes long. */
  readonly notice: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Starts a tritonserver in a container and waits until server, models and one answer are there.
 *
 * Errors: of the engine (`docker-engine-missing`, `docker-engine-forbidden`, …: engine-error.ts), of the image (`image-…`), of what is
 * mounted (`mount-source-missing`, `engine-…`), `ports-not-published`, `model-load-failed`, `container-out-of-memory`,
 * `server-argument-refused`, `container-exited`, `target-not-ready`, `canary-refused`, `interrupted`. Whatever was started is removed before the error is thrown.
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

interface Plan {
  readonly options: DockerServerOptions;
  readonly engine: Engine;
  readonly image: Image;
  readonly mounts: Mounts;
  readonly engineFolder: EngineFolder | undefined;
  readonly facts: ImageFacts;
  readonly gpus: string;
  readonly env: readonly string[];
  readonly run: string;
  readonly owner: string;
  /** The container that was started is gone, or nobody's here any more. */
  readonly released: () => void;
  /** A container could not be removed. */
  readonly left: () => void;
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

interface Container {
  readonly id: string;
  readonly name: string;
  readonly ulimits: readonly string[];
  readonly command: readonly string[];
}

/** A tritonserver in a container of this run. */
export class DockerServer implements Target {
  readonly kind = 'docker';
  readonly id: string;
  readonly name: string;
  readonly #plan: Plan;
  readonly #container: Container;
  readonly #watch: ContainerWatch;
  readonly #words: ReturnType<typeof lastWordsFile>;
  #endpoints: Endpoints | undefined;
  #identity: Readonly<Record<string, string>> = {};
  /** Pid of the server as this host sees it; undefined where it does not. */
  #pid: number | undefined;
  #stopping: Promise<void> | undefined;

  constructor(plan: Plan, container: Container) {
    this.#plan = plan;
    this.#container = container;
    this.id = container.id;
    this.name = container.name;
    this.#watch = new ContainerWatch(plan.engine, container.id, () => this.#words.changed());
    this.#words = lastWordsFile(containerWordsPath(plan.run), () => ({
      ended: this.#ending() ?? (this.#watch.outOfMemory ? `lost a process that was ${OUT_OF_MEMORY}` : undefined),
      log: this.#watch.log.tail(),
    }));
  }

  get endpoints(): Endpoints {
    if (this.#endpoints === undefined) throw new LockstepError('closed', 'the container has not started');
    return this.#endpoints;
  }

  get identity(): Readonly<Record<string, string>> {
    return this.#identity;
  }

  /** `onHost`: where it listens when it has the host's network; otherwise the engine says. */
  async start(onHost: Ports | undefined): Promise<void> {
    const { engine, options, image } = this.#plan;
    const container = engine.docker.getContainer(this.id);
    await this.#watch.listen();
    await container.start();
    await this.#watch.followLog();
    const info = await container.inspect();
    if (info.Image !== image.id) {
      throw new LockstepError('image-differs', `the container runs ${info.Image} and not ${image.id}`, {
        hint: 'Start it again: the image was replaced meanwhile.',
      });
    }
    if (!info.State.Running) {
      // It ended at once, and its ports with it: what counts is why, and the engine tells that in a moment.
      await pollUntil({ ms: END_WITHIN_MS, everyMs: 20, what: 'the engine to say how the container ended' }, () =>
        this.#ending() === undefined ? undefined : true,
      );
      throw this.#died();
    }
    this.#pid = pidSeenHere(info);
    this.#endpoints = endpointsOf(onHost ?? this.#published(info), options.settings.frontend);
    await waitUntilAnswers(this.endpoints.http, {
      ms: options.readyWithinMs ?? READY_WITHIN_MS,
      signal: options.signal,
      log: () => this.#watch.log.tail(),
      alive: () => {
        if (this.#ending() !== undefined) throw this.#died();
      },
    });
    this.#identity = await identify({ ...this.#plan, ...this.#container, http: this.endpoints.http, settings: options.settings });
  }

  /** The server and the Python stubs of its models, where this host sees them; the container alone where it does not. */
  async processes(): Promise<readonly ProcessRef[]> {
    const pid = this.#pid;
    const startTicks = pid === undefined ? undefined : readProcess(pid)?.startTicks;
    const server: ProcessRef = { name: `container ${this.name}`, pid, startTicks, lastWords: this.#words.path };
    this.#words.changed();
    return [
      server,
      ...this.#stubs().map((row) => ({ name: `Python stub of ${modelOfStub(row)}`, pid: row.pid, startTicks: row.startTicks })),
    ];
  }

  /** Looks at the container and at each Python stub: a server whose stub died stays READY for ever. */
  async health(): Promise<Health> {
    const ended = this.#ending();
    if (ended !== undefined) return this.#dead(`the container ${ended}`);
    if (this.#watch.outOfMemory) return this.#dead(`a process in the container was ${OUT_OF_MEMORY}`);
    let index: readonly ModelState[];
    try {
      index = await repositoryIndex(this.endpoints.http, HEALTH_WITHIN_MS);
    } catch (thrown) {
      const end = this.#ending();
      if (end !== undefined) return this.#dead(`the container ${end}`);
      return { ...this.#dead(`the container runs and its server does not answer: ${LockstepError.from(thrown).message}`), ending: true };
    }
    if (this.#pid === undefined) return { alive: true, detail: '' };
    const lost = modelsWithoutStub(this.#plan.options.settings.repository, index, new Set(this.#stubs().map(modelOfStub)));
    if (lost.length === 0) return { alive: true, detail: '' };
    // The engine's word that it was for want of memory comes after the death.
    await sleep(EVENT_AFTER_DEATH_MS);
    if (this.#watch.outOfMemory) return this.#dead(`the Python process of ${lost.join(', ')} was ${OUT_OF_MEMORY}`);
    return this.#dead(`the Python process of ${lost.join(', ')} is dead while the server still calls the model READY`);
  }

  logTail(): readonly string[] {
    return this.#watch.log.lines();
  }

  /** Errors: `container-left` where the engine is gone or refuses; the next run removes what is left then. */
  async stop(): Promise<void> {
    this.#stopping ??= this.discard().then(this.#plan.released);
    return this.#stopping;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Leaves it to run without this process. */
  async detach(): Promise<void> {
    this.#plan.released();
    await this.#watch[Symbol.asyncDispose]();
    this.#words.remove();
  }

  /** Removes it and leaves the registration to whoever made it. */
  async discard(): Promise<void> {
    await this.#watch[Symbol.asyncDispose]();
    this.#words.remove();
    try {
      await removeContainer(this.#plan.engine, this.id);
    } catch (thrown) {
      throw new LockstepError('container-left', `the container ${this.name} could not be removed: ${LockstepError.from(thrown).message}`, {
        hint: `The next run with target docker removes it, or: docker rm -f ${this.name}.`,
        cause: thrown,
      });
    }
  }

  #ending(): string | undefined {
    return this.#watch.ended;
  }

  #dead(detail: string): Health {
    return { alive: false, detail: `${detail}\n${this.#watch.log.tail()}` };
  }

  /** Why it ended before it was ready. */
  #died(): LockstepError {
    const { log, engineGone: gone, outOfMemory } = this.#watch;
    if (gone) return engineGone(this.#plan.engine.socket);
    const failure = findLoadFailure(log.lines());
    if (outOfMemory) {
      return new LockstepError('container-out-of-memory', `the container ${this.#ending()} before it was ready`, {
        context: { log: log.tail() },
        hint: 'Give the host or the container more memory; `docker stats` shows what it takes.',
      });
    }
    if (failure !== undefined) return loadFailed(failure.model, failure.reason, log.tail());
    const port = findPortTaken(log.lines());
    if (port !== undefined) {
      return new LockstepError('port-taken', `tritonserver could not have its port: ${port}`, {
        hint: 'Stop what listens there (ss -ltnp shows it), or leave --network host out.',
      });
    }
    const refused = log
      .lines()
      .find((line) => /unrecognized option|unrecognized arguments|requires an argument|option .* is ambiguous/.test(line));
    if (refused !== undefined) {
      return new LockstepError('server-argument-refused', `the server does not take its arguments: ${refused.trim()}`, {
        context: { command: shownArguments(this.#container.command).join(' ') },
        hint: 'Correct --server-arg; another release may know other arguments.',
      });
    }
    return new LockstepError('container-exited', `the container ${this.#ending()} before it was ready`, {
      context: { log: log.tail(), command: shownArguments(this.#container.command).join(' ') },
      hint: 'Read the last log lines above.',
    });
  }

  #published(info: ContainerInspectInfo): Ports {
    const port = (name: keyof Ports) => {
      const bound = info.NetworkSettings.Ports[`${INNER[name]}/tcp`]?.[0]?.HostPort;
      // An engine without a bridge takes -p and publishes nothing.
      if (bound === undefined) {
        throw new LockstepError('ports-not-published', `the engine published no port for ${INNER[name]} of the container`, {
          hint: 'Say --network host, or a bridge network; an engine that runs with --bridge=none publishes nothing.',
        });
      }
      return Number(bound);
    };
    const names = publishedPorts(this.#plan.options.settings.frontend);
    const of = (name: keyof Ports) => (names.includes(name) ? port(name) : 0);
    return { http: of('http'), grpc: of('grpc'), metrics: of('metrics'), openai: of('openai') };
  }

  #stubs(): ReturnType<typeof stubsBelow> {
    return this.#pid === undefined ? [] : stubsBelow(this.#pid);
  }
}

function endpointsOf(ports: Ports, frontend: DockerSettings['frontend']): Endpoints {
  const at = (port: number) => `127.0.0.1:${port}`;
  const openai = frontend === 'openai';
  return {
    http: at(ports.http),
    grpc: at(ports.grpc),
    metrics: at(openai ? ports.openai : ports.metrics),
    openai: openai ? `http://${at(ports.openai)}` : undefined,
  };
}

/** The engine may run in a machine of its own (Docker Desktop): then the number means nothing here. */
function pidSeenHere({ Id, State }: ContainerInspectInfo): number | undefined {
  try {
    return State.Pid > 0 && readFileSync(`/proc/${State.Pid}/cgroup`, 'utf8').includes(Id) ? State.Pid : undefined;
  } catch {
    return undefined;
  }
}
