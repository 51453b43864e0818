import { walDirectory } from '../../etcd/offline/wal.ts';
import { walState } from '../../etcd/offline/wal-state.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { cannotRead } from '../../lib/files/file-faults.ts';
import { memberDir, readMarker } from '../node/data-directory.ts';
import { manifestsIn, moveManifests, startManifests } from '../node/manifests.ts';
import { serveTrouble } from '../state/health.ts';
import type { Journal } from './journal.ts';
import { discardPrepared, oldData, oldDataText, putBack } from './replace-member.ts';
import { stopNode } from './stop-node.ts';
import type { RestoreContext } from './wait.ts';

/** Puts the old data and manifests back, if they were moved. Refuses if the new member has served: everything written since would be lost. */
export async function undo(journal: Journal, context: RestoreContext): Promise<void> {
  const { state, node, clusterId, manifestsDir, replacedDir } = journal.content;
  if (state === 'served' || state === 'done') throw await served(journal);
  // Nothing was replaced yet, so nothing has to stop.
  if (state === 'prepared') {
    await moveManifests(await manifestsIn(journal.manifests), journal.manifests, manifestsDir);
    await discardPrepared(node.member);
    return journal.set({ state: 'undone' });
  }
  const inPlace = await isInPlace(journal);
  if (inPlace && !(await serveTrouble(node.member, clusterId))) return refuseServed(journal);
  context.progress.phase('stop', 'etcd');
  const running = await manifestsIn(manifestsDir);
  const reason = await stopNode(journal, context);
  if (reason !== undefined) throw new AgentError(ExitCode.refused, reason, { finding: { kind: 'undoAgain' } });
  const isServed = await hasServed(journal, inPlace).catch(async (error) => {
    await moveManifests(running, journal.manifests, manifestsDir);
    throw error;
  });
  if (isServed) {
    await moveManifests(await manifestsIn(journal.manifests), journal.manifests, manifestsDir);
    return refuseServed(journal);
  }
  await journal.set({ state: 'undoing' });
  context.progress.phase('undo', 'putting the old data and manifests back');
  await putBack(node.member, replacedDir, journal.content);
  await startManifests(await manifestsIn(journal.manifests), journal.manifests, manifestsDir);
  await journal.set({ state: 'undone' });
}

/** Checks the data themselves: a killed run or a service manager may have started etcd without a note in the journal. */
async function isInPlace({ content: { node, id, token } }: Journal): Promise<boolean> {
  const marker = await readMarker(memberDir(node.member.dataDir));
  return marker?.id === id && marker.token === token;
}

/** A member without a quorum commits nothing beyond the restored entries. */
async function hasServed({ content: { node, commit, replacedDir } }: Journal, inPlace: boolean): Promise<boolean> {
  if (!inPlace) return false;
  const { dataDir, walDir = walDirectory(dataDir) } = node.member;
  const state = await walState(dataDir, walDir).catch(async (error) => {
    const old = oldDataText(await oldData(node.member, replacedDir));
    throw cannotRead(
      walDir,
      error,
      `so it is not known whether the restored member has served; nothing was undone, and ${old}`,
      { kind: 'undoUnsure', memberDir: memberDir(dataDir) },
    );
  });
  return (state?.commit ?? 0) > commit;
}

async function refuseServed(journal: Journal): Promise<never> {
  await journal.set({ state: 'served', servedAt: journal.content.servedAt ?? new Date().toISOString() });
  throw await served(journal);
}

async function served({ content: { replacedDir, id, node } }: Journal): Promise<AgentError> {
  const old = oldDataText(await oldData(node.member, replacedDir));
  return new AgentError(
    ExitCode.refused,
    `the member restored from ${id} has served, and everything written since would be lost; ${old}`,
    { at: 'undo' },
  );
}
