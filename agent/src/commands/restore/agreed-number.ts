import { createHash } from 'node:crypto';
import { agreementKey } from '../../backup/catalog/catalog.ts';
import type { Numbered } from '../../control-plane/restore/prepare.ts';
import { readNote } from '../../control-plane/state/noted-restores.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import { said } from '../advice/advice.ts';
import type { CommandContext } from '../cli/command.ts';
import { noteKey, writeNote } from '../shared/note-restore.ts';
import type { OpenedCatalog } from '../shared/store-run.ts';
import type { ControlPlaneRequest } from './control-plane-request.ts';

/** Longest time in milliseconds that the notes by which nodes agree hold a restore up. */
export const NODES_LIMIT = 30_000;

/**
 * Agrees on one number with the other nodes, which restore the same snapshot at the same time: the first one to write it down
 * decides. All of them derive the key from what they restore, and from the restores of it that are over. What cannot be read may
 * be one of those.
 */
export async function agreedNumber(
  { bump, token, initialCluster }: Numbered,
  { manifest, entry, asked, served }: ControlPlaneRequest,
  opened: OpenedCatalog,
  context: CommandContext,
): Promise<{ readonly key: string; readonly bump: number }> {
  const { id, content } = manifest;
  const { signal } = context.budget.wait(NODES_LIMIT);
  const past = served.notes.filter((note) => note.id === id).map((note) => note.bump ?? 0);
  const of = [content.sha256, initialCluster.split(',').sort(), asked.token, Math.max(0, ...past)].join(' ');
  const hash = createHash('sha256').update(of).digest('hex').slice(0, 16);
  try {
    if (served.unread !== undefined) throw new Error(served.unread);
    const key = agreementKey(await noteKey(entry, opened, hash, async () => opened.entries), hash);
    const own = { key, id, bump, token, from: manifest.source.clusterId, marksServing: true };
    await unlessAborted(writeNote(opened.store, own, signal), signal);
    const found = await readNote(opened.store, key, signal);
    if (found.bump === undefined) throw new Error(`${key} names no number`);
    return { key, bump: found.bump };
  } catch (error) {
    context.signal.throwIfAborted();
    throw new AgentError(
      ExitCode.refused,
      `cannot agree with the other nodes on a number by notes in the store (${said(error)}); pass --bump-revision=${bump} to all nodes`,
    );
  }
}
