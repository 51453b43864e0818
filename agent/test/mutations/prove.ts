import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EtcdMember } from '../../src/etcd/etcd-member.ts';
import { etcdutl } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { initialCluster, planMembers } from '../harness/member-plan.ts';
import { keysOf, type Specimen } from './specimen.ts';

/**
 * Starts a real etcd on the snapshot and returns how it differs from the origin of the specimen. Undefined if it is
 * equal.
 */
export async function differenceInEtcd(
  snapshot: Buffer,
  specimen: Specimen,
  scratch: string,
): Promise<string | undefined> {
  for (;;) {
    const difference = await differenceOnce(snapshot, specimen, scratch);
    // Another process on this machine was faster to take the port.
    if (!/address already in use/.test(difference ?? '')) return difference;
  }
}

async function differenceOnce(
  snapshot: Buffer,
  { minor, manifest, keys }: Specimen,
  scratch: string,
): Promise<string | undefined> {
  const directory = await mkdtemp(join(scratch, 'prove-'));
  try {
    const [plan] = await planMembers(1);
    const member = { ...plan!, dataDir: join(directory, 'data') };
    const file = join(directory, 'snapshot.db');
    await writeFile(file, snapshot);
    await promisify(execFile)(etcdutl(), [
      ...['snapshot', 'restore', file, '--data-dir', member.dataDir, '--name', member.name],
      ...['--initial-cluster', initialCluster([member]), '--initial-advertise-peer-urls', member.peerUrl],
    ]);
    await using etcd = await EtcdCluster.fromDataDirs([member], {
      minor,
      dataRoot: directory,
      extraArgs: ['--heartbeat-interval=20', '--election-timeout=200'],
    });
    const { revision, hash, compactRevision } = manifest.content.hashKV!;
    const found = await hashKV(etcd, revision);
    if (found.hash !== hash || found.compactRevision !== compactRevision) {
      return `HashKV is ${JSON.stringify(found)}, not ${JSON.stringify({ hash, compactRevision })}`;
    }
    if ((await keysOf(etcd)) !== keys) return 'its keys differ';
    await etcd.etcdctl('put', 'after', 'restore');
    return undefined;
  } catch (error) {
    return `it cannot be restored: ${(error as Error).message}`;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function hashKV({ endpoints }: EtcdCluster, revision: number) {
  const member = await EtcdMember.connect(endpoints[0]!, { endpoints, dialTimeout: 5_000 });
  try {
    return await member.hashKV(revision, 10_000);
  } finally {
    member.close();
  }
}
