import { randomBytes } from 'node:crypto';
import { type Entry, putJson, restoreKey } from '../backup/catalog.ts';
import type { Manifest } from '../backup/manifest.ts';
import { type DataDirRequest, type DataDirResult, restoreDataDir } from '../backup/restore.ts';
import type { Command, CommandContext } from '../command.ts';
import { AgentError, ExitCode, messageOf } from '../errors.ts';
import { Etcdutl } from '../etcd/etcdutl.ts';
import type { CommandResult } from '../result.ts';
import { withTimeout } from '../run-limit.ts';
import type { Settings } from '../settings.ts';
import { askedFor, type OpenedStore, withStore } from './store-run.ts';

const mistake = (message: string) => new AgentError(ExitCode.usage, message);

export const run: Command = (context) => withTimeout(context, (signal, grow) => restore({ ...context, signal }, grow));

async function restore(context: CommandContext, grow: (bytes: number) => void): Promise<CommandResult> {
  const { settings, progress, signal } = context;
  const request = parseRequest(settings);
  const identities = await settings.identities();
  return withStore(context, async (opened) => {
    const { store, entries } = opened;
    const { id, manifest } = await askedFor(opened, context, grow);
    checkServerVersion(manifest, settings.text('serverVersion'));
    const etcdutl = new Etcdutl(settings.text('etcdutl') ?? 'etcdutl');
    grow(2 * manifest.content.sizeBytes);
    progress.phase('restore', id);
    const onBytes = (bytes: number) => progress.bytes(bytes, manifest.object.sizeBytes);
    const result = await restoreDataDir(store, manifest, request, etcdutl, { signal, identities, onBytes });
    await noteRestore(opened, entries, id, result, context);
    const { movedAside, alreadyRestored, clusterId, memberId } = result;
    return {
      exitCode: 0,
      text: alreadyRestored
        ? `${request.dataDir}: was restored from ${id} before; nothing done`
        : `${request.dataDir}: restored from ${id}, cluster ${clusterId}, member ${memberId}${movedAside ? `; what was there is now ${movedAside}` : ''}`,
      data: { store: store.url, id, dataDir: request.dataDir, ...result },
    };
  });
}

function parseRequest(settings: Settings): DataDirRequest {
  const name = settings.required('name', '--name', "the member's name");
  const peerUrls = settings.required(
    'initialAdvertisePeerUrls',
    '--initial-advertise-peer-urls',
    "this member's peer URLs",
  );
  const initialCluster = settings.text('initialCluster') ?? `${name}=${peerUrls}`;
  const members = new Set(initialCluster.split(',').map((member) => member.split('=')[0]));
  if (!members.has(name)) throw mistake(`--initial-cluster: the member '${name}' is not in it`);
  const token = settings.text('initialClusterToken');
  // The same token and members give the same cluster id, over whatever data: so it has to be a new one, and the same for all.
  const fresh = `restored-${randomBytes(8).toString('hex')}`;
  if (!token && members.size > 1) {
    throw mistake(
      `--initial-cluster-token: all ${members.size} members need the same new token, for instance ${fresh}`,
    );
  }
  const bumpRevision = Number(settings.text('bumpRevision'));
  if (!Number.isSafeInteger(bumpRevision) || bumpRevision < 0)
    throw mistake('--bump-revision: must be a whole number, 0 or more');
  return {
    dataDir: settings.required('dataDir', '--data-dir', "name the member's data directory"),
    name,
    initialCluster,
    initialAdvertisePeerUrls: peerUrls,
    initialClusterToken: token ?? fresh,
    bumpRevision,
  };
}

/** A server starts on data of an older minor, and may start on newer data without a word. */
function checkServerVersion({ id, source }: Manifest, serverVersion: string | undefined): void {
  if (!serverVersion) return;
  const server = minor(serverVersion);
  if (server === undefined) throw mistake(`--server-version: '${serverVersion}' is no version; write 3.6`);
  const storage = minor(source.storageVersion ?? source.version ?? '');
  if (storage !== undefined && storage > server) {
    throw new AgentError(
      ExitCode.refused,
      `${id} holds data of etcd ${source.storageVersion ?? source.version}, which etcd ${serverVersion} cannot read; start a newer etcd on it`,
    );
  }
}

function minor(version: string): number | undefined {
  const [, number] = /^v?3\.(\d+)/.exec(version) ?? [];
  return number === undefined ? undefined : Number(number);
}

/** Beside the snapshot, so that later backups of the restored cluster know the snapshots of the old one as its own past. */
async function noteRestore(
  { store, cluster }: OpenedStore,
  entries: readonly Entry[],
  id: string,
  { clusterId }: DataDirResult,
  { signal, log }: CommandContext,
): Promise<void> {
  if (!clusterId) return;
  const key = restoreKey(cluster, id, clusterId);
  // Also when it was restored before: that run may have been killed before it came to this.
  if (await store.stat(key, { signal }).catch(() => undefined)) return;
  const note = { schema: 'cdk8s-etcd/restore/v1', id, clusterId, at: new Date().toISOString() };
  await putJson(store, key, note, { signal }).catch((error) => {
    const from = entries.find((entry) => entry.id === id)?.manifest?.source.clusterId;
    log.warn(
      `the restore could not be noted in the store (${messageOf(error)}); give --restored-from ${from} to the next backup`,
    );
  });
}
