import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { EtcdReconciler, ImagePullPolicy } from '../../src';
import { memberImage, agentImage as released } from '../../src/lib/agent-image';
import { Client } from '../e2e/support/client';
import { Etcd } from '../e2e/support/etcd';
import { secret } from '../e2e/support/manifests';
import { MemberCluster } from '../e2e/support/member-cluster';
import { Namespace } from '../e2e/support/namespace';
import { bucket, keys, S3 } from '../e2e/support/s3';
import { agentImage, slowTest } from '../e2e/support/settings';
import { synthesize } from '../e2e/support/synthesis';
import { applyCrds, Play, tell } from '../e2e/watch/play';
import type { Manifest } from '../synth';
import { renderProgram } from './support/rendered';
import { type, typed } from './support/typed';

const directory = mkdtempSync(join(tmpdir(), 'cdk8s-etcd-moving-'));
const file = (name: string) => join(directory, name);
const seconds = (since: number) => ((Date.now() - since) / 1000).toFixed(1);
afterAll(() => rmSync(directory, { recursive: true }));

/** Puts the image under test into the output of the program. */
const program = { 'npx cdk8s-etcd': join(directory, 'cdk8s-etcd') };
const underTest = `sed 's#${released}#${agentImage}#; s#${memberImage}#${agentImage}#'`;
beforeAll(() => {
  const script = `#!/bin/sh -e\n${renderProgram()} "$@" > ${file('written')}\n${underTest} ${file('written')}\n`;
  writeFileSync(program['npx cdk8s-etcd'], script, { mode: 0o755 });
});

describe('an EtcdCluster without its manifests', () => {
  let play: Play | undefined;
  afterAll(() => play?.end());

  slowTest('says how to make them, and that command makes the cluster', async () => {
    let namespace: Namespace;
    let command = '';
    play = await Play.begin('without-manifests', {
      prepare: async (made) => {
        namespace = made;
        command = await commandToldOf(made);
      },
      manifests: async () => {
        expect(command).toContain(`-n ${namespace.name} `);
        return (await type(command.replace(/\| kubectl apply .*/, ''), program)).stdout;
      },
    });
    expect(await play.cluster.condition('Stalled')).toMatchObject({ status: 'False' });
    await play.writesOn();
    await play.ends(3);
  });

  /** Only a reconciler and the resource exist. */
  async function commandToldOf(namespace: Namespace): Promise<string> {
    const image = { image: agentImage, imagePullPolicy: ImagePullPolicy.IF_NOT_PRESENT };
    const reconciler = synthesize((chart) => new EtcdReconciler(chart, 'reconciler', image));
    await namespace.kubectl(['apply', '--server-side', '-f', '-'], reconciler);
    await namespace.apply([
      {
        apiVersion: 'cdk8s-etcd.dev/v1alpha1',
        kind: 'EtcdCluster',
        metadata: { name: 'orders' },
        spec: { size: 3, version: '3.6.16', storage: { size: '2Gi' } },
      },
    ]);
    const { message } = await namespace.until('the hint', 120, async () => {
      const { status } = await namespace.get('etcdcluster', 'orders');
      return status?.conditions?.find(
        ({ type, reason }: Manifest) => type === 'Stalled' && reason === 'ManifestsMissing',
      );
    });
    return /kubectl get etcdcluster .* -f -/.exec(message)?.[0] ?? message;
  }
});

describe('a cluster of an older operator', () => {
  let shop: Namespace;
  let next: Namespace;
  let old: Etcd;
  let writer: Client;
  beforeAll(async () => {
    await applyCrds();
    [shop, next] = await Promise.all([Namespace.create('old'), Namespace.create('new')]);
    await S3.start(shop, { plain: true });
    old = await Etcd.start(shop, { size: 1 });
    await old.fill('catalogue', 2);
    writer = await Client.start(shop, 'old', { endpoints: [`http://etcd-0.etcd.${shop.name}.svc:2379`] });
    await next.apply([secret('aws', { credentials: sharedFile })]);
  });
  afterAll(async () => {
    await shop?.delete();
    await next?.delete();
  });

  /** In the format of that operator. */
  const sharedFile = `[default]\naws_access_key_id = ${keys.AWS_ACCESS_KEY_ID}\naws_secret_access_key = ${keys.AWS_SECRET_ACCESS_KEY}\n`;
  const resource = (kind: string, name: string, spec: Manifest) => ({
    apiVersion: 'etcd.database.coreos.com/v1beta2',
    kind,
    metadata: { name, namespace: shop.name },
    spec,
  });
  const s3 = (name: string) => ({
    path: `${bucket}/old/${name}.db`,
    awsSecret: 'aws',
    endpoint: `http://s3.${shop.name}.svc:7070`,
    forcePathStyle: true,
  });
  const backup = (name: string) =>
    resource('EtcdBackup', name, {
      etcdEndpoints: [`http://etcd-0.etcd.${shop.name}.svc:2379`],
      storageType: 'S3',
      s3: s3(name),
    });
  const write = (name: string, ...resources: Manifest[]) =>
    writeFileSync(file(name), resources.map((each) => stringify(each)).join('---\n'));
  const names = () => ({
    ...program,
    'shop-2': next.name,
    'first.yaml': file('first.yaml'),
    'last.yaml': file('last.yaml'),
    'cluster.yaml': file('cluster.yaml'),
  });
  const everything = async (ask: () => Promise<string>) => (await ask()).trim();

  slowTest('moves as the guide says: a backup, the last backup, and the cluster that begins with it', async () => {
    write('first.yaml', backup('orders-first'));
    write('last.yaml', backup('orders-last'));
    write(
      'cluster.yaml',
      resource('EtcdCluster', 'orders', { size: 3, version: '3.6.16' }),
      resource('EtcdRestore', 'orders-restore', {
        etcdCluster: { name: 'orders' },
        backupStorageType: 'S3',
        s3: s3('orders-last'),
      }),
    );
    const guide = 'docs/clusters/render-from-yaml.md';
    let begun = Date.now();
    await typed(guide, 'Take a first backup while the old cluster serves', names());
    tell(`moving: a first backup of the old etcd ${seconds(begun)} s`);
    const verdict = await writer.judge(1);
    expect(verdict.wrong).toEqual([]);

    await typed(guide, 'Take the last backup', names());
    const { status } = await next.get('etcdbackup', 'orders-last');
    expect(status).toMatchObject({ phase: 'Completed', revision: await old.revision() });
    begun = Date.now();
    await typed(guide, 'Create the new cluster', names());
    const orders = await MemberCluster.create(next);
    await orders.ready(3);
    tell(
      `moving: the new cluster of three ${seconds(begun)} s, with ${verdict.written} acknowledged writes of the old one`,
    );
    const [before, after] = await Promise.all([
      everything(() => old.etcdctl(['get', '--prefix', '', `--rev=${status.revision}`])),
      everything(() => orders.etcdctl(['get', '--prefix', ''])),
    ]);
    expect(after === before).toBe(true);
    expect((await orders.resource()).spec.origin.source.key).toBe('old/orders-last.db');
  });
});
