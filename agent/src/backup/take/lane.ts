import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import type { Progress } from '../../lib/terminal/progress.ts';
import type { RunContext, Target, TargetOutcome } from './store-snapshot.ts';

/** One store of a run, by itself: what fails there costs the others nothing, and it takes no further part. */
export class Lane {
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

export function lanesOf(targets: readonly Target[], context: RunContext): Lane[] {
  const last: { lane?: number } = {};
  return targets.map((target, lane) => new Lane(target, { ...context, progress: oneOf(context.progress, last, lane) }));
}

/** Several lanes share the one progress: bytes are those of the phase that was named last. */
function oneOf(progress: Progress, last: { lane?: number }, lane: number): Progress {
  return {
    phase: (name, detail) => {
      last.lane = lane;
      progress.phase(name, detail);
    },
    bytes: (done, total) => {
      if (last.lane === lane) progress.bytes(done, total);
    },
    end: () => progress.end(),
  };
}

export const isTimeout = ({ aborted, reason }: AbortSignal): boolean =>
  aborted && reason instanceof AgentError && reason.exitCode === ExitCode.timedOut;

/** Throws when the run is over: it was stopped, or no store is left. A time-out costs nothing that is stored already. */
export function checkLanes(lanes: readonly Lane[], signal: AbortSignal): void {
  const stored = lanes.some(({ outcome }) => outcome);
  if (signal.aborted && !(stored && isTimeout(signal))) throw signal.reason;
  if (lanes.every(({ failure }) => failure)) throw lanes[0]!.failure;
}
