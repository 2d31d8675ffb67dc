/** The commands, in help order. Their modules are loaded when they run, so that `--help` is instant. */
import type { CommandName } from '#core/config/index.ts';
import type { Command } from './command.ts';

export interface CommandEntry {
  readonly usage: string;
  readonly summary: string;
  /** Shown below the flags of the command's help. */
  readonly examples: readonly string[];
  readonly load: () => Promise<Command>;
}

export const COMMANDS: Readonly<Record<CommandName, CommandEntry>> = {
  check: {
    usage: 'lockstep check [filter…] [flags]',
    summary: 'run the claims against a target; a filter is a part of "suite/claim"',
    examples: [
      'lockstep check',
      'lockstep check agreement streaming',
      'lockstep check --target external --grpc gpu1:8001 --http gpu1:8000 --tokenizer ./llama',
    ],
    load: async () => (await import('./check.ts')).check,
  },
  serve: {
    usage: 'lockstep serve [flags]',
    summary: 'run the embedded Triton until Ctrl-C',
    examples: ['lockstep serve', 'lockstep serve --list-faults', 'lockstep serve --fault ID --reduction batch'],
    load: async () => (await import('./serve.ts')).serve,
  },
  start: {
    usage: 'lockstep start [flags]',
    summary: 'run a tritonserver in a container until Ctrl-C, or leave it behind with --detach',
    examples: [
      'lockstep start',
      'lockstep start --detach --http-port 0 --grpc-port 0 --metrics-port 0',
      'lockstep start --detach --image nvcr.io/nvidia/tritonserver@sha256:… --engine-dir ./engine --tokenizer ./llama',
    ],
    load: async () => (await import('./start.ts')).start,
  },
  ps: {
    usage: 'lockstep ps',
    summary: 'list the containers that lockstep started',
    examples: ['lockstep ps'],
    load: async () => (await import('./ps.ts')).ps,
  },
  stop: {
    usage: 'lockstep stop [name… | all]',
    summary: 'stop and remove containers that were left behind',
    examples: ['lockstep stop', 'lockstep stop lockstep-0a1b2c', 'lockstep stop all'],
    load: async () => (await import('./stop.ts')).stop,
  },
  goldens: {
    usage: 'lockstep goldens record|verify|update|list|review [flags]',
    summary: 'record, verify, update or list the accepted answers, or review those that an upgrade changed',
    examples: [
      'lockstep goldens verify',
      'lockstep goldens update --filter colours',
      'lockstep goldens review upgrade.json --decisions decisions.json',
    ],
    load: async () => (await import('./goldens.ts')).goldens,
  },
  repository: {
    usage: 'lockstep repository create [flags]',
    summary: 'write a model repository from engine, tokenizer and launch profile',
    examples: [
      'lockstep repository create --engine-dir ./engine --tokenizer ./llama --output ./models',
      'lockstep repository create --engine-dir ./engine --tokenizer ./llama --output ./models --set max_beam_width=2',
      'lockstep repository create --form llmapi --engine-dir ./llama --tokenizer ./llama --output ./models',
    ],
    load: async () => (await import('./repository.ts')).repository,
  },
  init: {
    usage: 'lockstep init [flags]',
    summary: 'find out what there is to test, and write a configuration and a first set of prompts for it',
    examples: [
      'lockstep init',
      'lockstep init --engine-dir ./engine --tokenizer ./llama --image nvcr.io/nvidia/tritonserver@sha256:…',
      'lockstep init --grpc gpu1:8001 --http gpu1:8000 --tokenizer ./llama',
    ],
    load: async () => (await import('./init/init.ts')).init,
  },
  identify: {
    usage: 'lockstep identify [flags] | lockstep identify --diff A B',
    summary: 'say everything of a target that could change an answer, or what differs between two',
    examples: [
      'lockstep identify --target external --grpc gpu1:8001 --http gpu1:8000 --json gpu1.json',
      'lockstep identify --diff gpu1.json gpu2.json',
      'lockstep identify --diff goldens/tiny-1ac0dd1d-b7851867 report.json',
    ],
    load: async () => (await import('./identify.ts')).identify,
  },
  audit: {
    usage: 'lockstep audit [model repository] [flags]',
    summary: 'find what can change answers in configurations, and put a running server to the test',
    examples: [
      'lockstep audit ./models',
      'lockstep audit ./models --fix | patch -p0',
      'lockstep audit --http gpu1:8000 --grpc gpu1:8001 --sarif audit.sarif',
    ],
    load: async () => (await import('./audit.ts')).audit,
  },
  record: {
    usage: 'lockstep record --upstream HOST:PORT[,PORT…] --output DIR',
    summary: 'record what passes between any client and a server, as fixtures, until Ctrl-C',
    examples: ['lockstep record --upstream gpu1:8001,8000,9000 --output recorded'],
    load: async () => (await import('./record.ts')).record,
  },
  shrink: {
    usage: 'lockstep shrink FIXTURE | REPORT.json [claim [N]] | claim --only REQUEST [flags]',
    summary: 'find the smallest request that still breaks the same law in the same way',
    examples: [
      'lockstep shrink .lockstep/fixtures/streaming/raw-streams-sum-01-raw-stream.fixture --fault stop-words-ignored',
      'lockstep shrink report.json streaming/raw-streams 2 --target external --grpc gpu1:8001 --http gpu1:8000 --tokenizer ./llama',
      'lockstep shrink amid-neighbours --only way-19 --fault batch-gt1-wrong-concurrent-equal --seed 1',
    ],
    load: async () => (await import('./shrink.ts')).shrink,
  },
  upgrade: {
    usage: 'lockstep upgrade --from TARGET --to TARGET [claim…] [flags]',
    summary: 'compare two servers, releases or stored runs, and say SAFE, REVIEW or UNSAFE',
    examples: [
      'lockstep upgrade --from process:2.41 --to process:2.42 --markdown upgrade.md --json upgrade.json',
      'lockstep upgrade --from docker:nvcr.io/nvidia/tritonserver@sha256:… --to docker:nvcr.io/nvidia/tritonserver@sha256:… --engine-dir ./engine --repository ./models --tokenizer ./llama',
      'lockstep upgrade --from upgrade.json --to external:gpu2:8001,8000,8002 --tokenizer ./llama',
    ],
    load: async () => (await import('./upgrade/upgrade.ts')).upgrade,
  },
  bisect: {
    usage: 'lockstep bisect --good TARGET --bad TARGET CASE [flags]',
    summary: 'find the first release or image on which a case fails',
    examples: [
      'lockstep bisect --good process:2.42 --bad process:2.49 contract/edge_echo/grpc/short-data',
      'lockstep bisect --good docker:a@sha256:… --among docker:b@sha256:… --bad docker:c@sha256:… agreement/ensemble-equals-raw',
    ],
    load: async () => (await import('./bisect/bisect.ts')).bisect,
  },
  replay: {
    usage: 'lockstep replay serve|laws|send|import FILE… [flags]',
    summary: 'play recorded exchanges again: to their client, to the laws, or to a live server; or make one of a request',
    examples: [
      'lockstep replay serve recorded --speed 10',
      'lockstep replay laws recorded/0007-grpc-ModelStreamInfer.fixture',
      'lockstep replay send goldens/fixtures --target external --grpc gpu1:8001 --http gpu1:8000 --tokenizer ./llama',
      'lockstep replay import request.curl inputs.json --output requests',
    ],
    load: async () => (await import('./replay/replay.ts')).replay,
  },
  bundle: {
    usage: 'lockstep bundle FIXTURE | REPORT.json [claim [N]] | claim --only REQUEST [flags]',
    summary:
      'write a failing case as one folder for an upstream issue: README, scripts that reproduce it, both answers, versions, configurations',
    examples: [
      'lockstep bundle .lockstep/fixtures/streaming/raw-streams-sum-01-raw-stream-shrunk.fixture --fault stop-words-ignored',
      'lockstep bundle report.json streaming/raw-streams --target external --grpc gpu1:8001 --http gpu1:8000 --tokenizer ./llama --output issue-123',
    ],
    load: async () => (await import('./bundle.ts')).bundle,
  },
  doctor: {
    usage: 'lockstep doctor [flags]',
    summary: 'look at everything that a run needs, before the run',
    examples: ['lockstep doctor', 'lockstep doctor --target external --grpc gpu1:8001 --http gpu1:8000'],
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
};
