import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { bumpHeader, clusterIdHeader, fetchSource } from '../../backup/restore/fetch-source.ts';
import { loneClusterId } from '../../etcd/offline/cluster-id.ts';
import { Etcdutl, reasonOf } from '../../etcd/offline/etcdutl.ts';
import { walIdentity } from '../../etcd/offline/wal.ts';
import { loadPeerTls, type TlsMaterial } from '../../etcd/tls.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { sync, syncTree } from '../../lib/files/directories.ts';
import type { Identity } from '../../protocol/agent-status.ts';
import type { Permit, RecordDoc } from '../../protocol/record.ts';
import { selfOf } from '../etcd-config.ts';
import type { MemberConfig } from '../member-config.ts';
import type { AtStep } from '../steps.ts';
import { etcdDirOf, type RestoreMarker, restoreMarkerOf, workDirOf } from '../volume.ts';

interface RestoreOptions {
  readonly signal: AbortSignal;
  readonly at: AtStep;
}

/** Restores a snapshot to `etcd/`, completely or not at all. The caller writes the identity of the data afterwards. */
export async function restoreVolume(
  config: MemberConfig,
  permit: Permit,
  { clusterUid }: RecordDoc,
  { signal, at }: RestoreOptions,
): Promise<void> {
  const { id, source, bumpRevision } = permit.restore!;
  const file = join(config.scratchDir, 'snap.db');
  try {
    await rm(file, { force: true });
    const { idleTimeout } = config;
    const headers = {
      [clusterIdHeader]: loneClusterId(config.peerUrl, permit.token),
      [bumpHeader]: String(bumpRevision),
    };
    await fetchSource(source, file, { signal, idleTimeout, headers, ...(await peerAccess(config)) });
    await at('restore.fetched');
    const partial = await emptyPartial(config.dataDir);
    await runEtcdutl(config, permit.token, bumpRevision, file, partial, signal);
    await writeFile(restoreMarkerOf(partial), JSON.stringify(markerOf(config, permit, id, clusterUid)), {
      mode: 0o600,
    });
    await syncTree(partial);
    await at('restore.made');
    signal.throwIfAborted();
    await rename(partial, etcdDirOf(config.dataDir));
    await sync(config.dataDir);
    await at('restore.renamed');
  } finally {
    await rm(file, { force: true }).catch(() => {});
  }
}

/** Empties `work/`, which only holds unfinished work. */
export async function emptyWork(dataDir: string): Promise<void> {
  const work = workDirOf(dataDir);
  await mkdir(work, { recursive: true, mode: 0o700 });
  for (const name of await readdir(work)) await rm(join(work, name), { recursive: true, force: true });
}

async function emptyPartial(dataDir: string): Promise<string> {
  await emptyWork(dataDir);
  return join(workDirOf(dataDir), 'restore.partial');
}

const markerOf = (
  { ordinal, etcdVersion }: MemberConfig,
  { epoch, token, volumeId, id }: Permit,
  restoreId: string,
  clusterUid: string,
): RestoreMarker => ({
  v: 1,
  restoreId,
  clusterUid,
  epoch,
  token,
  ordinal,
  volumeId,
  permitId: id,
  version: etcdVersion,
});

/** Builds the identity of restored data. */
export async function restoredIdentity(dataDir: string, marker: RestoreMarker): Promise<Identity> {
  const { restoreId, version, ...rest } = marker;
  const ids = await walIdentity(etcdDirOf(dataDir));
  return { ...rest, ...ids, mode: 'restore', state: 'sealed', lastRestoreId: restoreId, lastVersion: version, runs: 0 };
}

/** The source is reached by IP address, and its certificate names ordinal 0, as those of all members do. */
async function peerAccess(config: MemberConfig): Promise<{ tls?: TlsMaterial; serverName?: string }> {
  const { peerTlsDir, peerUrl, pod, cluster } = config;
  const tls = await loadPeerTls(peerTlsDir);
  if (!tls) return {};
  const { hostname } = new URL(peerUrl);
  if (isIP(hostname)) return { tls };
  return { tls, serverName: hostname.replace(`${pod}.`, `${cluster}-0.`) };
}

async function runEtcdutl(
  config: MemberConfig,
  token: string,
  bumpRevision: number,
  file: string,
  into: string,
  signal: AbortSignal,
): Promise<void> {
  const result = await new Etcdutl(config.etcdutl).run(
    [
      // fetchSource has just verified the trailer and the checksum.
      ...['snapshot', 'restore', file, '--skip-hash-check', '--data-dir', into, '--name', config.pod],
      ...['--initial-cluster', selfOf(config), '--initial-advertise-peer-urls', config.peerUrl],
      ...['--initial-cluster-token', token],
      // A watcher that resumes from an old revision then gets "compacted" instead of waiting silently.
      ...(bumpRevision > 0 ? ['--bump-revision', String(bumpRevision), '--mark-compacted'] : []),
    ],
    { signal },
  );
  if (result.exitCode === 0) return;
  throw new AgentError(ExitCode.verificationFailed, `etcdutl refused to restore the snapshot: ${reasonOf(result)}`);
}
