import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { backup, good, restore } from '../../test/apply/good';
import type { Manifest } from '../../test/synth';
import { InputError } from './report';
import { render } from './run';

const corpus = join(__dirname, '../../agent/test/fuzz/corpus/render');
const inputs: readonly [string, string][] = [
  ...['own.yaml', 'small.yaml', 'coreos.yaml', 'ydzs.yaml'].map((name): [string, string] => [
    name,
    readFileSync(join(corpus, name), 'utf8'),
  ]),
  ...Object.entries(good).map(([name, manifest]): [string, string] => [name, stringify(manifest)]),
];

const manifestsOf = (text: string) => render(text, { file: 'input.yaml' }).yaml;
const resourcesOf = (text: string) => render(text, { file: 'input.yaml', resources: true }).yaml;

/** Some satisfy only the schema. */
function manifestsIfValid(text: string): string | undefined {
  try {
    return manifestsOf(text);
  } catch (error) {
    if (error instanceof InputError) return undefined;
    throw error;
  }
}

test.each(inputs)('the resources say all that the manifests have: %s', (_, text) => {
  const manifests = manifestsIfValid(text);
  if (manifests === undefined) return expect(() => resourcesOf(text)).toThrow(InputError);
  const resources = resourcesOf(text);
  expect(manifestsOf(resources)).toBe(manifests);
  expect(resourcesOf(resources)).toBe(resources);
});

const cluster = (spec: Manifest, metadata: Manifest = {}) =>
  stringify({
    apiVersion: 'cdk8s-etcd.dev/v1alpha1',
    kind: 'EtcdCluster',
    metadata: { name: 'orders', ...metadata },
    spec: { version: '3.6.16', ...spec },
  });

test('a resource of an API server is what was applied', () => {
  const live = cluster(
    {
      size: 3,
      paused: false,
      tls: { managed: {} },
      storage: { size: '8Gi', ephemeral: false },
      maintenance: { defragment: { at: '2026-11-26T15:00:00Z', ordinal: 1 } },
    },
    { namespace: 'shop', resourceVersion: '7', managedFields: [] },
  );
  expect(resourcesOf(live)).toBe(`apiVersion: cdk8s-etcd.dev/v1alpha1
kind: EtcdCluster
metadata:
  name: orders
  namespace: shop
spec:
  size: 3
  storage:
    size: 8Gi
  tls:
    managed: {}
  version: 3.6.16
`);
});

const source = { backupName: 'monday' };
const legacy = (tls: Manifest) =>
  backup({
    endpoints: ['https://10.0.0.1:2379'],
    tls: { files: { secretName: 'tls' }, ...tls },
    store: { s3: { bucket: 'backups' } },
  });

test.each([
  ['EtcdRestore', restore({ source }), restore({ source, safetyBackup: true, ignoreUnreachablePods: false })],
  ['EtcdBackup', legacy({}), legacy({ clientCertificate: true })],
])('an %s of an API server is what was applied', (_, applied, live) => {
  expect(resourcesOf(stringify(live))).toBe(resourcesOf(stringify(applied)));
  expect(manifestsOf(stringify(live))).toBe(manifestsOf(stringify(applied)));
});

test('a cluster and the backups of an older operator become one resource', () => {
  const old = (kind: string, spec: Manifest) =>
    stringify({ apiVersion: 'etcd.database.coreos.com/v1beta2', kind, metadata: { name: 'orders' }, spec });
  const text = [
    old('EtcdCluster', { size: 3, version: '3.6.16' }),
    old('EtcdBackup', {
      etcdEndpoints: ['http://orders-client:2379'],
      storageType: 'S3',
      s3: { path: 'backups/etcd/orders.db', awsSecret: 'aws' },
      backupPolicy: { backupIntervalInSecond: 3_600, maxBackups: 5 },
    }),
  ].join('---\n');
  expect(resourcesOf(text)).toBe(`apiVersion: cdk8s-etcd.dev/v1alpha1
kind: EtcdCluster
metadata:
  name: orders
spec:
  backup:
    schedules:
      - cron: 0 * * * *
        name: backup
        stores:
          - retention:
              last: 5
            s3:
              bucket: backups
              credentials:
                secretName: aws
              prefix: etcd
  size: 3
  storage:
    size: 8Gi
  version: 3.6.16
`);
});

test('with a mistake there are none', () => {
  expect(() => resourcesOf(cluster({ sise: 3 }))).toThrow(InputError);
  expect(() => resourcesOf(cluster({ backup: { schedules: [{ name: 'a', cron: '99 * * * *' }] } }))).toThrow(
    InputError,
  );
});
