import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import type { Finding } from '../../lib/finding.ts';
import { isTimeout, timedOutAt } from '../../lib/limits/timed-out-error.ts';
import { type Progress, stepOf } from '../../lib/terminal/progress.ts';
import { UnsureError } from './commit.ts';
import type { BackupTarget, RunContext, TargetOutcome } from './request.ts';

/** One store's part of a run. If it fails, it takes no further part, and the other stores continue. */
export class TargetRun {
  readonly target: BackupTarget;
  readonly context: RunContext;
  failure: AgentError | undefined;
  /** The key that leads to the payload, set once the snapshot has its manifest. */
  committed: string | undefined;
  /** Set when all work on the committed snapshot has ended. */
  outcome: TargetOutcome | undefined;

  constructor(target: BackupTarget, context: RunContext) {
    this.target = target;
    this.context = context;
  }

  /** Runs the work unless an earlier step failed. Never rejects; keeps the error in `failure`. */
  async attempt(work: (target: BackupTarget, context: RunContext) => Promise<void>): Promise<void> {
    if (this.failure) return;
    try {
      await work(this.target, this.context);
    } catch (thrown) {
      const error = timedOutAt(thrown, [], this.context.progress.step);
      this.failure =
        error instanceof AgentError ? error : new AgentError(ExitCode.unexpected, messageOf(error), { cause: error });
      const { log, signal } = this.context;
      if (!this.isEndedBy(signal))
        log.error(
          { store: this.target.store.url, at: this.failure.at, finding: this.failure.finding },
          messageOf(error),
        );
    }
  }

  /** Whether the end of the run is the only reason of the failure. */
  isEndedBy({ aborted, reason }: AbortSignal): boolean {
    return aborted && this.failure !== undefined && (this.failure === reason || this.failure.cause === reason);
  }

  describe(): TargetOutcome {
    return this.outcome ?? { store: this.target.store.url, error: this.failure };
  }
}

export function targetRuns(targets: readonly BackupTarget[], context: RunContext): TargetRun[] {
  const last: Last = {};
  return targets.map(
    (target, run) => new TargetRun(target, { ...context, progress: sharedProgress(context.progress, last, run) }),
  );
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
