/** Every setting of every command; flags, environment, config file, help and types all come from this table. */
import { z } from 'zod';
import { isBaseUrls, isHeader, isHostPorts } from './addresses.ts';
import { field } from './field.ts';

/** @param scheme the one that says TLS */
const hostPorts = (scheme: 'grpcs' | 'https') =>
  z
    .string()
    .refine((text) => isHostPorts(text, scheme))
    .optional();

const port = (number: number) => z.number().int().min(0).max(65535).default(number);
const folder = () => z.string().min(1);

const ADDRESS = 'host:port, such as 127.0.0.1:8001; with TLS';
const MANY = 'several replicas as gpu1:8001,8011|gpu2:8001';
const PORT = 'a port from 0 to 65535';

/** Commands that start a real server; that reach one that already runs; that submit a job. */
const STARTS = ['check', 'start', 'goldens', 'identify', 'shrink', 'bundle', 'replay'] as const;
const REACHES = ['check', 'goldens', 'identify', 'doctor', 'shrink', 'bundle', 'replay'] as const;
/** Compare servers that they start, or find, by `--from`, `--to`, `--good` and `--bad`. */
const COMPARES = ['upgrade', 'bisect'] as const;
const SUBMITS = ['check', 'goldens', 'identify', 'shrink', 'bundle', 'replay'] as const;

export const FIELDS = {
  target: field(z.enum(['embedded', 'process', 'docker', 'slurm', 'external', 'openai']).default('embedded'), {
    value: 'KIND',
    expected: 'embedded, process, docker, slurm, external or openai',
    help: 'which server is under test: the embedded Triton, a tritonserver binary or container started on this host, one in a job of a Slurm cluster, one that already runs, or one of which only an OpenAI endpoint is known',
    commands: ['check', 'goldens', 'doctor', 'identify', 'shrink', 'bundle', 'replay'],
  }),
  grpc: field(hostPorts('grpcs'), {
    value: 'HOST:PORT',
    expected: `${ADDRESS} grpcs://host:port; ${MANY}`,
    help: "the external target's gRPC address",
    secret: 'in addresses',
    commands: [...REACHES, 'audit', 'init'],
  }),
  http: field(hostPorts('https'), {
    value: 'HOST:PORT',
    expected: `${ADDRESS} https://host:port; ${MANY}`,
    help: "the external target's HTTP address",
    secret: 'in addresses',
    commands: [...REACHES, 'audit', 'init'],
  }),
  metrics: field(hostPorts('https'), {
    value: 'HOST:PORT',
    expected: `${ADDRESS} https://host:port; ${MANY}`,
    help: "the external target's metrics address, where it has one",
    secret: 'in addresses',
    commands: [...REACHES, 'init'],
  }),
  openai: field(z.string().refine(isBaseUrls).optional(), {
    value: 'URL',
    expected: 'a base URL up to and without /v1, such as http://127.0.0.1:9000; of several replicas with | between them',
    help: "base URL of the external target's OpenAI front end, without /v1",
    secret: 'in addresses',
    commands: [...REACHES, 'init'],
  }),
  tlsCa: field(folder().optional(), {
    value: 'FILE',
    expected: 'a PEM file',
    help: "certificates to trust at the external target's grpcs:// and https:// addresses",
    defaultText: "Node's and the system's",
    commands: [...REACHES, 'audit', ...COMPARES],
  }),
  tlsCert: field(folder().optional(), {
    value: 'FILE',
    expected: 'a PEM file',
    help: 'certificate that this client shows to the external target',
    defaultText: 'none',
    commands: [...REACHES, 'audit', ...COMPARES],
  }),
  tlsKey: field(folder().optional(), {
    value: 'FILE',
    expected: 'a PEM file',
    help: 'private key of --tls-cert',
    defaultText: 'none',
    commands: [...REACHES, 'audit', ...COMPARES],
  }),
  header: field(z.array(z.string().refine(isHeader)).default([]), {
    value: "'NAME: VALUE'",
    expected: 'a name of letters, digits, dots, dashes and underscores, a colon, and a value in ASCII; no header that a call sets itself',
    help: 'header of every call to the external target, metadata on gRPC; its value is never shown (may be repeated)',
    defaultText: 'none',
    secret: 'all',
    commands: [...REACHES, 'audit', ...COMPARES],
  }),
  bearerTokenFile: field(folder().optional(), {
    value: 'FILE',
    expected: 'a file with the token and nothing else',
    help: 'file with the token that every call to the external target carries as authorization: Bearer',
    defaultText: 'none',
    commands: [...REACHES, 'audit', ...COMPARES],
  }),
  tokenizer: field(folder().optional(), {
    value: 'DIR',
    expected: 'a folder with tokenizer.json',
    help: 'folder of the tokenizer that the served checkpoint was made with',
    defaultText: "the checkpoint's own; none for external",
    commands: ['check', 'start', 'goldens', 'repository', 'doctor', 'identify', 'init', 'shrink', 'bundle', 'replay', ...COMPARES],
  }),
  repository: field(folder().optional(), {
    value: 'DIR',
    expected: 'a folder with one folder per model',
    help: 'model repository that target process, docker or slurm serves, such as `lockstep repository create` makes',
    defaultText: 'docker/models of this checkout',
    commands: [...STARTS, 'doctor', 'init', ...COMPARES],
  }),
  goldens: field(folder().optional(), {
    value: 'DIR',
    expected: 'a folder',
    help: 'folder of the accepted answers',
    defaultText: 'goldens/ of this checkout',
    commands: ['check', 'goldens', 'doctor', 'shrink', 'bundle', 'replay', ...COMPARES],
  }),
  prompts: field(folder().optional(), {
    value: 'FILE',
    expected: 'a JSON file with prompts, as lockstep init writes one',
    help: 'prompts that every request is drawn from',
    defaultText: "the checkpoint's own, or general ones",
    commands: ['check', 'goldens', 'shrink', 'bundle', ...COMPARES],
  }),
  profile: field(z.string().min(1).default('default'), {
    value: 'NAME',
    expected: 'default, ideal, or releases by axis, such as openai=r25.12 or ideal,models=1.x',
    help: 'release profile: `default` does what servers were seen to do, `ideal` has no known gaps; a release that there is not is answered with those that there are',
    commands: ['check', 'serve', 'goldens', 'identify', 'shrink', 'bundle', 'replay', ...COMPARES],
  }),
  fault: field(z.array(z.string().min(1)).default([]), {
    value: 'ID',
    expected: 'a fault id; `lockstep serve --list-faults` names them',
    help: 'switch on one deliberate defect of the embedded server (may be repeated)',
    defaultText: 'none',
    commands: ['check', 'serve', 'goldens', 'identify', 'shrink', 'bundle', 'replay'],
  }),
  seed: field(
    z
      .number()
      .int()
      .min(0)
      .max(2 ** 32 - 1)
      .default(1),
    {
      value: 'N',
      expected: 'a whole number from 0 to 4294967295',
      help: 'seed of everything that is drawn',
      commands: ['check', 'goldens', 'shrink', 'bundle', ...COMPARES],
    },
  ),
  only: field(z.string().min(1).optional(), {
    value: 'REQUEST',
    expected: "the id of a request, as a failure's case names it",
    help: 'draw every request from this one prompt: how a failure is repeated alone',
    commands: ['check', 'shrink', 'bundle'],
  }),
  policy: field(z.enum(['exact', 'margins']).optional(), {
    value: 'NAME',
    expected: 'exact or margins',
    help: 'which differences fail: every one (`exact`), or only those that no measured margin explains (`margins`)',
    defaultText: 'margins for external, exact otherwise',
    commands: ['check', 'goldens', 'shrink', 'bundle', 'replay'],
  }),
  strictIdentity: field(z.boolean().default(false), {
    expected: 'true or false',
    help: 'fail when the goldens were recorded on another identity, in place of only saying so; refused for an external target, whose weights are not known',
    commands: ['check'],
  }),
  dangerous: field(z.boolean().default(false), {
    expected: 'true or false',
    help: 'send also what makes some releases of tritonserver crash or hang (the claims of suites/dangerous); a server that this run started is asked in a process of its own',
    defaultText: 'off; the embedded server is always asked',
    commands: ['check'],
  }),
  filter: field(z.array(z.string().min(1)).default([]), {
    value: 'TEXT',
    expected: 'a part of a request id or suite',
    help: 'only requests whose suite or id contains this (may be repeated)',
    defaultText: 'all',
    commands: ['goldens'],
  }),
  json: field(z.string().min(1).optional(), {
    value: 'FILE',
    expected: 'a file name',
    help: 'also write the report as JSON',
    commands: ['check', 'audit', 'identify', 'upgrade'],
  }),
  from: field(z.string().min(1).optional(), {
    value: 'TARGET',
    expected:
      'process:VERSION or PATH, docker:IMAGE, external:HOST:GRPC,HTTP[,METRICS], embedded[:CHECKPOINT], or a JSON file of upgrade or check',
    help: 'the old side',
    commands: ['upgrade'],
  }),
  to: field(z.string().min(1).optional(), {
    value: 'TARGET',
    expected: 'as --from',
    help: 'the new side, as --from',
    commands: ['upgrade'],
  }),
  markdown: field(z.string().min(1).optional(), {
    value: 'FILE',
    expected: 'a file name',
    help: 'also write the summary for a pull request as Markdown',
    commands: ['upgrade'],
  }),
  upgradePolicy: field(z.string().min(1).optional(), {
    value: 'FILE',
    expected: 'a JSON file as src/report/upgrade/policy.json',
    help: 'what each kind of finding makes of the verdict, and its limits',
    defaultText: 'src/report/upgrade/policy.json',
    commands: ['upgrade'],
  }),
  decisions: field(z.string().min(1).optional(), {
    value: 'FILE',
    expected: 'a JSON file: request id to accept or reject',
    help: 'for review: decisions that are read from this file in place of being asked for, or written to it when it is not there',
    commands: ['goldens'],
  }),
  good: field(z.string().min(1).optional(), {
    value: 'TARGET',
    expected: 'process:VERSION or docker:IMAGE',
    help: 'a target that is known to be right',
    commands: ['bisect'],
  }),
  bad: field(z.string().min(1).optional(), {
    value: 'TARGET',
    expected: 'as --good',
    help: 'a later one that is known to be wrong',
    commands: ['bisect'],
  }),
  among: field(z.array(z.string().min(1)).default([]), {
    value: 'TARGET',
    expected: 'as --good',
    help: 'one between the two, oldest first (may be repeated)',
    defaultText: 'the releases of docker/triton/tritonserver.json between the two',
    commands: ['bisect'],
  }),
  failureRate: field(z.number().int().min(1).max(100).default(100), {
    value: 'PERCENT',
    expected: 'a whole number from 1 to 100',
    help: 'how often the case fails on the bad one, in per cent; below 100 it is repeated on each until a sequential test decides',
    commands: ['bisect'],
  }),
  diff: field(z.boolean().default(false), {
    expected: 'true or false',
    help: 'compare two identities that were written before, and start nothing',
    commands: ['identify'],
  }),
  junit: field(z.string().min(1).optional(), {
    value: 'FILE',
    expected: 'a file name',
    help: 'also write the report as JUnit XML',
    commands: ['check'],
  }),
  report: field(
    z
      .string()
      .regex(/^html(=.+)?$/)
      .optional(),
    {
      value: 'html[=FILE]',
      expected: 'html or html=FILE',
      help: 'write the report as one HTML page, to FILE or into reports/; a check with failures does so anyway',
      commands: ['check', 'upgrade'],
    },
  ),
  host: field(z.string().min(1).default('127.0.0.1'), {
    value: 'HOST',
    expected: 'an address of this host',
    help: 'address to listen on',
    commands: ['serve', 'replay'],
  }),
  grpcPort: field(port(8001), {
    value: 'PORT',
    expected: PORT,
    help: 'gRPC port; 0 takes any free one',
    commands: ['serve', 'start', 'replay'],
  }),
  httpPort: field(port(8000), {
    value: 'PORT',
    expected: PORT,
    help: 'HTTP port; 0 takes any free one',
    commands: ['serve', 'start', 'replay'],
  }),
  metricsPort: field(port(8002), {
    value: 'PORT',
    expected: PORT,
    help: 'metrics port; 0 takes any free one',
    commands: ['serve', 'start'],
  }),
  openaiPort: field(port(9000), {
    value: 'PORT',
    expected: PORT,
    help: 'port of the OpenAI front end; 0 takes any free one',
    commands: ['serve', 'start', 'replay'],
  }),
  engine: field(z.enum(['llama', 'scripted']).default('llama'), {
    value: 'KIND',
    expected: 'llama or scripted',
    help: 'what computes the answers: the tiny Llama, or a script that is never the bottleneck',
    commands: ['serve'],
  }),
  reduction: field(z.enum(['invariant', 'batch']).default('invariant'), {
    value: 'ORDER',
    expected: 'invariant or batch',
    help: 'order of the sums: the same always, or one that depends on the batch, so that near ties really flip',
    commands: ['serve'],
  }),
  checkpoint: field(folder().optional(), {
    value: 'DIR',
    expected: 'a folder with config.json, model.safetensors and tokenizer.json',
    help: 'checkpoint and tokenizer that a server started here serves, such as docker/checkpoint/tiny-spm',
    defaultText: 'the tiny checkpoint',
    commands: ['check', 'serve', 'start', 'goldens', 'doctor', 'identify', 'shrink', 'bundle', 'replay', ...COMPARES],
  }),
  triton: field(z.string().min(1).optional(), {
    value: 'VERSION|PATH',
    expected: 'a release such as 2.47, or the path of a tritonserver program',
    help: 'which tritonserver target process or slurm starts: a release, laid out from PyPI, or a program of this host or of the nodes; for target docker, the release of the CPU image',
    defaultText: 'the newest release of docker/triton/tritonserver.json',
    commands: STARTS,
  }),
  worldSize: field(z.number().int().min(1).max(1024).default(1), {
    value: 'N',
    expected: 'a whole number of ranks from 1',
    defaultText: '1; of target slurm what the engine was built for',
    help: 'ranks, one for each GPU of the engine: target process starts them through mpirun, as the stock launch script does, target slurm through srun',
    commands: ['check', 'shrink', 'bundle'],
  }),
  dryRun: field(z.boolean().default(false), {
    expected: 'true or false',
    help: 'start nothing and print what would: of target process the mpirun command by which the stock launch script starts these ranks, of target slurm all that is submitted',
    commands: ['check'],
  }),
  lockGpuClocks: field(z.number().int().min(1).optional(), {
    value: 'MHZ',
    expected: 'a frequency in MHz',
    help: 'pin the clocks of the GPUs of this host while target process runs (nvidia-smi -lgc), and free them afterwards',
    defaultText: 'left alone',
    commands: ['check'],
  }),
  image: field(z.string().min(1).optional(), {
    value: 'IMAGE',
    expected: 'name@sha256:…, or the id of a local image',
    help: 'image that target docker starts, pinned by digest or id, pulled when it is missing; for target slurm, an image as pyxis takes it (nvcr.io#nvidia/tritonserver:…, or a .sqsh file that the nodes see)',
    defaultText: "docker: the project's own CPU image of --triton, built where it is missing; slurm: no container",
    commands: [...STARTS, 'doctor', 'init'],
  }),
  allowFloatingTag: field(z.boolean().default(false), {
    expected: 'true or false',
    help: 'let --image be a tag, which may name another image tomorrow',
    commands: [...STARTS, 'doctor', ...COMPARES],
  }),
  engineDir: field(folder().optional(), {
    value: 'DIR',
    expected: 'a folder with rank0.engine and config.json',
    help: 'engine folder of trtllm-build, mounted read-only where gpt_model_path of the repository names it (/engine where nothing does); to make a repository of the LLM API, or with --backend cpu, a Hugging Face checkpoint',
    defaultText: 'none',
    commands: ['check', 'start', 'goldens', 'repository', 'identify', 'doctor', 'init', 'shrink', 'bundle', ...COMPARES],
  }),
  gpus: field(
    z
      .string()
      .regex(/^(all|none|\w[\w-]*(,\w[\w-]*)*)$/)
      .optional(),
    {
      value: 'GPUS',
      expected: 'all, none, or indices or UUIDs separated by commas',
      help: 'GPUs of the container, as nvidia-smi -L names them',
      defaultText: 'all where the engine has the NVIDIA runtime, none elsewhere',
      commands: [...STARTS, 'doctor', ...COMPARES],
    },
  ),
  shmSize: field(
    z
      .string()
      .regex(/^\d+[bkmg]?$/i)
      .default('1g'),
    {
      value: 'SIZE',
      expected: 'a size such as 1g',
      help: 'shared memory of the container; Python models talk through it',
      commands: [...STARTS, ...COMPARES],
    },
  ),
  ulimit: field(z.array(z.string().regex(/^[a-z]+=-?\d+(:-?\d+)?$/)).default([]), {
    value: 'LIMIT',
    expected: 'NAME=SOFT[:HARD], such as nofile=1024:4096',
    help: 'limit of the container (may be repeated)',
    defaultText: 'memlock=-1 and stack=67108864, where the engine may set them',
    commands: [...STARTS, ...COMPARES],
  }),
  env: field(z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*(=[^]*)?$/)).default([]), {
    value: 'NAME[=VALUE]',
    expected: 'NAME=VALUE, or NAME for the value it has here',
    help: 'environment of the container or job (may be repeated); values are never printed or stored',
    defaultText: 'none',
    commands: [...STARTS, ...COMPARES],
    secret: 'all',
  }),
  user: field(
    z
      .string()
      .regex(/^[\w.-]+(:[\w.-]+)?$/)
      .optional(),
    {
      value: 'USER',
      expected: 'a user or UID, with a group behind a colon if wanted',
      help: 'user that the server runs as in the container',
      defaultText: "the image's own",
      commands: [...STARTS, ...COMPARES],
    },
  ),
  network: field(
    z
      .string()
      .regex(/^[\w][\w.-]*$/)
      .refine((name) => name !== 'none')
      .optional(),
    {
      value: 'NAME',
      expected: 'host, bridge or the name of a network of the engine',
      help: 'network of the container; ports are published on 127.0.0.1 alone',
      defaultText: "the engine's default bridge",
      commands: [...STARTS, ...COMPARES],
    },
  ),
  serverArg: field(z.array(z.string().min(1)).default([]), {
    value: 'ARG',
    expected: 'an argument of tritonserver, such as --log-verbose=1',
    help: 'further argument of the server in the container or job (may be repeated)',
    defaultText: 'none',
    commands: [...STARTS, ...COMPARES],
    secret: 'all',
  }),
  frontend: field(z.enum(['kserve', 'openai']).default('kserve'), {
    value: 'KIND',
    expected: 'kserve or openai',
    help: "what the container starts: tritonserver, or NVIDIA's OpenAI front end with the KServe front ends beside it, so that all answers come from one engine",
    commands: STARTS,
  }),
  partition: field(z.string().min(1).optional(), {
    value: 'NAME',
    expected: 'a partition, or several with commas between them',
    help: 'partition of the Slurm job',
    defaultText: "the cluster's default",
    commands: [...SUBMITS, 'doctor'],
  }),
  account: field(z.string().min(1).optional(), {
    value: 'NAME',
    expected: 'an account',
    help: 'account that the Slurm job is charged to',
    defaultText: "the user's default",
    commands: SUBMITS,
  }),
  timeLimit: field(
    z
      .string()
      .regex(/^(\d+|\d+:\d\d(:\d\d)?|\d+-\d+(:\d\d){0,2})$/)
      .optional(),
    {
      value: 'TIME',
      expected: 'minutes, H:MM:SS or D-H:MM:SS',
      help: 'how long the Slurm job may run; it must outlast the whole run',
      defaultText: "the partition's",
      commands: SUBMITS,
    },
  ),
  gres: field(z.string().min(1).optional(), {
    value: 'GRES',
    expected: 'as sbatch takes it, such as gpu:8',
    help: 'generic resources of each node of the Slurm job',
    defaultText: 'none',
    commands: SUBMITS,
  }),
  nodes: field(z.number().int().min(1).max(1024).default(1), {
    value: 'N',
    expected: 'a whole number from 1 to 1024',
    help: 'nodes of the Slurm job, over which the ranks of the engine are spread evenly',
    commands: SUBMITS,
  }),
  slurmArg: field(z.array(z.string().startsWith('-')).default([]), {
    value: 'ARG',
    expected: 'an argument of sbatch, such as --mem=32G',
    help: 'further argument of sbatch (may be repeated)',
    defaultText: 'none',
    commands: SUBMITS,
  }),
  jobDir: field(folder().optional(), {
    value: 'DIR',
    expected: 'a folder that this host and the nodes share',
    help: 'where each Slurm job has a folder of its own while it runs',
    defaultText: '.cache/slurm/jobs of this checkout',
    commands: SUBMITS,
  }),
  queueMinutes: field(
    z
      .number()
      .int()
      .min(1)
      .max(7 * 24 * 60)
      .default(30),
    {
      value: 'N',
      expected: 'a whole number from 1 to 10080',
      help: 'how long the Slurm job may be pending, in minutes',
      commands: SUBMITS,
    },
  ),
  detach: field(z.boolean().default(false), {
    expected: 'true or false',
    help: 'leave the container running when it is ready: `lockstep ps` lists it, `lockstep stop` ends it',
    commands: ['start'],
  }),
  output: field(folder().optional(), {
    value: 'DIR',
    expected: 'a folder; for a model repository one that is not there yet',
    help: 'where the model repository is written, the fixtures of a recording, the shrunk one, an answer or an import, or the bundle',
    commands: ['repository', 'record', 'shrink', 'bundle', 'replay'],
  }),
  form: field(z.enum(['inflight', 'v1', 'llmapi']).default('inflight'), {
    value: 'NAME',
    expected: 'inflight, v1 or llmapi',
    help: 'in-flight batching with streams (decoupled), V1 without, or the one model of the LLM API',
    commands: ['repository'],
  }),
  backend: field(z.enum(['tensorrtllm', 'python', 'cpu']).default('tensorrtllm'), {
    value: 'NAME',
    expected: 'tensorrtllm, python or cpu',
    help: "what runs the engine: the C++ back end, NVIDIA's Python model, or Lockstep's own models, which need no GPU",
    commands: ['repository'],
  }),
  release: field(z.string().min(1).optional(), {
    value: 'VERSION',
    expected: 'a TensorRT-LLM release, such as 0.19 or 1.x',
    help: 'TensorRT-LLM release whose names and defaults hold',
    defaultText: 'what the engine was built with, else 1.x',
    commands: ['repository', 'audit'],
  }),
  parallel: field(z.enum(['leader', 'orchestrator']).default('leader'), {
    value: 'MODE',
    expected: 'leader or orchestrator',
    help: 'an engine of several GPUs: one server process each (leader), or one server and workers (orchestrator)',
    commands: ['repository'],
  }),
  nvidiaModels: field(folder().optional(), {
    value: 'DIR',
    expected: "a folder with NVIDIA's all_models",
    help: "NVIDIA's Python models, which are copied from there and never shipped",
    defaultText: '/app/all_models',
    commands: ['repository'],
  }),
  set: field(z.array(z.string().regex(/^[A-Za-z_]\w*=/)).default([]), {
    value: 'NAME=VALUE',
    expected: "NAME=VALUE, the name as NVIDIA's fill_template spells it",
    help: "one parameter of the models, under fill_template's name (may be repeated)",
    defaultText: 'the launch profile',
    commands: ['repository'],
  }),
  sarif: field(z.string().min(1).optional(), {
    value: 'FILE',
    expected: 'a file name',
    help: 'also write the findings as SARIF 2.1.0',
    commands: ['audit'],
  }),
  fix: field(z.boolean().default(false), {
    expected: 'true or false',
    help: 'print a unified diff that sets every knob to its deterministic value; nothing is changed',
    commands: ['audit'],
  }),
  speed: field(
    z
      .string()
      .regex(/^(max|0*[1-9]\d{0,5}(\.\d+)?|0+\.\d*[1-9]\d*)$/)
      .default('1'),
    {
      value: 'N',
      expected: 'a number above 0, or max',
      help: 'how many times as fast as it was recorded; `max` leaves every pause out',
      commands: ['replay'],
    },
  ),
  upstream: field(
    z
      .string()
      .refine((text) => isHostPorts(text, ''))
      .optional(),
    {
      value: 'HOST:PORT',
      expected: 'host:port, without TLS; several ports as gpu1:8001,8000,9000',
      help: 'the ports of the server, of either protocol, that clients are recorded in front of',
      commands: ['record'],
    },
  ),
  budget: field(z.number().int().min(10).max(1_000_000).default(1000), {
    value: 'N',
    expected: 'a whole number from 10',
    help: 'how many requests may be sent to find the smallest case',
    commands: ['shrink'],
  }),
  listFaults: field(z.boolean().default(false), {
    expected: 'true or false',
    help: 'name every fault, say what it breaks, and stop',
    commands: ['serve'],
  }),
} as const;

export type FieldName = keyof typeof FIELDS;

/** All settings after validation; a command reads those that the table gives it. */
export type Settings = { readonly [K in FieldName]: z.output<(typeof FIELDS)[K]['schema']> };

/** What a config file may hold: any of the settings, each by its name in the table. */
export type SettingsInput = { readonly [K in FieldName]?: z.input<(typeof FIELDS)[K]['schema']> | undefined };

export const FIELD_NAMES = Object.keys(FIELDS) as FieldName[];
