/** The reporter for vitest's `reporters`: claims line by line while they run, everything else from the finished tree. */
import type { SerializedError, UserConsoleLog } from 'vitest';
import type { Reporter, TestCase, TestModule, TestRunEndReason, TestSpecification, Vitest } from 'vitest/node';
import { join, relative, resolve } from 'node:path';
import { nowNs, wallClock } from '#core/clock/index.ts';
import { HTML_FILE, type RunConfig, runConfigFromEnvironment } from '#core/config/index.ts';
import type { ProvidedRun } from './provided.ts';
import { renderGithub } from './github.ts';
import type { RunReport } from './run-report.ts';
import { buildRunReport, claimOf, isUnfinished } from './run-report.ts';
import { NOT_RUN } from '#checks/lab/result.ts';
import type { ClaimResult } from '#checks/lab/result.ts';
import { renderClaimLine } from './terminal/claim-line.ts';
import { renderFailedClaim } from './terminal/failure.ts';
import { renderHeader } from './terminal/header.ts';
import type { Screen, Sink } from './terminal/progress.ts';
import { openScreen } from './terminal/progress.ts';
import type { Canvas } from './terminal/style.ts';
import { styleFor } from './terminal/style.ts';
import { renderSummary } from './terminal/summary.ts';
import { HISTORY_FILE, type WrittenFiles, writeReportFiles } from './write-files.ts';

export interface LockstepReporterOptions {
  /** Where to write beside the terminal; what the run's own configuration says comes first. */
  readonly json?: string | undefined;
  readonly junit?: string | undefined;
  readonly html?: string | undefined;
  /** Folder for the history of runs and the page of a failed one, in place of .cache/ and reports/. */
  readonly folder?: string;
  /** Annotations for GitHub Actions; by default where GITHUB_ACTIONS is `true`. */
  readonly github?: boolean;
  /** Gets the finished run, as data. */
  readonly onReport?: (report: RunReport) => void;
}

/** Off a terminal lines may be long; statements stand last, so they spoil no column. */
const PLAIN_COLUMNS = 240;
const BLOCK_COLUMNS = 120;

export default class LockstepReporter implements Reporter {
  readonly #options: LockstepReporterOptions;
  #vitest: Vitest | undefined;
  #screen: Screen | undefined;
  #canvas: Canvas = { style: styleFor({}, {}), columns: PLAIN_COLUMNS };
  #startNs = 0;
  #startedAt = '';
  #headerShown = false;
  #lastSuite: string | undefined;
  #done = 0;
  #total = 0;
  #running = '';
  #cancelled = false;

  constructor(options: LockstepReporterOptions = {}) {
    this.#options = options;
  }

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
    const sink = vitest.logger.outputStream as unknown as Sink;
    this.#canvas = {
      style: styleFor(sink, process.env),
      columns: sink.isTTY === true ? (sink.columns ?? 100) : Number(process.env['COLUMNS']) || PLAIN_COLUMNS,
    };
    this.#startNs = nowNs();
    this.#startedAt = wallClock();
    this.#screen = openScreen(sink, this.#canvas, this.#startNs);
  }

  onTestRunStart(_specifications: ReadonlyArray<TestSpecification>): void {
    this.#screen?.progress('starting the target');
  }

  onTestModuleCollected(module: TestModule): void {
    // Here and not earlier: vitest forgets such listeners after onTestRunStart.
    this.#vitest?.onCancel(() => void (this.#cancelled = true));
    this.#showHeader();
    for (const test of module.children.allTests()) if (test.options.mode !== 'skip') this.#total++;
  }

  onTestCaseReady(test: TestCase): void {
    this.#running = test.name;
    this.#showProgress();
  }

  onTestCaseResult(test: TestCase): void {
    if (test.result().state === 'skipped') return;
    this.#done++;
    const claim = claimOf(test);
    if (claim !== undefined && !isNotRun(claim) && !(this.#cancelled && isUnfinished(claim))) {
      this.#print(renderClaimLine(claim, this.#canvas, claim.suite === this.#lastSuite));
      this.#lastSuite = claim.suite;
    }
    this.#showProgress();
  }

  onUserConsoleLog(log: UserConsoleLog): void {
    this.#print(`${this.#canvas.style.dim(`${log.type} |`)} ${log.content.trimEnd()}`);
  }

  async onTestRunEnd(
    modules: ReadonlyArray<TestModule>,
    unhandled: ReadonlyArray<SerializedError>,
    reason: TestRunEndReason,
  ): Promise<void> {
    this.#showHeader();
    this.#screen?.close();
    const provided = this.#provided();
    const report = buildRunReport(modules, unhandled, {
      header: provided?.header,
      identityDifferences: provided?.identityDifferences ?? [],
      startedAt: this.#startedAt,
      durationMs: (nowNs() - this.#startNs) / 1e6,
      interrupted: reason === 'interrupted',
    });
    this.#options.onReport?.(report);
    // Vitest sees no failed test where nothing was judged.
    if (report.outcome === 'broken') process.exitCode = 2;
    const ran = report.claims.length > 0 || report.units.length > 0 || report.errors.length > 0;
    if (ran) this.#printFailures(report, modules, unhandled);
    let written: WrittenFiles | undefined;
    try {
      written = this.#writeFiles(report, provided?.config ?? (await this.#configOfMerge()));
    } finally {
      // Last, so that the verdict is the last line whatever else was written, or could not be.
      if (ran) this.#print(`\n${renderSummary(report, this.#canvas, written)}`);
    }
  }

  #printFailures(report: RunReport, modules: ReadonlyArray<TestModule>, unhandled: ReadonlyArray<SerializedError>): void {
    for (const { claim } of report.claims) {
      if (claim.status === 'failed' && !isNotRun(claim))
        this.#print(`\n${renderFailedClaim(claim, { ...this.#canvas, columns: Math.min(this.#canvas.columns, BLOCK_COLUMNS) })}`);
    }
    const notRun = report.claims.filter(({ claim }) => isNotRun(claim)).length;
    if (notRun > 0) this.#print(`\n${notRun} more claims failed unasked: the server was dead before their turn`);
    const { style } = this.#canvas;
    const logger = this.#vitest?.logger;
    for (const module of modules) {
      for (const error of module.errors()) {
        this.#print(`\n${style.bad('✗')} ${style.bold(module.relativeModuleId)}  does not load`);
        logger?.printError(error, { project: module.project });
      }
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state !== 'failed' || claimOf(test) !== undefined) continue;
        this.#print(`\n${style.bad('✗')} ${style.bold(module.relativeModuleId)}  ${test.fullName}`);
        for (const error of result.errors) logger?.printError(error, { project: test.project });
      }
    }
    for (const error of unhandled) logger?.printError(error, { type: 'error outside of tests' });
  }

  #writeFiles(report: RunReport, config: Pick<RunConfig, 'json' | 'junit' | 'html'> | undefined): WrittenFiles {
    const { json, junit, html, folder, github = process.env['GITHUB_ACTIONS'] === 'true' } = this.#options;
    const written = writeReportFiles(report, {
      json: config?.json ?? json,
      junit: config?.junit ?? junit,
      html: config?.html ?? html,
      htmlOnFailure: folder === undefined ? resolve(HTML_FILE) : join(folder, 'lockstep.html'),
      history: folder === undefined ? HISTORY_FILE : join(folder, 'history.jsonl'),
      jobSummary: github ? process.env['GITHUB_STEP_SUMMARY'] : undefined,
    });
    const annotations = github ? renderGithub(report) : '';
    if (annotations !== '') this.#print(annotations);
    return { ...written, html: written.html === undefined ? undefined : shownPath(written.html) };
  }

  /** A merge of blobs starts no target, and no set-up provides what files are asked for. */
  async #configOfMerge(): Promise<RunConfig | undefined> {
    return this.#vitest?.config.mergeReports === undefined ? undefined : runConfigFromEnvironment(process.env, process.cwd());
  }

  /** Once, as soon as the global set-up has provided what it says. */
  #showHeader(): void {
    const provided = this.#provided();
    if (this.#headerShown || provided === undefined) return;
    this.#headerShown = true;
    this.#print(`\n${renderHeader(provided.header, { ...this.#canvas, columns: Math.min(this.#canvas.columns, BLOCK_COLUMNS) })}\n`);
  }

  #showProgress(): void {
    this.#screen?.progress(`${this.#done}/${this.#total} · ${this.#running}`);
  }

  #print(text: string): void {
    this.#screen?.print(text);
  }

  /** The set-up may belong to the root or to one project. */
  #provided(): ProvidedRun | undefined {
    if (this.#vitest === undefined) return undefined;
    const projects = [this.#vitest.getRootProject(), ...this.#vitest.projects];
    return projects.map((project) => project.getProvidedContext().lockstep as ProvidedRun | undefined).find((found) => found !== undefined);
  }
}

/** Its failure says what an earlier claim has said already. */
function isNotRun(claim: ClaimResult): boolean {
  return claim.failures.length > 0 && claim.failures.every((failure) => failure.code === NOT_RUN);
}

function shownPath(path: string): string {
  const near = relative(process.cwd(), path);
  return near.startsWith('..') ? path : near;
}
