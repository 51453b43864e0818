import { setTimeout as sleep } from 'node:timers/promises';
import type { WholeEntry } from '../../backup/catalog/catalog.ts';
import type { NamedCluster } from '../../backup/catalog/identity/folder.ts';
import { passedOverNote } from '../../backup/catalog/passed-over.ts';
import { type Expected, type PlainSnapshot, plainSnapshot } from '../../backup/payload/plain-snapshot.ts';
import { scratchDirectory } from '../../backup/payload/scratch-directory.ts';
import { aborted, type SnapshotNotes, SnapshotServer } from '../../backup/restore/snapshot-server.ts';
import { everySeen, highestOf } from '../../control-plane/state/served-revisions.ts';
import { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { loadPeerTls } from '../../etcd/tls.ts';
import { AgentError, ExitCode, messageOf, usageError } from '../../lib/errors.ts';
import { parseListen } from '../../lib/http/listen-address.ts';
import { withTimeout } from '../../lib/limits/budget.ts';
import { formatBytes } from '../../lib/terminal/progress.ts';
import { openStore } from '../../store/open.ts';
import { orInstead } from '../advice/instead.ts';
import type { Command, CommandContext } from '../cli/command.ts';
import type { CommandResult } from '../cli/result.ts';
import type { Settings } from '../cli/settings.ts';
import { NOTE_LIMIT, noteKeyNow, noteRestore, warnNotNoted } from '../shared/note-restore.ts';
import type { OpenedStore } from '../shared/opened-store.ts';
import { servedInStore } from '../shared/served-in-store.ts';
import { sha256 } from '../shared/snapshot-flags.ts';
import { askedToRestore, passedOverFor, withStore } from '../shared/store-run.ts';
import { noteUntilDone } from './note-until-done.ts';

export const run: Command = async (context) => {
  const { settings, log, progress, signal } = context;
  const expected = expectedOf(settings);
  const peerTlsDir = settings.text('peerTlsDir');
  // Check the certificate now: with a bad one the server could not report its error to anybody.
  await loadPeerTls(peerTlsDir);
  let asked: Asked | undefined;
  const notes = new Map<string, Promise<unknown>>();
  await using server = await SnapshotServer.listen({
    listen: parseListen(settings.text('listen') ?? '0.0.0.0:8080'),
    tokenSha256: tokenSha256Of(settings),
    peerTlsDir,
    log,
    // Note the restore before it happens, so that no restore is without a note. A note without a restore does no harm.
    onRestore: async (clusterId, bump) => {
      if (!notes.has(clusterId))
        notes.set(
          clusterId,
          noteUntilDone((to) => note(asked!, clusterId, bump, { ...context, log: to }), context),
        );
      await Promise.race([notes.get(clusterId), sleep(NOTE_LIMIT, undefined, { ref: false })]);
    },
  });
  await using scratch = await scratchDirectory(settings.scratch);
  const { snapshot, notes: said, ...found } = await verified(context, scratch.path, expected);
  asked = found;
  const { file: _, ...result } = snapshot;
  server.serve(snapshot, said);
  progress.phase('serve', snapshot.id);
  log.info({ port: server.port, ...result }, 'serving the snapshot');
  await aborted(signal);
  return stopped(result, signal.reason);
};

interface Asked {
  readonly entry: WholeEntry;
  /** Cluster whose folder was searched. */
  readonly named: NamedCluster;
  /** Revision of the snapshot. */
  readonly revision: number;
}

/** Writes the note. Returns true if the note exists afterwards. */
async function note(
  { entry, named, revision }: Asked,
  clusterId: string,
  bump: number | undefined,
  context: CommandContext,
): Promise<boolean> {
  const { settings, signal, log } = context;
  const { id, manifest } = entry;
  const from = manifest.source.clusterId;
  try {
    const store = await openStore(settings.store());
    try {
      const key = await noteKeyNow(store, entry, named, clusterId, { signal });
      const start = bump !== undefined && Number.isSafeInteger(revision + bump) && { revision: revision + bump, bump };
      await noteRestore(store, { key, id, clusterId, from, ...start }, context);
      return (await store.stat(key, { signal })) !== undefined;
    } finally {
      store.close();
    }
  } catch (error) {
    if (!signal.aborted) warnNotNoted(from, error, log);
    return false;
  }
}

interface Verified extends Asked {
  readonly snapshot: PlainSnapshot;
  readonly notes: SnapshotNotes;
}

const verified = (context: CommandContext, directory: string, expected: Expected): Promise<Verified> =>
  withTimeout(context, async (within) => {
    const { settings, progress, signal } = within;
    const identities = await settings.identities();
    return withStore({ ...within, list: '`kubectl etcd backups`' }, async (opened) => {
      const entry = await askedToRestore(opened, within);
      const { id, manifest } = entry;
      within.budget.grow(4 * manifest.content.sizeBytes);
      const snapshot = await orInstead(entry, opened, within, () =>
        plainSnapshot(opened.store, manifest, directory, expected, {
          signal,
          identities,
          etcdutl: new Etcdutl(settings.text('etcdutl') ?? 'etcdutl'),
          onPhase: (phase) => progress.phase(phase, id),
          onBytes: (bytes) => progress.bytes(bytes, manifest.object.sizeBytes),
        }),
      );
      const { cluster, namespace } = opened;
      const passedOver = passedOverNote(await passedOverFor(opened, entry, within));
      const later = await laterRevision(opened, entry, snapshot, within);
      const said = { passedOver: passedOver || undefined, ...later };
      return { snapshot, notes: said, entry, named: { cluster, namespace }, revision: snapshot.revision };
    });
  });

/** The highest revision that was served as far as the store knows, if it is later than the snapshot's. */
async function laterRevision(
  opened: OpenedStore,
  restored: WholeEntry,
  { revision }: PlainSnapshot,
  context: CommandContext,
): Promise<Pick<SnapshotNotes, 'highestRevision'>> {
  const served = await servedInStore(opened, restored, context);
  const highest = highestOf(everySeen({ ...served, here: [], own: [] })).revision;
  // Where the clock of this node is behind, that of the reconciler may be too: the time of the newest backup counts.
  const { newest } = served;
  const late = newest && newest.time > Date.now() ? newest.time * 1000 : 0;
  const highestRevision = Math.max(highest, late);
  return highestRevision > revision ? { highestRevision } : {};
}

/** Result after a signal. The exit code is not 0, because the Job must not count as complete: it has to start another pod. */
function stopped(result: Omit<PlainSnapshot, 'file'>, reason: unknown): CommandResult {
  const text = `${messageOf(reason)} while serving ${result.id}, ${formatBytes(result.sizeBytes)}`;
  const exitCode = reason instanceof AgentError ? reason.exitCode : ExitCode.terminated;
  return { exitCode, text, data: { error: text, snapshot: result } };
}

function expectedOf(settings: Settings): Expected {
  const revision = settings.text('expectedRevision');
  if (revision !== undefined && !/^[1-9]\d{0,15}$/.test(revision)) {
    throw usageError(`--expected-revision: '${revision}' is not a valid revision; pass a whole number of at least 1`);
  }
  const serverVersion = settings.text('serverVersion');
  return {
    revision: revision === undefined ? undefined : Number(revision),
    serverVersion,
    acceptsAuth: settings.flag('acceptAuthentication'),
  };
}

function tokenSha256Of(settings: Settings): string {
  const flag = '--token-sha256';
  const given = settings.required('tokenSha256', flag, 'is missing; pass the SHA-256 of the token');
  // A wrong value may be the token itself.
  return sha256(flag, given, `a value of ${given.length} characters`);
}
