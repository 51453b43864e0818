import { DeletionPolicy, NetworkAccess, RestoreSource } from '../../src';
import { kubectl } from '../e2e/support/kubectl';
import { MemberCluster } from '../e2e/support/member-cluster';
import { Namespace } from '../e2e/support/namespace';
import { addNightly, backUp } from '../e2e/support/orders-backups';
import { S3 } from '../e2e/support/s3';
import { slowTest } from '../e2e/support/settings';
import { Play, tell } from '../e2e/watch/play';
import type { Manifest } from '../synth';
import { typed } from './support/typed';

/** Seconds in which the pods end and Kubernetes notices it. */
const bound = 120;

let outside: Namespace;
let server: S3;
let s3: S3;
let play: Play;
let snapshot: string;
let revision: number;
beforeAll(async () => {
  outside = await Namespace.create('outside');
  server = await S3.start(outside);
  play = await Play.begin('namespace-loss', {
    clientInside: outside,
    props: { networkAccess: NetworkAccess.peers({ namespace: outside.name }) },
    prepare: async (namespace) => {
      s3 = await server.from(namespace);
    },
    shape: ({ cluster }) => addNightly(cluster, s3.store()),
  });
});
afterAll(async () => {
  await play?.end();
  await outside?.delete();
});

async function finalizerOf(cluster: MemberCluster): Promise<void> {
  await play.namespace.until('the finalizer', 60, async () =>
    (await cluster.resource()).metadata.finalizers?.includes('cdk8s-etcd.dev/cluster') ? true : undefined,
  );
}

async function lose(namespace: Namespace, what: string): Promise<void> {
  const begun = Date.now();
  await kubectl(['delete', 'namespace', namespace.name, `--timeout=${bound}s`]);
  tell(`namespace-loss: ${what}: gone after ${((Date.now() - begun) / 1000).toFixed(1)} s`);
}

slowTest('a namespace is deleted while everything works: it is gone, and not stuck', async () => {
  await play.writesOn();
  snapshot = await backUp(play.namespace, 'orders', 'last-night');
  revision = await play.namespace.until('the record of the backup', 60, async () => {
    const { items } = await play.namespace.get('etcdbackups');
    return items.find(({ status }: Manifest) => status?.snapshotId === snapshot)?.status.revision;
  });
  await play.writesOn();
  await lose(play.namespace, 'a namespace with a cluster of three');
});

slowTest('made again from the backup, it has all that the snapshot states, and new writes', async () => {
  await play.converges('namespace and cluster made again from the backup', 3, async () => {
    await play.namespace.make();
    s3 = await server.from(play.namespace);
    await play.cluster.apply({ origin: { source: RestoreSource.snapshot(s3.store(), snapshot) } });
    await play.namespace.until('a record', 60, () => play.cluster.record().catch(() => undefined));
    await play.givesUp();
  });
  // Writes continued during the backup, so it has at least the revision that the backup reports.
  expect(play.losses).toHaveLength(1);
  expect(play.losses[0]!.revision).toBeGreaterThanOrEqual(revision);
  await backUp(play.namespace, 'orders', 'tonight');
});

slowTest('with claims to delete and a last backup to take, nothing is lost before it is deleted', async () => {
  await play.cluster.apply({ onDelete: DeletionPolicy.DELETE, finalBackup: true });
  await finalizerOf(play.cluster);
  const { clusterIds, written, wrong } = await play.client.judge(3, play.losses);
  tell(`namespace-loss: ${written} writes acknowledged, ${wrong.length} complaints, ${clusterIds.length} cluster ids`);
  expect(wrong).toEqual([]);
  expect(clusterIds).toHaveLength(2);
});

slowTest('its namespace goes all the same: the reconciler lets go of it on its way out', async () => {
  await lose(play.namespace, 'a namespace with a finalizer');
});

slowTest('with nobody to let go of it, the namespace says what it waits for, and one command helps', async () => {
  await play.namespace.make();
  s3 = await server.from(play.namespace);
  const single = await MemberCluster.create(play.namespace, {
    props: { size: 1, finalBackup: true },
    shape: ({ cluster }) => addNightly(cluster, s3.store()),
  });
  await single.apply();
  await single.ready(1);
  await finalizerOf(single);
  await play.namespace.kubectl(['scale', 'deployment/etcd-reconciler', '--replicas=0']);
  await play.namespace.kubectl(['wait', '--for=delete', 'pod', '--selector=app.kubernetes.io/name=etcd-reconciler']);
  await kubectl(['delete', 'namespace', play.namespace.name, '--wait=false']);
  const waits = await play.namespace.until('the condition', bound, async () => {
    const { status } = JSON.parse((await kubectl(['get', 'namespace', play.namespace.name, '-o', 'json'])).stdout);
    return status.conditions?.find(
      ({ type, status }: Manifest) => type === 'NamespaceFinalizersRemaining' && status === 'True',
    );
  });
  expect(waits.message).toContain('cdk8s-etcd.dev/cluster');
  await typed('docs/operations/uninstall.md', 'If the EtcdCluster stays in Terminating', { shop: play.namespace.name });
  await kubectl(['wait', '--for=delete', `namespace/${play.namespace.name}`, `--timeout=${bound}s`]);
});
