import { resolve } from 'node:path';
import { type Entry, orNothing, readEntry, type WholeEntry } from '../../backup/catalog/catalog.ts';
import { readExactEntry } from '../../backup/catalog/exact-key.ts';
import { type PassedOver, passedOverData, passedOverLines } from '../../backup/catalog/passed-over.ts';
import { badness } from '../../backup/catalog/select.ts';
import { refuseNewer } from '../../backup/payload/server-version.ts';
import { behindLink } from '../../backup/restore/data-dir-place.ts';
import { requireNamedSnapshot } from '../../backup/restore/named-snapshot.ts';
import { type DataDirResult, leftWithoutStore, restoreDataDir } from '../../backup/restore/restore.ts';
import type { DataDirRequest } from '../../backup/restore/restore-marker.ts';
import { type Marker, markNoted, readMarker } from '../../backup/restore/restore-marker.ts';
import { nextToken } from '../../backup/restore/token.ts';
import { refuseOtherCluster } from '../../control-plane/state/cluster-lineage.ts';
import { membersOf } from '../../etcd/offline/cluster-id.ts';
import type { StoredMember } from '../../etcd/offline/database-check.ts';
import { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { AgentError, ExitCode, usageError } from '../../lib/errors.ts';
import { withTimeout } from '../../lib/limits/budget.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import { quoted } from '../../lib/quoted.ts';
import { phaseOfBytes } from '../../lib/terminal/progress.ts';
import { refuseInContainer } from '../../store/container-path.ts';
import { advised, said } from '../advice/advice.ts';
import { sameIdentities, sameStore, sameTools } from '../advice/flags.ts';
import { orInstead } from '../advice/instead.ts';
import type { Command, CommandContext } from '../cli/command.ts';
import type { CommandResult } from '../cli/result.ts';
import type { Settings } from '../cli/settings.ts';
import { answeringOf } from '../shared/answering.ts';
import { NOTE_LIMIT, warnNotNoted, writeMemberNote, writeNote } from '../shared/note-restore.ts';
import type { OpenedStore } from '../shared/opened-store.ts';
import { askedId, bumpFlag, missingName, sha256Flag } from '../shared/snapshot-flags.ts';
import { askedToRestore, passedOverFor, withStore } from '../shared/store-run.ts';
import { warnSwitches } from '../shared/warn-switches.ts';
import { bumpFor } from './data-dir-bump.ts';
import {
  type Agreed,
  agree,
  begunWith,
  claim,
  isNoted,
  MixedError,
  type NotedOthers,
  notedOthers,
  noteKeys,
  noteOf,
  otherNote,
  peerUrlsOf,
  type ReadEntry,
} from './data-dir-claim.ts';
import { refuseLone, refuseOtherMember } from './data-dir-members.ts';
import { checkPeers, urlsOf } from './data-dir-peers.ts';
import { tokenToName } from './data-dir-token.ts';

export const run: Command = (context) => withTimeout(context, restore);

async function restore(context: CommandContext): Promise<CommandResult> {
  const { settings, progress, signal } = context;
  const asked = parseRequest(settings);
  const request = { ...asked, dataDir: await behindLink(asked.dataDir) };
  await refuseInContainer('dataDir', request.dataDir);
  const left = await leftWithoutStore(request, { id: askedId(settings), sha256: sha256Flag(settings) });
  if (left) {
    await noteLater(request, context);
    return ended(request, left);
  }
  await checkPeers(request, settings.isSet('initialAdvertisePeerUrls'));
  const identities = await settings.identities();
  return withStore(context, async (opened) => {
    const { store } = opened;
    const entry = await askedToRestore(opened, context);
    const { id, manifest } = entry;
    const isListed = settings.text('initialCluster') !== undefined;
    if (!isListed) await refuseLone(id, manifest.members, request);
    const members = membersOf(request.initialCluster).size;
    const several = members > 1;
    const command = commandFor(request, opened, settings);
    const passed = await passedOverFor(opened, entry, context);
    const missing = missingName(settings, manifest);
    if (several && missing !== undefined) {
      const begun = await begunWith(entry, request, opened, context);
      const begunAs = missing === id ? (begun ?? undefined) : undefined;
      const { token, text } = await tokenToName(request, { named: begunAs ?? id, begun }, (clusterId) =>
        isNoted(entry, clusterId, opened, context),
      );
      const newest =
        begunAs === undefined || begunAs === id
          ? ''
          : `; the newest verified snapshot is ${id}: to restore that one, name it with a new --initial-cluster-token`;
      const named = { ...request, ...(token !== undefined && { initialClusterToken: token }) };
      requireNamedSnapshot(members, commandFor(named, opened, settings)(entry, begunAs ?? missing), {
        ...{ begunWith: begunAs, remark: `${text}${newest}` },
      });
    }
    const { storageVersion, version } = manifest.source;
    refuseNewer(id, storageVersion ?? version, settings.text('serverVersion'));
    const etcdutl = new Etcdutl(settings.text('etcdutl') ?? 'etcdutl');
    context.budget.grow(2 * manifest.content.sizeBytes);
    const onBytes = phaseOfBytes(progress, 'restore', id, manifest.object.sizeBytes);
    let agreed: Agreed | undefined;
    const steps = {
      bump: async () => {
        if (!settings.flag('forceForeign')) {
          await refuseForeign(entry, request, opened, context);
          await refuseOtherMember(manifest, request, settings.isSet('name'));
        }
        const agreeOn = async (own: number) => {
          agreed = await agree(own, entry, request, opened, context);
          return agreed.bump;
        };
        return bumpFor({ opened, entry, request, several, commandFor: command, agree: agreeOn, context });
      },
      // Not every manifest lists the members.
      members: isListed ? undefined : (found: readonly StoredMember[]) => refuseLone(id, found, request),
      claim: several ? (made: Marker) => claim(made, opened, context, entry) : undefined,
    };
    const result = await orInstead(entry, opened, context, () =>
      restoreDataDir(store, manifest, request, etcdutl, { signal, identities, onBytes }, steps).catch(async (error) => {
        await agreed?.undo();
        throw error;
      }),
    );
    warnSwitches(id, result, context.log);
    await note(request, opened, context, entry);
    const others = several ? await notedOthers(request, result, opened, context) : undefined;
    return ended(request, result, {
      store: store.url,
      others,
      passed: result.id === id ? passed : undefined,
    });
  });
}

/** Refuses to replace the data of another cluster, also if the store does not give out what may connect the two. */
async function refuseForeign(
  entry: WholeEntry,
  { dataDir }: DataDirRequest,
  opened: OpenedStore,
  context: CommandContext,
): Promise<void> {
  const place = resolve(dataDir);
  const marker = await readMarker(place).catch(() => undefined);
  let unread: string | undefined;
  const orUnread = (error: unknown) => {
    context.signal.throwIfAborted();
    unread ??= said(error);
  };
  const listed = await answeringOf(opened, context).catch(orUnread);
  const isOutside = marker !== undefined && (!listed || marker.objectKey !== undefined);
  const origin = isOutside ? await originOf(marker, opened, context).catch(orUnread) : undefined;
  await refuseOtherCluster(
    entry.manifest,
    [...(listed ?? []), entry, ...(origin ? [origin] : [])],
    { dataDir: place },
    { restoredFrom: marker?.id, unread },
  );
}

/** Reads the snapshot that a data directory was restored from, without the listing of the folder. Undefined if it is gone. */
async function originOf(
  { id, objectKey }: Marker,
  opened: OpenedStore,
  { budget }: CommandContext,
): Promise<Entry | undefined> {
  const { store } = opened;
  const { signal } = budget.answers();
  const read = async () => {
    const exact = objectKey === undefined ? undefined : await orNothing(readExactEntry(store, objectKey, { signal }));
    return exact?.id === id ? exact : readEntry(opened.folder.during(signal), id);
  };
  const origin = await unlessAborted(read(), signal);
  return origin?.id === id ? origin : undefined;
}

/**
 * Returns the same command for a snapshot: for another one, whose number to add to the revision is that of the other
 * members, or for the one that this command has found, which `name` tells from others.
 */
const commandFor =
  (request: DataDirRequest, opened: OpenedStore, settings: Settings) =>
  (entry: Entry, name?: string): string => {
    const { dataDir, initialCluster, initialAdvertisePeerUrls, initialClusterToken, repeat } = request;
    const serverVersion = settings.text('serverVersion');
    const flags = [
      ...(name === undefined ? [] : ownFlags(request, settings)),
      ...[`--data-dir=${dataDir}`, `--name=${request.name}`, `--initial-cluster=${initialCluster}`],
      ...[
        `--initial-advertise-peer-urls=${initialAdvertisePeerUrls}`,
        `--initial-cluster-token=${initialClusterToken}`,
      ],
      ...(serverVersion === undefined ? [] : [`--server-version=${serverVersion}`]),
      ...(settings.flag('forceForeign') ? ['--force-foreign'] : []),
      ...(badness(entry) === undefined ? [] : ['--force-failed']),
      ...{ again: ['--again'], leave: ['--once'], refuse: [] }[repeat],
    ].map(quoted);
    const words = [
      ...[quoted(name ?? entry.id), sameStore(opened)],
      ...[...sameTools(settings), ...sameIdentities(settings), ...flags],
    ];
    return `etcd-agent restore data-dir ${words.join(' ')}`;
  };

/** Flags of this run that only hold for the snapshot that it has found. */
const ownFlags = ({ objectKey, bumpRevision }: DataDirRequest, settings: Settings): string[] => [
  ...(objectKey === undefined ? [] : [`--object-key=${objectKey}`]),
  ...(settings.flag('adopt') ? ['--adopt'] : []),
  ...(bumpRevision === undefined ? [] : [`--bump-revision=${bumpRevision}`]),
];

const ended = (
  request: DataDirRequest,
  result: DataDirResult,
  { store, others, passed = [] }: Ended = {},
): CommandResult => {
  const { dataDir } = request;
  const { id, alreadyRestored, token } = result;
  return {
    exitCode: 0,
    text: [
      alreadyRestored ? `${dataDir}: was already restored from ${id}; nothing done` : `${dataDir}: restored from ${id}`,
      ...passedOverLines(passed),
      ...(token === undefined ? [] : restoredLines(request, { ...result, token }, others)),
    ].join('\n'),
    data: { store, dataDir, ...result, ...passedOverData(passed) },
  };
};

interface Ended {
  readonly store?: string;
  readonly others?: NotedOthers;
  readonly passed?: readonly PassedOver[];
}

function restoredLines(
  request: DataDirRequest,
  result: DataDirResult & { readonly token: string },
  others: NotedOthers | undefined,
): string[] {
  const { dataDir, name, initialCluster, initialAdvertisePeerUrls } = request;
  const { id, clusterId, memberId, token, revision, movedAside } = result;
  const members = membersOf(initialCluster).size;
  const first =
    others?.count === members - 1
      ? `all ${members} members are restored:`
      : `restore the other members from ${id} with --initial-cluster-token=${quoted(token)}${notedText(others, members)}, then`;
  const settings = [
    ...[`--data-dir=${quoted(dataDir)}`, `--name=${quoted(name)}`],
    ...[`--initial-advertise-peer-urls=${quoted(initialAdvertisePeerUrls)}`],
    ...[`--initial-cluster=${quoted(initialCluster)}`, `--initial-cluster-token=${quoted(token)}`],
  ];
  const next =
    members > 1 ? `${first} start each with the settings of its restore` : `start etcd with ${settings.join(' ')}`;
  return [
    `  cluster ${clusterId}, member ${memberId}, token ${token}${revision === undefined ? '' : `, revision ${revision} or later`}`,
    ...(movedAside ? [`  the previous data is now in ${movedAside}`] : []),
    `  next: ${next}`,
  ];
}

/** Shows that the other members were restored from another store, where nothing compared them with this one. */
const notedText = (others: NotedOthers | undefined, members: number): string => {
  if (others === undefined) return '';
  const { count, again } = others;
  const noted = count === 0 ? 'no note of them yet' : `a note of only ${count} of these ${members - 1} so far`;
  const since = again.map((name) => `, and a note that a member named ${name} was restored again as another cluster`);
  return ` from this store too, which has ${noted}${since.join('')}`;
};

/** Writes the note that the restoring run could not write. A failure never keeps a healthy etcd from starting. */
async function noteLater(request: DataDirRequest, context: CommandContext): Promise<void> {
  const marker = await readMarker(resolve(request.dataDir));
  if (!marker || marker.isNoted) return;
  const limited = { ...context, signal: context.budget.wait(NOTE_LIMIT).signal };
  try {
    await withStore(limited, (opened) => note(request, opened, limited));
  } catch (error) {
    if (error instanceof MixedError) throw error;
    warnLater(marker, error, context);
  }
}

const warnLater = ({ id }: Marker, error: unknown, { log }: CommandContext): void =>
  log.warn(`cannot note the restore from ${id} in the store (${said(error)}); the next start tries again`);

/**
 * Notes the restore that made the data directory. Its snapshot may be another one than the snapshot that was found
 * now.
 */
async function note(
  { dataDir }: DataDirRequest,
  opened: OpenedStore,
  context: CommandContext,
  found?: WholeEntry,
): Promise<void> {
  const { signal: run, log } = context;
  const marker = await readMarker(resolve(dataDir));
  if (!marker?.clusterId || marker.isNoted) return;
  // The member is restored, so a store that hangs must not end the run.
  const signal = AbortSignal.any([run, context.budget.wait(NOTE_LIMIT).signal]);
  const limited = { ...context, signal };
  const { id, clusterId, memberId, name, at, bumpRevision: bump } = marker;
  const peerUrls = peerUrlsOf(marker.initialCluster, name);
  const entry =
    found?.id === id
      ? found
      : await entryOf(marker, opened, limited).catch((error) => {
          run.throwIfAborted();
          return warnLater(marker, error, context);
        });
  if (!entry) return;
  const several = membersOf(marker.initialCluster).size > 1;
  const others = several ? `; pass --bump-revision=${bump} to the other members` : '';
  try {
    const write = async () => {
      const keys = await noteKeys(entry, opened, clusterId, limited);
      for (const key of keys) await writeNote(opened.store, { ...noteOf(marker, entry), key }, signal);
      if (!several || memberId === undefined) return;
      const member = { ...{ id, clusterId, memberId, name, at }, peerUrls, bump };
      await writeMemberNote(opened.store, keys[0], member, signal);
      const other = await otherNote(opened.store, keys[0], marker, signal);
      if (other) throw new MixedError({ id, clusterId, bump, token: marker.initialClusterToken }, other);
    };
    await unlessAborted(write(), signal);
    await markNoted(resolve(dataDir), marker);
  } catch (error) {
    run.throwIfAborted();
    if (error instanceof MixedError) throw error;
    warnNotNoted(entry.manifest.source.clusterId, error, log, others);
  }
}

async function entryOf({ id, objectKey }: Marker, opened: OpenedStore, context: CommandContext): Promise<ReadEntry> {
  const { store } = opened;
  const { signal } = context;
  const isWhole = (entry: Entry): entry is ReadEntry => entry.manifest !== undefined;
  const exact = objectKey === undefined ? undefined : await orNothing(readExactEntry(store, objectKey, { signal }));
  const entry = exact?.id === id ? exact : (await answeringOf(opened, context)).find((each) => each.id === id);
  if (entry && isWhole(entry)) return entry;
  const why = entry
    ? `${id}: ${entry.problem}${advised(entry.finding)}`
    : `${exact ? `${objectKey} is now ${exact.id}, and ` : ''}${id} does not exist there`;
  throw new AgentError(
    ExitCode.nothingThere,
    `${store.url}: ${why}; pass --restored-from with the cluster id of its etcd to the next backup`,
  );
}

function parseRequest(settings: Settings): DataDirRequest {
  const name = settings.required('name', '--name', "is missing; pass the member's name");
  const peerUrls = settings.required(
    'initialAdvertisePeerUrls',
    '--initial-advertise-peer-urls',
    "is missing; pass this member's peer URLs",
  );
  const initialCluster = settings.text('initialCluster') ?? urlsOf(peerUrls, name);
  const members = membersOf(initialCluster);
  const token = settings.text('initialClusterToken');
  const named = askedId(settings) ?? settings.text('objectKey') ?? '';
  if (!token && members.size > 1) {
    throw usageError(
      `--initial-cluster-token: is missing; pass the same new token to all ${members.size} members, for example ${nextToken(named, [...members.keys()].sort().join())}`,
    );
  }
  const [bump, objectKey] = [bumpFlag(settings), settings.text('objectKey')];
  return {
    dataDir: settings.required('dataDir', '--data-dir', "is missing; name the member's data directory"),
    name,
    initialCluster,
    initialAdvertisePeerUrls: peerUrls,
    initialClusterToken: token,
    bumpRevision: bump,
    objectKey,
    named: askedId(settings) !== undefined || objectKey !== undefined,
    repeat: repeatOf(settings),
  };
}

function repeatOf(settings: Settings): DataDirRequest['repeat'] {
  if (!settings.flag('again')) return settings.flag('once') ? 'leave' : 'refuse';
  if (settings.flag('once')) throw usageError('--again and --once: choose one');
  return 'again';
}
