import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../kube/objects.ts';
import { formatAge } from '../lib/terminal/format-age.ts';
import { bar } from '../lib/terminal/progress.ts';
import { Exit, failureOf } from './exit.ts';
import { isOver } from './objects.ts';
import type { Session } from './session.ts';
import type { Terminal } from './terminal.ts';
import { ageOf, plain } from './text.ts';

/** Milliseconds between two looks. */
const interval = 1_000;

/** Milliseconds that a reconciler may take to see a new object. */
const unseen = 10_000;

/** How far something is. EtcdBackups and EtcdRestores have it as their status. */
export interface ObservedProgress {
  readonly phase?: string;
  readonly reason?: string;
  readonly message?: string;
}

interface Following<T> {
  readonly session: Session;
  readonly terminal: Terminal;
  readonly path: string;
  /** How far it is, from 0 to 1. Undefined: unknown. */
  readonly share?: (object: T, elapsed: number) => number | undefined;
  readonly progress: (object: T) => ObservedProgress | undefined | Promise<ObservedProgress>;
}

/** Shows the phases of an object until it is over. Undefined after Ctrl-C, which ends only the showing. */
export async function follow<T extends KubeObject>({
  session,
  terminal,
  path,
  share,
  progress,
}: Following<T>): Promise<T | undefined> {
  const started = performance.now();
  for (let before = ''; !terminal.signal.aborted; ) {
    const seen = await look(session, terminal, async () => {
      const object = await session.client.get<T>(path);
      return { object, ...(await progress(object)) };
    });
    if (seen) {
      const { object, phase = 'Pending', reason = '' } = seen;
      const elapsed = performance.now() - started;
      const isNew = (!seen.reason || reason === 'NotSeen') && phase === 'Pending' && elapsed < unseen;
      const message = isNew ? '' : (seen.message ?? '');
      const state = isNew ? 'waiting for the reconciler' : `${phase}${reason ? ` (${reason})` : ''}`;
      const text = plain(`${object.metadata.name}: ${state}`);
      const done = share?.(object, elapsed);
      terminal.draw([text, done !== undefined && bar(done, 16), formatAge(elapsed)].filter(Boolean).join(' '));
      const ended = isOver({ status: { phase } });
      if (text !== before && !ended) terminal.note(text + (message ? `: ${plain(message)}` : ''));
      before = text;
      if (ended) return object;
    }
    await sleep(interval, undefined, { signal: terminal.signal }).catch(() => {});
  }
  return undefined;
}

/** A server that cannot be reached for a moment ends nothing. */
export async function look<T>(session: Session, terminal: Terminal, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    const { exit, message } = failureOf(error, session.client.server);
    if (exit !== Exit.unreachable) throw error;
    terminal.draw(message);
    return undefined;
  }
}

/** How long something took, for people. */
export const duration = (from: string | undefined, to: string | undefined): string => ageOf(from, Date.parse(to ?? ''));
