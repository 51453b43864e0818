import { AgentError, ExitCode, messageOf, remarkOf, type Warn } from '../../lib/errors.ts';
import type { Finding, Remark } from '../../lib/finding.ts';
import { isTimeout, timedOutAt } from '../../lib/limits/timed-out-error.ts';
import { type Progress, stepOf } from '../../lib/terminal/progress.ts';
import type { Entry } from '../catalog/catalog.ts';
import { Folder, type Listing } from '../catalog/folder.ts';
import { folderOf, type NamedCluster } from '../catalog/identity/folder.ts';
import type { SnapshotManifest } from '../catalog/manifest.ts';
import type { WaitingPayloads } from '../retention/sweep.ts';
import type { BackupTarget, RunContext, TargetOutcome } from './request.ts';

/** Whether the backup was committed is not known. */
export class UnsureError extends AgentError {
  readonly what: string;

  constructor(error: unknown, what: string) {
    const exitCode = error instanceof AgentError ? error.exitCode : ExitCode.unexpected;
    super(exitCode, `${messageOf(error)}; ${what}`, {
      ...{ cause: error, finding: { kind: 'listed', remedy: remarkOf(error).finding } },
    });
    this.what = what;
  }
}

interface Before {
  readonly entries: readonly Entry[];
  /** Ids that are already in use. */
  readonly ids: readonly string[];
  readonly waiting: WaitingPayloads | undefined;
  /** Another run may be writing a snapshot. */
  readonly isUnderWay: boolean;
  /** Whether the store lists its snapshots to this run. */
  readonly isListed: boolean;
}

/** What the manifest says of the snapshots before it, and what waits for it. */
interface Past extends Pick<Before, 'waiting'> {
  readonly family?: SnapshotManifest['cluster']['family'];
  readonly span?: Pick<SnapshotManifest, 'sameEtcdSince' | 'sameEtcdUntil'>;
}

/** One store's part of a run. If it fails, it takes no further part, and the other stores continue. */
export class TargetRun {
  readonly target: BackupTarget;
  readonly context: RunContext;
  readonly folder: Folder;
  /** What the store had before this run. */
  before: Before | undefined;
  /** What the rest of the run needs of it. */
  past: Past | undefined;
  failure: AgentError | undefined;
  /** The key that leads to the payload, set once the snapshot has its manifest. */
  committed: string | undefined;
  /** Set when all work on the committed snapshot has ended. */
  outcome: TargetOutcome | undefined;
  #listing: Listing | undefined;

  constructor(target: BackupTarget, context: RunContext, path: string) {
    this.target = target;
    this.context = context;
    this.folder = new Folder(target.store, path, context.signal);
  }

  /** Lists the folder, once: the list grows with the number of snapshots. */
  async list(): Promise<Listing> {
    this.#listing ??= await this.folder.list();
    return this.#listing;
  }

  /** Frees what was read before the snapshot. */
  forget(): void {
    this.#listing = undefined;
    this.before = undefined;
  }

  readonly warn: Warn = (message, finding) => this.context.log.warn({ store: this.target.store.url, finding }, message);

  /** Keeps the error that ends this store's part. */
  fail(thrown: unknown): void {
    const { log, progress, signal } = this.context;
    const error = timedOutAt(thrown, [], progress.step);
    this.failure =
      error instanceof AgentError ? error : new AgentError(ExitCode.unexpected, messageOf(error), { cause: error });
    const { at, finding } = this.failure;
    if (!this.isEndedBy(signal)) log.error({ store: this.target.store.url, at, finding }, messageOf(error));
  }

  /**
   * Logs a failure after the snapshot was committed, and returns it. Rethrows if the run was stopped, but not
   * after a time-out.
   */
  failureAfter(what: string, error: unknown): Remark {
    const { log, progress, signal } = this.context;
    if (!isTimeout(signal)) signal.throwIfAborted();
    const why = remarkOf(signal.aborted ? timedOutAt(signal.reason, [], progress.step) : error);
    log.error({ store: this.target.store.url, at: why.at, finding: why.finding }, `${what}: ${why.message}`);
    return why;
  }

  /** Whether the end of the run is the only reason of the failure. */
  isEndedBy({ aborted, reason }: AbortSignal): boolean {
    return aborted && this.failure !== undefined && (this.failure === reason || this.failure.cause === reason);
  }

  describe(): TargetOutcome {
    return this.outcome ?? { store: this.target.store.url, error: this.failure };
  }
}

export function targetRuns(
  { targets, ...named }: NamedCluster & { readonly targets: readonly BackupTarget[] },
  context: RunContext,
): TargetRun[] {
  const last: Last = {};
  return targets.map((target, run) => {
    const progress = sharedProgress(context.progress, last, run);
    return new TargetRun(target, { ...context, progress }, folderOf(named));
  });
}

/** Does a step in each store that still takes part. One that fails takes no further part. */
export async function attempt(runs: readonly TargetRun[], step: (run: TargetRun) => Promise<void>): Promise<void> {
  const open = runs.filter(({ failure }) => !failure);
  await Promise.all(open.map((run) => step(run).catch((error) => run.fail(error))));
}

interface Last {
  run?: number;
  /** The last step of all stores together. */
  common?: string | undefined;
}

/** Lets several stores share one progress display. It shows the bytes of the store that began the latest phase. */
function sharedProgress(progress: Progress, last: Last, run: number): Progress {
  let own: string | undefined;
  return {
    get step() {
      return own ?? (last.run === undefined ? progress.step : last.common);
    },
    phase: (name, detail) => {
      if (last.run === undefined) last.common = progress.step;
      last.run = run;
      own = stepOf(name, detail);
      progress.phase(name, detail);
    },
    bytes: (done, total) => {
      if (last.run === run) progress.bytes(done, total);
    },
    end: () => progress.end(),
  };
}

/** The reason of the signal. What is stored by then is a whole snapshot, and is named, as is what may be stored. */
function namingStored(runs: readonly TargetRun[], signal: AbortSignal): unknown {
  const error = namingLate(runs, signal);
  const stored = runs.flatMap(({ committed, target }) => (committed ? [`${committed} in ${target.store.url}`] : []));
  const unsure = runs.flatMap(({ failure }) => (failure instanceof UnsureError ? [failure.what] : []));
  if (stored.length + unsure.length === 0 || !(error instanceof AgentError)) return error;
  const before = stored.length > 0 ? `; before that, the snapshot was stored: ${stored.join(', ')}` : '';
  const perhaps = unsure.length > 0 ? `; ${unsure.join(', and ')}` : '';
  const finding: Finding | undefined = perhaps ? { kind: 'listed', remedy: error.finding } : error.finding;
  return new AgentError(error.exitCode, `${messageOf(error)}${before}${perhaps}`, {
    cause: error,
    at: error.at,
    finding,
  });
}

/** The reason of the signal. A time-out also names the stores whose work it has ended, and their step if it is one. */
function namingLate(runs: readonly TargetRun[], signal: AbortSignal): unknown {
  const { reason } = signal;
  const late = runs.filter((run) => run.isEndedBy(signal));
  if (!isTimeout(signal) || late.length === 0) return reason;
  const urls = late.map(({ target }) => target.store.url);
  const [step, ...more] = new Set(late.map(({ context }) => context.progress.step));
  return timedOutAt(reason, urls, more.length === 0 ? step : undefined);
}

/**
 * Throws if the run was stopped or no store is left. After a time-out it continues if a store already has the snapshot.
 */
export function checkRuns(runs: readonly TargetRun[], signal: AbortSignal): void {
  const stored = runs.some(({ outcome }) => outcome);
  if (signal.aborted && !(stored && isTimeout(signal))) throw namingStored(runs, signal);
  if (runs.every(({ failure }) => failure)) throw runs[0]!.failure;
}
