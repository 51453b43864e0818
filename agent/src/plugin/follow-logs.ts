import { setTimeout as sleep } from 'node:timers/promises';
import { isStatus } from '../kube/api-error.ts';
import { look } from './follow.ts';
import { type LogLine, type LogOptions, type LogSource, logOf, nanoseconds } from './pod-logs.ts';
import type { Session } from './session.ts';
import type { Terminal } from './terminal.ts';

/** Milliseconds between two looks for containers that have started. */
const interval = 1_000;

interface Following {
  readonly session: Session;
  readonly terminal: Terminal;
  /** Lists the containers that there are now. */
  readonly sources: () => Promise<readonly LogSource[]>;
  /** Which lines of the containers that run at first. Of those that start later, every line is read. */
  readonly options: LogOptions;
  readonly print: (line: LogLine) => void;
  readonly failed: (source: LogSource, error: unknown) => void;
}

/** How far the log of a container of a pod has been read. */
interface Place {
  readonly options: LogOptions;
  reads: boolean;
  newest?: LogLine;
  /** After so many restarts of the container, its log was read to the end. */
  ended?: number | undefined;
}

/** Follows these logs, and those of containers that start later, until the signal is aborted. */
export async function followLogs({ session, terminal, sources, options, print, failed }: Following): Promise<never> {
  const refused = new AbortController();
  const signal = AbortSignal.any([terminal.signal, refused.signal]);
  const places = new Map<string, Place>();

  const read = async (source: LogSource, place: Place): Promise<void> => {
    // The API server goes by whole seconds.
    const { newest } = place;
    const wanted = newest ? { sinceTime: newest.time } : place.options;
    place.reads = true;
    try {
      for await (const line of logOf(session, source, { ...wanted, follow: true }, signal)) {
        if (newest && nanoseconds(line.time) <= nanoseconds(newest.time)) continue;
        place.newest = line;
        print(line);
      }
      // The log of a container that ran may go on: the connection may have ended for another reason.
      if (!source.status?.state?.running) place.ended = source.status?.restartCount ?? 0;
    } catch (error) {
      if (isStatus(error, 403)) refused.abort(error);
      else if (!signal.aborted) failed(source, error);
    } finally {
      place.reads = false;
    }
  };

  for (let first = true; ; first = false) {
    for (const source of ((await look(session, terminal, sources)) ?? []).filter(hasLog)) {
      const key = `${source.uid} ${source.container}`;
      const place: Place = places.get(key) ?? { options: first ? options : {}, reads: false };
      places.set(key, place);
      const { state, restartCount = 0 } = source.status!;
      if (!place.reads && (state?.running || place.ended !== restartCount)) void read(source, place);
    }
    await sleep(interval, undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
  }
}

/** A container that has not started has no log. */
const hasLog = ({ status }: LogSource): boolean =>
  Boolean(status?.state?.running ?? status?.state?.terminated ?? status?.lastState?.terminated);
