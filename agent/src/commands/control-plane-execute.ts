import type { CommandContext } from '../command.ts';
import { type Marker, memberDir, readMarker } from '../control-plane/data-folders.ts';
import { JOURNAL_SCHEMA, Journal, type State, stampOf } from '../control-plane/journal.ts';
import type { EtcdNode } from '../control-plane/node.ts';
import { type Prepared, type PrepareRequest, prepare, readPrepared } from '../control-plane/prepare.ts';
import { goOn } from '../control-plane/restore.ts';
import { AgentError, ExitCode } from '../errors.ts';
import type { CommandResult } from '../result.ts';
import { withTimeout } from '../run-limit.ts';
import type { Settings } from '../settings.ts';
import { bumpFlag } from './bump-flag.ts';
import { askedId, nodeOf, type Places, placesOf, prepareRequest, refuseNode } from './control-plane-request.ts';
import { waitingOf } from './control-plane-waiting.ts';
import { noteRestore } from './note-restore.ts';
import { type OpenedStore, withStore } from './store-run.ts';

/** Restores this node's member, or goes on with a restore that was interrupted. */
export async function execute(context: CommandContext, until: State): Promise<CommandResult> {
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
  // Without an id the newest snapshot is meant, which may be a later one than that of the last restore.
  if (before && settings.text('objectKey') === undefined && isAsked(before, settings)) return nothingToDo(before, node);
  const prepared = await withTimeout(context, (signal, grow) => prepareHere(node, { ...context, signal }, grow));
  if ('done' in prepared) return nothingToDo(prepared.done, node);
  return finish(await beginJournal(prepared, node, places), until, context);
}

/** A restore that was begun here and not ended. */
export async function begun(settings: Settings, { journalDir }: Places): Promise<Journal | undefined> {
  const journal = await Journal.newest(journalDir);
  if (!journal || ['done', 'undone'].includes(journal.content.state)) return undefined;
  const { id, token, state } = journal.content;
  const refuse = (why: string) => new AgentError(ExitCode.refused, `${journal.folder}: ${why}`);
  if (settings.flag('undo')) return journal;
  if (state === 'undoing') throw refuse('a restore is being undone; end that with --undo first');
  if (!isAsked(journal.content, settings)) {
    throw refuse(
      `a restore of ${id} with the token ${token} is not ended; end it with the same flags, or go back with --undo`,
    );
  }
  return journal;
}

/** What a run before has made may be gone, as with the disk that it was on. */
async function makeAgain(journal: Journal, context: CommandContext): Promise<void> {
  const { state, node, id, token, bump, initialCluster } = journal.content;
  const { dataDir } = node.member;
  const isOurs = (made: Pick<Marker, 'id' | 'token'> | undefined) => made?.id === id && made.token === token;
  if (state !== 'prepared' && state !== 'stopped') return;
  if (isOurs(await readPrepared(dataDir)) || isOurs(await readMarker(memberDir(dataDir)))) return;
  const { settings } = context;
  if (!askedId(settings) && !settings.text('objectKey')) {
    throw new AgentError(
      ExitCode.usage,
      `${dataDir}: what was made of ${id} is gone; name that snapshot to make it again`,
    );
  }
  const begun = { token, bump, initialCluster, restoredAs: [] };
  const made = await withTimeout(context, (signal, grow) => {
    const limited = { ...context, signal };
    return withStore(limited, async (opened) => {
      const request = await prepareRequest(opened, node, limited, grow);
      return makeOrReuse(opened, { ...request, ...begun }, limited);
    });
  });
  await journal.set(made);
}

function isAsked({ id, token, bump }: Pick<Marker, 'id' | 'token' | 'bump'>, settings: Settings): boolean {
  return (
    [id, undefined].includes(askedId(settings)) &&
    [token, undefined].includes(settings.text('initialClusterToken')) &&
    [bump, undefined].includes(bumpFlag(settings))
  );
}

async function prepareHere(
  node: EtcdNode,
  context: CommandContext,
  grow: (bytes: number) => void,
): Promise<Prepared | { done: Marker }> {
  return withStore(context, async (opened) => {
    const request = await prepareRequest(opened, node, context, grow);
    const before = await readMarker(memberDir(node.member.dataDir));
    if (before?.id === request.manifest.id && isAsked(before, context.settings)) return { done: before };
    return makeOrReuse(opened, request, context);
  });
}

async function makeOrReuse(opened: OpenedStore, request: PrepareRequest, context: CommandContext): Promise<Prepared> {
  const { node, manifest, token, bump, initialCluster } = request;
  const there = await readPrepared(node.member.dataDir);
  const isSame =
    there?.id === manifest.id &&
    there.token === token &&
    there.bump === bump &&
    [there.initialCluster, undefined].includes(initialCluster);
  const prepared = isSame ? there : await prepare(request);
  await noteRestore(opened, manifest.id, prepared.clusterId, context);
  return prepared;
}

function beginJournal(prepared: Prepared, node: EtcdNode, { manifestsDir, journalDir }: Places): Promise<Journal> {
  const startedAt = new Date();
  return Journal.begin(journalDir, {
    ...prepared,
    schema: JOURNAL_SCHEMA,
    state: 'prepared',
    startedAt: startedAt.toISOString(),
    node,
    manifestsDir,
    aside: `${memberDir(node.member.dataDir)}.replaced-${stampOf(startedAt)}`,
  });
}

function nothingToDo({ id, clusterId }: Marker, { member }: EtcdNode): CommandResult {
  return {
    exitCode: 0,
    text: `${member.name}: was restored from ${id} before; nothing done. To restore another snapshot name it; to restore the same once more give all nodes the same larger --bump-revision`,
    data: { id, clusterId, alreadyRestored: true },
  };
}

async function finish(journal: Journal, until: State, context: CommandContext): Promise<CommandResult> {
  await goOn(journal, until, waitingOf(context));
  const { id, clusterId, memberId, aside, node, state, manifestsDir } = journal.content;
  const data = { id, clusterId, memberId, state, aside, journal: journal.folder, alreadyRestored: false };
  const { name, dataDir } = node.member;
  if (state !== 'done') {
    const text = `${name}: API server and etcd are out, their manifests in ${journal.folder}; ${id} lies ready beside the old data. When all nodes are so far, go on without --stop, or go back with --undo`;
    return { exitCode: 0, text, data };
  }
  const lines = [
    `${name}: restored from ${id}: cluster ${clusterId}, member ${memberId}`,
    `  ${dataDir}/member is the new one; the old data are in ${aside}`,
    `  manifests were moved out of ${manifestsDir} and back; the journal is in ${journal.folder}`,
    '  now: systemctl restart kubelet; then: etcd-agent restore control-plane --verify',
  ];
  return { exitCode: 0, text: lines.join('\n'), data };
}
