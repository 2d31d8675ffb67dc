import { readFileSync } from 'node:fs';
import type { ContainerInspectInfo } from 'dockerode';
import { pollUntil, sleep } from '#core/deadline/index.ts';
import { LockstepError } from '#core/errors/index.ts';
import { lastWordsFile, readProcess } from '../host/index.ts';
import {
  type ModelState,
  type Mounts,
  modelOfStub,
  modelsWithoutStub,
  repositoryIndex,
  stubsBelow,
  waitUntilAnswers,
} from '../tritonserver/index.ts';
import type { Endpoints, Health, ProcessRef, Target } from '../types.ts';
import { earlyEnd } from './early-end.ts';
import type { Engine } from './engine.ts';
import type { EngineFolder } from './engine-folder.ts';
import { identify } from './identity.ts';
import type { Image } from './image.ts';
import { containerWordsPath } from './labels.ts';
import { INNER, type Ports, publishedPorts } from './launch.ts';
import type { ImageFacts } from './probe.ts';
import { removeContainer } from './remove.ts';
import type { DockerSettings } from './settings.ts';
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

/** What is known before a container is made. */
export interface Plan {
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
    const died = () => earlyEnd(this.#watch, { socket: engine.socket, command: this.#container.command });
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
      throw died();
    }
    this.#pid = pidSeenHere(info);
    this.#endpoints = endpointsOf(onHost ?? this.#published(info), options.settings.frontend);
    await waitUntilAnswers(this.endpoints.http, {
      ms: options.readyWithinMs ?? READY_WITHIN_MS,
      signal: options.signal,
      log: () => this.#watch.log.tail(),
      alive: () => {
        if (this.#ending() !== undefined) throw died();
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
