import type { SnapshotManifest } from '../../backup/catalog/manifest.ts';
import { memberDir, partialDir, type RestoreMark, readMarker } from '../../control-plane/node/data-directory.ts';
import type { EtcdNode } from '../../control-plane/node/node.ts';
import { quotaNotes } from '../../control-plane/restore/free-space.ts';
import {
  JOURNAL_SCHEMA,
  Journal,
  type JournalContent,
  type JournalState,
  stampOf,
} from '../../control-plane/restore/journal.ts';
import {
  type Agree,
  bumpAndToken,
  type Prepared,
  type PrepareRequest,
  prepare,
  readPrepared,
  tokenOf,
} from '../../control-plane/restore/prepare.ts';
import { discardPrepared, oldData, oldDataText } from '../../control-plane/restore/replace-member.ts';
import { continueRestore } from '../../control-plane/restore/restore.ts';
import { leftOutNotes, leftOutOf, refuseAlive } from '../../control-plane/state/members-left-out.ts';
import { notesBeside, readNote } from '../../control-plane/state/noted-restores.ts';
import { parseInitialCluster } from '../../control-plane/state/snapshot-members.ts';
import { walDirectory, walIdentity } from '../../etcd/offline/wal.ts';
import { AgentError, ExitCode, usageError } from '../../lib/errors.ts';
import { cannotRead } from '../../lib/files/file-faults.ts';
import { withTimeout } from '../../lib/limits/budget.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import { lazyStore } from '../../store/open.ts';
import type { Store } from '../../store/store.ts';
import { said } from '../advice/advice.ts';
import type { CommandContext } from '../cli/command.ts';
import type { CommandResult } from '../cli/result.ts';
import type { Settings } from '../cli/settings.ts';
import { noteKey, warnNotNoted, writeMemberNote, writeNote } from '../shared/note-restore.ts';
import { askedId, bumpFlag, sha256Flag } from '../shared/snapshot-flags.ts';
import { withAnswering } from '../shared/store-run.ts';
import { agreedNumber, NODES_LIMIT } from './agreed-number.ts';
import {
  type NodePlaces,
  nodeOf,
  placesOf,
  prepareRequest,
  refuseNode,
  refusePassedOver,
  waitingOf,
} from './control-plane-request.ts';
import { peerUrlsOf } from './data-dir-claim.ts';

/** Restores this node's member, or continues a restore that was interrupted. */
export async function execute(context: CommandContext, until: JournalState): Promise<CommandResult> {
  const { settings } = context;
  const places = placesOf(settings);
  const found = await begun(settings, places);
  if (found) {
    await makeAgain(found, context);
    return finish(found, until, context);
  }

  const node = await nodeOf(settings);
  await refuseNode(node, places);
  const before = await readMarker(memberDir(node.member.dataDir));
  // The snapshot must be named: without an id the newest one is meant, which may be newer than that of the last
  // restore.
  if (before && settings.text('objectKey') === undefined && isAsked(before, settings) && (await isOf(before, node))) {
    return nothingToDo(before, node);
  }
  const ended = await endedBefore(settings, places);
  if (ended && before && isRestoreOf(ended.content, before) && (await isOf(before, node))) {
    return nothingToDo(before, node);
  }
  if (ended) throw carriedOut(ended, settings);
  const prepared = await withTimeout(context, (within) => prepareHere(node, within));
  if ('done' in prepared) return nothingToDo(prepared.done, node);
  const { note, made } = prepared;
  const objectKey = settings.text('objectKey') ?? '';
  return finish(await beginJournal({ ...made, note, objectKey }, node, places), until, context);
}

/** Finds a restore on this node that has begun and not ended. */
export async function begun(settings: Settings, { journalDir }: NodePlaces): Promise<Journal | undefined> {
  const journal = await Journal.newest(journalDir);
  if (!journal || ['done', 'undone'].includes(journal.content.state)) return undefined;
  const { id, token, state } = journal.content;
  const refuse = (why: string) => new AgentError(ExitCode.refused, `${journal.folder}: ${why}`);
  if (settings.flag('undo')) return journal;
  if (state === 'undoing') throw refuse('a restore is being undone; finish that with --undo first');
  const { objectKey } = journal.content;
  if (!isAsked(journal.content, settings) || (objectKey !== undefined && !isOfKey(journal.content, settings))) {
    throw refuse(
      `a restore of ${id} with the token ${token} has not ended; finish it with the same flags, or go back with --undo`,
    );
  }
  return journal;
}

/**
 * Finds a restore that has already carried out the request. A request in a file counts once: the kubelet starts the static Pod
 * again whenever it likes, also after an undo or on newer data. Who names the snapshot on the command line means it.
 */
export async function endedBefore(
  settings: Settings,
  { journalDir }: NodePlaces,
  snapshot?: Pick<SnapshotManifest, 'id'>,
): Promise<Journal | undefined> {
  if (settings.args.length > 0 || !settings.isSet('config')) return undefined;
  return (await Journal.all(journalDir)).find(
    ({ content }) => isAsked(content, settings) && isOfKey(content, settings, snapshot),
  );
}

/** True if a restore is of the requested object: of the same key, of the same content, or of the snapshot found at the key. */
function isOfKey(
  { id, sha256, objectKey }: JournalContent,
  settings: Settings,
  snapshot?: Pick<SnapshotManifest, 'id'>,
): boolean {
  const asked = settings.text('objectKey');
  if (asked === undefined || objectKey === asked) return true;
  return snapshot === undefined ? sha256 !== undefined && sha256 === sha256Flag(settings) : snapshot.id === id;
}

function carriedOut({ folder, content: { id, state, startedAt } }: Journal, settings: Settings): AgentError {
  const file = settings.text('config');
  return new AgentError(
    ExitCode.refused,
    `${folder}: the restore of ${id} that began at ${startedAt} was ${state}, and the request in ${file} is carried out once; to restore again, write a larger bumpRevision into ${file}, or name the snapshot on the command line`,
  );
}

/** Prepares the data again if that of an earlier run is lost, for example with its disk. */
async function makeAgain(journal: Journal, context: CommandContext): Promise<void> {
  const { state, node, id, token, bump, initialCluster } = journal.content;
  const { dataDir } = node.member;
  const isOurs = (made: Pick<RestoreMark, 'id' | 'token'> | undefined) =>
    made !== undefined && isRestoreOf(journal.content, made);
  if (state !== 'prepared' && state !== 'stopped') return;
  if (isOurs(await readPrepared(dataDir)) || isOurs(await readMarker(memberDir(dataDir)))) return;
  const { settings } = context;
  if (!askedId(settings) && !settings.text('objectKey')) {
    throw usageError(
      `${dataDir}: the data that was prepared from ${id} is lost; name that snapshot to prepare it again`,
    );
  }
  const begun = { asked: { token, bump }, initialCluster };
  const made = await withTimeout(context, (within) =>
    withAnswering(within, async (opened) => {
      const request = await prepareRequest(opened, node, within);
      return makeOrReuse({ ...request, ...begun }, async (own) => own.bump);
    }),
  );
  await journal.set(made);
}

const isRestoreOf = (one: Pick<RestoreMark, 'id' | 'token'>, other: Pick<RestoreMark, 'id' | 'token'>): boolean =>
  one.id === other.id && one.token === other.token;

type Request = Pick<RestoreMark, 'id' | 'token' | 'bump' | 'initialCluster' | 'sha256'>;

/** True if a restore is the one that the flags describe. Fields that an earlier run did not record always match. */
function isAsked({ id, token, bump, initialCluster, sha256 }: Request, settings: Settings): boolean {
  const members = settings.text('initialCluster');
  const asked = sha256Flag(settings);
  return (
    [id, undefined].includes(askedId(settings)) &&
    (members === undefined || initialCluster === undefined || sorted(members) === sorted(initialCluster)) &&
    (asked === undefined || sha256 === undefined || asked === sha256) &&
    [token, undefined].includes(settings.text('initialClusterToken')) &&
    [bump, undefined].includes(bumpFlag(settings))
  );
}

const sorted = (list: string) => list.split(',').filter(Boolean).sort().join();

/** True if the data is still the restored one, and belongs to the member that the flags describe. */
export async function isOf({ id, clusterId, name, peerUrls }: RestoreMark, { member }: EtcdNode): Promise<boolean> {
  const { dataDir, walDir = walDirectory(dataDir) } = member;
  const found = await walIdentity(dataDir, walDir).catch((error) => {
    const so = `so it is not known whether ${dataDir} still has the data that were restored from ${id}; to restore them again, pass the same larger --bump-revision to all nodes`;
    throw cannotRead(walDir, error, so);
  });
  const isMember =
    (name ?? member.name) === member.name && sorted(peerUrls ?? member.peerUrls) === sorted(member.peerUrls);
  return found?.clusterId === clusterId && isMember;
}

async function prepareHere(
  node: EtcdNode,
  context: CommandContext,
): Promise<{ made: Prepared; note: JournalContent['note'] } | { done: RestoreMark }> {
  return withAnswering(context, async (opened) => {
    const request = await prepareRequest(opened, node, context);
    refusePassedOver(request);
    for (const note of quotaNotes(node.member, request.manifest)) context.log.warn(note);
    const before = await readMarker(memberDir(node.member.dataDir));
    const { id, content } = request.manifest;
    const ended = await endedBefore(context.settings, placesOf(context.settings), request.manifest);
    if (ended && !(before && isRestoreOf(ended.content, before) && (await isOf(before, node)))) {
      throw carriedOut(ended, context.settings);
    }
    const isSame = before?.id === id && [content.sha256, undefined].includes(before.sha256);
    if (isSame && isAsked(before, context.settings) && (await isOf(before, node))) return { done: before };
    let agreed: string | undefined;
    const agree: Agree = async (own) => {
      const found = await agreedNumber(own, request, opened, context);
      agreed = found.key;
      return found.bump;
    };
    const made = await makeOrReuse(request, agree);
    const key = await noteKey(request.entry, opened, made.clusterId, async () => opened.entries);
    const { clusterId: from } = request.manifest.source;
    return { made, note: { key, from, agreed } };
  });
}

async function makeOrReuse(request: PrepareRequest, agree: Agree): Promise<Prepared> {
  const there = await readPrepared(request.node.member.dataDir);
  return there && isWhatIsAsked(there, request) ? seenAgain(there, request) : prepare(request, agree);
}

/** Updates data that was prepared before: members may have come back since then. */
async function seenAgain(
  there: Prepared,
  { node: { member }, manifest, read: { signal } }: PrepareRequest,
): Promise<Prepared> {
  const { id, initialCluster, clusterId, leftOut: ofSnapshot = [] } = there;
  const restored = parseInitialCluster(initialCluster);
  const { leftOut, oldIds } = await leftOutOf({
    ...{ member, manifest, ofSnapshot, restored, clusterId },
    signal,
  });
  try {
    refuseAlive(id, leftOut);
  } catch (error) {
    await discardPrepared(member);
    throw error;
  }
  const others = [...new Set([...there.others, ...leftOut.flatMap(({ peerUrls }) => peerUrls)])];
  return { ...there, leftOut, oldIds: [...new Set([...(there.oldIds ?? []), ...oldIds])], others };
}

/** True if this run would prepare the same data from the same snapshot as the killed run did. */
function isWhatIsAsked(there: Prepared, request: PrepareRequest): boolean {
  const { manifest, initialCluster } = request;
  if (there.id !== manifest.id || ![there.initialCluster, undefined].includes(initialCluster)) return false;
  if (![manifest.content.sha256, undefined].includes(there.sha256)) return false;
  const { bump, token } = bumpAndToken(request, {
    revision: there.revision - there.bump,
    members: parseInitialCluster(there.initialCluster),
  });
  return bump === there.bump && token === there.token;
}

function beginJournal(
  prepared: Prepared & Pick<JournalContent, 'note' | 'objectKey'>,
  node: EtcdNode,
  { manifestsDir, journalDir }: NodePlaces,
): Promise<Journal> {
  const startedAt = new Date();
  return Journal.begin(journalDir, {
    ...prepared,
    schema: JOURNAL_SCHEMA,
    state: 'prepared',
    startedAt: startedAt.toISOString(),
    node,
    manifestsDir,
    replacedDir: `${memberDir(node.member.dataDir)}.replaced-${stampOf(startedAt)}`,
  });
}

/**
 * Notes the restore in the store after the old etcd has stopped and before the new one serves. Waits at most 30 s for
 * the store. Compares the notes of other nodes, because nodes that prepare at the same time do not see each other's
 * notes before.
 */
export async function noteInStore(journal: Journal, context: CommandContext): Promise<void> {
  const { note, id, clusterId, revision, bump, token, state, initialCluster } = journal.content;
  const { signal, log } = context;
  if (!note || note.isWritten) return;
  const { key, from } = note;
  const several = parseInitialCluster(initialCluster).length > 1;
  let isNoted = false;
  let other: string | undefined;
  try {
    await inStore(context, async (store, limited) => {
      other = await otherRestore(store, note, journal.content, limited);
      if (other) return;
      await writeNote(store, { key, from, id, clusterId, revision, bump, token, marksServing: several }, limited);
      isNoted = true;
      // Check again: of two nodes that write at the same time, each sees the note of the other now.
      other = await otherRestore(store, note, journal.content, limited);
    });
  } catch (error) {
    signal.throwIfAborted();
    warnNotNoted(from, error, log, several ? `; pass --bump-revision=${bump} to the other nodes` : '');
  }
  if (other) {
    const message = `another node has restored ${other} as the same cluster ${clusterId}, this one ${id} with --bump-revision=${bump}; go back with --undo, and pass one id, one --bump-revision and a new --initial-cluster-token to all nodes`;
    if (state === 'stopped' || state === 'replaced') throw new AgentError(ExitCode.refused, message);
    log.warn(message);
  }
  if (isNoted) await journal.set({ note: { ...note, isWritten: true } });
}

/**
 * Marks in the store that the restored cluster has served, so that no node joins its restore after it is gone. A failure is only a
 * warning: the other nodes mark it too, and so does each backup of it.
 */
export async function markServed({ content }: Journal, context: CommandContext): Promise<void> {
  const { note, node, id, clusterId, memberId, bump, initialCluster } = content;
  if (!note || parseInitialCluster(initialCluster).length === 1) return;
  const { name } = node.member;
  const peerUrls = peerUrlsOf(initialCluster, name);
  const mark = { id, clusterId, memberId, name, at: new Date().toISOString(), peerUrls, bump };
  await inStore(context, (store, signal) => writeMemberNote(store, note.key, mark, signal)).catch((error) =>
    context.log.warn(`cannot note that the restored cluster has served (${said(error)}); take a backup of it`),
  );
}

async function inStore(
  { settings, signal }: CommandContext,
  work: (store: Store, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const store = lazyStore(settings.store());
  const limited = AbortSignal.any([signal, AbortSignal.timeout(NODES_LIMIT)]);
  try {
    await unlessAborted(work(store, limited), limited);
  } finally {
    store.close();
  }
}

/**
 * Finds a note about another restore with the same cluster id, or another number on which the nodes agreed: not every store can
 * refuse to overwrite. With a token of the agent, which is derived from the snapshot and the number, no other restore has the
 * same cluster id. A single node has already checked this.
 */
async function otherRestore(
  store: Store,
  { key, agreed }: NonNullable<JournalContent['note']>,
  { id, bump, token, sha256, initialCluster }: JournalContent,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (parseInitialCluster(initialCluster).length === 1) return undefined;
  const isOwnToken = sha256 !== undefined && token === tokenOf({ content: { sha256 } }, bump);
  const notes = isOwnToken ? [] : await notesBeside(store, key, signal);
  if (agreed !== undefined) notes.push(await readNote(store, agreed, signal));
  const other = notes.find((note) => note.id !== id || (note.bump ?? bump) !== bump);
  return other && `${other.id}${other.bump === undefined ? '' : ` with --bump-revision=${other.bump}`}`;
}

function nothingToDo({ id, clusterId }: RestoreMark, { member }: EtcdNode): CommandResult {
  return {
    exitCode: 0,
    text: `${member.name}: was already restored from ${id}; nothing done. To restore another snapshot, name it. To restore the same one again, pass the same larger --bump-revision to all nodes`,
    data: { id, clusterId, alreadyRestored: true },
  };
}

async function finish(journal: Journal, until: JournalState, context: CommandContext): Promise<CommandResult> {
  const waiting = waitingOf(context);
  if (journal.content.state === 'prepared') await continueRestore(journal, 'stopped', waiting);
  if (until !== 'stopped') {
    await noteInStore(journal, context);
    await continueRestore(journal, 'served', waiting);
    // The API server is not kept waiting.
    const marked = markServed(journal, context);
    await continueRestore(journal, until, waiting).finally(() => marked);
  }
  return endOf(journal);
}

export async function endOf(journal: Journal): Promise<CommandResult> {
  const { id, clusterId, memberId, replacedDir, node, state, manifestsDir, leftOut = [], unread } = journal.content;
  const old = await oldData(node.member, replacedDir);
  const data = {
    ...{ id, clusterId, memberId, state, journal: journal.folder, alreadyRestored: false },
    aside: old.includes(replacedDir) ? replacedDir : undefined,
  };
  const { name, dataDir } = node.member;
  if (state !== 'done') {
    const text = `${name}: API server and etcd are stopped, and their manifests are in ${journal.folder}; ${id} is ready in ${partialDir(dataDir)}. When all nodes have reached this step, continue without --stop, or go back with --undo`;
    return { exitCode: 0, text, data };
  }
  const lines = [
    `${name}: restored from ${id}: cluster ${clusterId}, member ${memberId}`,
    `  ${dataDir}/member has the restored data; ${oldDataText(old)}`,
    `  manifests were moved out of ${manifestsDir} and back; the journal is in ${journal.folder}`,
    '  now: systemctl restart kubelet; then: etcd-agent restore control-plane --check',
    ...leftOutNotes(leftOut, unread).map((note) => `  ${note}`),
  ];
  return { exitCode: 0, text: lines.join('\n'), data };
}
