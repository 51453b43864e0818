/** What happened in a run of chaos. Times are in ms, by the clock of the machine that runs it. */
export interface ChaosRun {
  readonly seed: number;
  readonly faults: readonly FaultRow[];
  readonly samples: readonly Sample[];
}

export interface FaultRow {
  readonly number: number;
  readonly what: string;
  readonly from: number;
  /** When the cluster was whole again. Undefined: never. */
  readonly to?: number;
  readonly failed?: boolean;
  readonly longestGap?: number;
  readonly elections?: number;
}

/** What was seen at one time. What could not be read is undefined. */
export interface Sample {
  readonly at: number;
  /** Acknowledged writes since the beginning. */
  readonly written?: number;
  readonly phase?: string;
  /** The type of the operation in progress, and its goal. */
  readonly operation?: string;
  readonly step?: string;
  /** Conditions that show a fault, each with its reason. */
  readonly troubles?: readonly string[];
  /** Names of the alerts that fire. */
  readonly alerts?: readonly string[];
}

/** A time during which something was the same. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly what: string;
}

/** Returns how long each of these was seen. Samples that could not be read end what was seen before. */
export function spans(samples: readonly Sample[], of: (sample: Sample) => readonly string[] | undefined): Span[] {
  const open = new Map<string, Span>();
  const closed: Span[] = [];
  for (const sample of samples) {
    const seen = of(sample) ?? [];
    for (const [what, span] of open) {
      if (seen.includes(what)) continue;
      closed.push({ ...span, to: sample.at });
      open.delete(what);
    }
    for (const what of seen) open.set(what, { from: open.get(what)?.from ?? sample.at, to: sample.at, what });
  }
  return [...closed, ...open.values()].sort((a, b) => a.from - b.from || (a.what < b.what ? -1 : 1));
}

/** Acknowledged writes per second between two samples. */
export interface Rate {
  readonly from: number;
  readonly to: number;
  readonly perSecond: number;
}

export function rates(samples: readonly Sample[]): Rate[] {
  const read = samples.filter((sample) => sample.written !== undefined);
  return read.slice(1).map(({ at, written }, index) => {
    const { at: from, written: before } = read[index]!;
    return { from, to: at, perSecond: Math.max(0, (written! - before!) / ((at - from) / 1000)) };
  });
}
