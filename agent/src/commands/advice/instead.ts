import { type Entry, hasManifest, silentAmong } from '../../backup/catalog/catalog.ts';
import { earliestOf, mayBeFrom, timeOf } from '../../backup/catalog/passed-over.ts';
import { laterOf, newestVerified } from '../../backup/catalog/select.ts';
import { DamagedError } from '../../backup/payload/damaged-error.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { clockOf } from '../../store/clock.ts';
import type { CommandContext } from '../cli/command.ts';
import type { OpenedStore } from '../shared/opened-store.ts';
import { askedId, beforeFlag } from '../shared/snapshot-flags.ts';
import { listCommand, verifyCommand } from './adopt.ts';
import { said } from './advice.ts';

/** Suggests another snapshot than this one: the newest verified one, if that is known in time. */
export async function another(
  { id }: Entry,
  opened: OpenedStore,
  { settings, budget, list }: CommandContext,
): Promise<string> {
  const before = beforeFlag(settings);
  try {
    const hint = budget.wait();
    const entries = await opened.readAnswering(() => hint);
    const others = entries.filter((entry) => entry.id !== id);
    // A clock that does not answer by then is not needed for it.
    const now = laterOf(new Date(), await clockOf(opened.store, hint).catch(() => undefined));
    const { newest } = newestVerified(others, opened, opened.store.url, { now, before });
    if (newest) return `name another snapshot, for example ${newest.id}, ${whichIs(newest, others, before)}`;
  } catch {
    // The error that is reported matters more.
  }
  return `name another snapshot; see ${listCommand({ place: opened, list })}`;
}

function whichIs(newest: Entry, others: readonly Entry[], before: Date | undefined): string {
  const end = before?.getTime() ?? Number.POSITIVE_INFINITY;
  const mayBeNewer = (entry: Entry) => mayBeFrom(entry, timeOf(newest)) && earliestOf(entry) < end;
  return silentAmong(others).some(mayBeNewer)
    ? 'the newest other verified one that the store gives out now'
    : 'the newest other one that is verified';
}

/**
 * Runs the work that reads the snapshot. If its payload turns out to be damaged, adds to the error what to do. Retention keeps
 * what its own cluster restores, and knows of no other cluster: the snapshot may be deleted meanwhile.
 */
export async function orInstead<T>(
  entry: Entry,
  opened: OpenedStore,
  context: CommandContext,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AgentError) || !mayBeGone(error)) throw error;
    if (await isDeleted(entry, opened, context)) {
      const what = `${entry.id}: was deleted from ${opened.store.url} while it was read, by the retention of its cluster or by hand`;
      const pin = 'pin a snapshot that retention may delete before you restore it';
      throw new AgentError(
        ExitCode.nothingThere,
        `${what}, so it cannot be restored: ${await another(entry, opened, context)}; ${pin}`,
        { cause: error },
      );
    }
    if (!(error instanceof DamagedError)) throw error;
    const { settings } = context;
    const hint = `this snapshot is damaged: ${await another(entry, opened, context)}`;
    const isNamed = askedId(settings) !== undefined || settings.text('objectKey') !== undefined;
    const rest = isNamed ? '' : passOver(entry, opened, context);
    throw new AgentError(error.exitCode, `${said(error)}; ${hint}${rest}`);
  }
}

const mayBeGone = (error: AgentError): boolean =>
  error instanceof DamagedError || error.exitCode === ExitCode.nothingThere;

/** Its manifest goes first. One that an adopted file has lost, or never had, proves nothing. */
async function isDeleted(entry: Entry, { store }: OpenedStore, { budget }: CommandContext): Promise<boolean> {
  if (!hasManifest(entry)) return false;
  // The error that is reported matters more.
  return store.stat(entry.manifestKey, budget.wait()).then(
    (found) => found === undefined,
    () => false,
  );
}

function passOver({ id }: Entry, opened: OpenedStore, { settings }: CommandContext): string {
  return `; or run ${verifyCommand({ place: opened, settings }, id)}, after which commands without an id pass over it; that must be allowed to write to the store: if it is not, always name the snapshot`;
}
