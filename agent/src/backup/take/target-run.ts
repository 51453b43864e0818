import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import { isTimeout } from '../../lib/run-limit.ts';
import type { Progress } from '../../lib/terminal/progress.ts';
import type { RunContext, Target, TargetOutcome } from './request.ts';

/** One store of a run, by itself: what fails there costs the others nothing, and it takes no further part. */
export class TargetRun {
  readonly target: Target;
  readonly context: RunContext;
  failure: AgentError | undefined;
  /** Once the snapshot is committed there. */
  outcome: TargetOutcome | undefined;

  constructor(target: Target, context: RunContext) {
    this.target = target;
    this.context = context;
  }

  /** Never rejects; why it failed is kept. */
  async attempt(work: (target: Target, context: RunContext) => Promise<void>): Promise<void> {
    if (this.failure) return;
    try {
      await work(this.target, this.context);
    } catch (error) {
      this.failure =
        error instanceof AgentError ? error : new AgentError(ExitCode.unexpected, messageOf(error), { cause: error });
      const { log, signal } = this.context;
      if (!signal.aborted) log.error({ store: this.target.store.url }, messageOf(error));
    }
  }

  describe(): TargetOutcome {
    return this.outcome ?? { store: this.target.store.url, error: this.failure };
  }
}

export function targetRuns(targets: readonly Target[], context: RunContext): TargetRun[] {
  const last: { run?: number } = {};
  return targets.map(
    (target, run) => new TargetRun(target, { ...context, progress: oneOf(context.progress, last, run) }),
  );
}

/** Several runs share the one progress: bytes are those of the phase that was named last. */
function oneOf(progress: Progress, last: { run?: number }, run: number): Progress {
  return {
    phase: (name, detail) => {
      last.run = run;
      progress.phase(name, detail);
    },
    bytes: (done, total) => {
      if (last.run === run) progress.bytes(done, total);
    },
    end: () => progress.end(),
  };
}

/** Throws when the run is over: it was stopped, or no store is left. A time-out costs nothing that is stored already. */
export function checkRuns(runs: readonly TargetRun[], signal: AbortSignal): void {
  const stored = runs.some(({ outcome }) => outcome);
  if (signal.aborted && !(stored && isTimeout(signal))) throw signal.reason;
  if (runs.every(({ failure }) => failure)) throw runs[0]!.failure;
}
