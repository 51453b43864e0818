import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeletionPolicy } from '../../src';
import { Namespace } from '../e2e/support/namespace';
import { addNightly } from '../e2e/support/orders-backups';
import { S3 } from '../e2e/support/s3';
import { slowTest } from '../e2e/support/settings';
import { Play, tell } from '../e2e/watch/play';
import { objectsOf, onlyLeft } from './support/objects';
import { typed } from './support/typed';

// The guide is typed as it stands; its last section in crds-removed.suite.ts.
const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-uninstall-'));
const file = join(directory, 'manifests.yaml');

let outside: Namespace;
let s3: S3;
let bare: readonly string[];
let play: Play;
let store = 'etcd-backup';
beforeAll(async () => {
  outside = await Namespace.create('outside');
  const server = await S3.start(outside);
  play = await Play.begin('uninstall', {
    prepare: async (namespace) => {
      s3 = await server.from(namespace);
      bare = (await objectsOf(namespace)).names;
    },
    shape: ({ cluster }) => addNightly(cluster, s3.store({ bucket: store })),
  });
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await play?.end();
  await outside?.delete();
});

/** The commands of a section, with the names of this test. */
async function type(section: string): Promise<void> {
  writeFileSync(file, await play.cluster.manifests());
  const names = { 'orders-hourly': 'orders-nightly', 'dist/orders.k8s.yaml': file };
  const begun = Date.now();
  await typed('docs/operations/uninstall.md', section, { ...names, shop: play.namespace.name });
  tell(`uninstall: '${section}' ${((Date.now() - begun) / 1000).toFixed(1)} s`);
}

const snapshots = async () => (await s3.files()).filter((path) => /[0-9a-f]{6}\.json$/.test(path)).length;
const formed = async () => {
  await play.cluster.apply();
  await play.cluster.ready(3);
};

slowTest('a cluster is there, and loses nothing until it is removed', async () => {
  await play.writesOn();
  await play.ends(3);
  await play.namespace.kubectl(['delete', 'pod/orders-client', 'configmap/orders-client']);
});

slowTest('removed for good: a last backup, and then nothing of it is left', async () => {
  await type('Remove a cluster for good');
  expect(await snapshots()).toBe(1);
  await onlyLeft(play.namespace, bare);
});

slowTest('a last backup that fails keeps everything, and says why, until somebody goes on without it', async () => {
  store = 'not-there';
  await play.cluster.apply({ onDelete: DeletionPolicy.DELETE, finalBackup: true });
  await play.cluster.ready(3);
  await play.namespace.kubectl(['delete', 'etcdcluster', 'orders', '--wait=false']);
  const held = await play.namespace.until('the reason', 180, async () => {
    const condition = await play.cluster.condition('Stalled');
    return condition?.reason === 'BackupFailed' ? condition : undefined;
  });
  expect(held.message).toMatch(/not-there/);
  expect(await play.cluster.etcdctl(['endpoint', 'health', '--cluster'])).not.toContain('unhealthy');
  await type('If the last backup fails');
  await play.namespace.kubectl(['wait', '--for=delete', 'etcdcluster/orders', '--timeout=180s']);
});

slowTest('with claims to delete: first the EtcdCluster alone, which takes a last backup, then the rest', async () => {
  store = 'etcd-backup';
  await play.cluster.delete('--ignore-not-found');
  await onlyLeft(play.namespace, bare);
  await formed();
  await type('Delete with onDelete or finalBackup');
  expect(await snapshots()).toBe(2);
  await onlyLeft(play.namespace, bare);
});

slowTest('all of it at once, though a last backup was asked for: one more command, and the data stay', async () => {
  await formed();
  await play.cluster.delete('--wait=false');
  await play.namespace.until('the end of the pods', 120, async () =>
    (await play.namespace.get('pods')).items.length === 0 ? true : undefined,
  );
  const left = (await objectsOf(play.namespace)).terminating;
  tell(`uninstall: everything deleted at once leaves ${left.join() || 'nothing'} Terminating`);
  if (left.length > 0) await type('If the EtcdCluster stays in Terminating');
  const claims = [0, 1, 2].map((ordinal) => `PersistentVolumeClaim/data-orders-${ordinal}`);
  await onlyLeft(play.namespace, [...bare, ...claims, 'ConfigMap/orders-record']);
});
