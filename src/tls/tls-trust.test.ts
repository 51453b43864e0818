import { Chart, Cron, Testing } from 'cdk8s';
import type { Manifest } from '../../test/synth';
import { BackupStore, EtcdCluster, type EtcdClusterProps, EtcdPermission, EtcdTls, S3Credentials } from '..';

const own = { peer: 'p', server: 's', client: 'c', root: 'r', backup: 'b' };
const toSecrets = EtcdTls.managed({ alsoTrust: EtcdTls.fromSecrets(own) });
const toManaged = EtcdTls.fromSecrets({ ...own, alsoTrust: EtcdTls.managed() });
const toCertManager = EtcdTls.managed({ alsoTrust: EtcdTls.certManager({ issuer: 'ca' }) });

function create(props: Partial<EtcdClusterProps>): { cluster: EtcdCluster; objects: () => Manifest[] } {
  const chart = new Chart(Testing.app(), 'chart', { namespace: 'shop' });
  const cluster = new EtcdCluster(chart, 'orders', props);
  return { cluster, objects: () => Testing.synth(chart) };
}
const problemsOf = (tls: EtcdTls) => create({ tls }).cluster.node.validate();

test('the Secret with both authorities is empty, and so are those of the reconciler, on either side', () => {
  for (const tls of [toSecrets, toManaged, toCertManager]) {
    const secrets = create({ tls })
      .objects()
      .filter(({ kind }) => kind === 'Secret');
    expect(secrets.map(({ metadata }) => metadata.name)).toEqual([
      ...['orders-peer-ca', 'orders-client-ca', 'orders-peer-tls', 'orders-server-tls', 'orders-client-tls'],
      ...['orders-root-tls', 'orders-backup-tls', 'orders-tls-trust'],
    ]);
    expect(secrets.some((secret) => 'data' in secret || 'stringData' in secret)).toBe(false);
  }
});

test('the Certificates of cert-manager exist on either side', () => {
  for (const tls of [toCertManager, EtcdTls.certManager({ issuer: 'ca', alsoTrust: EtcdTls.managed() })]) {
    const found = create({ tls })
      .objects()
      .filter(({ kind }) => kind === 'Certificate');
    expect(found.map(({ spec }) => spec.secretName)).toEqual(
      ['peer', 'server', 'client', 'root', 'backup'].map((leaf) => `orders-${leaf}-cert`),
    );
  }
});

test('the reconciler may read the authorities of both, and write no Secret of others', () => {
  const rights = (tls: EtcdTls) => {
    const roles = create({ tls })
      .objects()
      .filter(({ kind }) => kind === 'Role');
    const role = roles.find(({ metadata }) => metadata.name === 'orders-etcd-reconciler')!;
    return role.rules
      .filter(({ resources }: Manifest) => resources.includes('secrets'))
      .map(({ resourceNames, verbs }: Manifest) => [verbs.join(), resourceNames]);
  };
  const written = [
    ...['orders-peer-ca', 'orders-client-ca', 'orders-peer-tls', 'orders-server-tls', 'orders-client-tls'],
    ...['orders-root-tls', 'orders-backup-tls', 'orders-tls-trust'],
  ];
  expect(rights(toSecrets)).toEqual([
    ['get,update', written],
    ['get', ['p', 's', 'c']],
  ]);
  expect(rights(toManaged)).toEqual([
    ['get,update', written],
    ['get', ['c', 'r', 'p', 's']],
  ]);
  expect(rights(EtcdTls.fromSecrets(own))).toEqual([['get', ['c', 'r']]]);
});

test('the resource names the Secrets of both sources', () => {
  const spec = (tls: EtcdTls) =>
    create({ tls })
      .objects()
      .find(({ kind }) => kind === 'EtcdCluster')!.spec.tls;
  expect(spec(toManaged)).toMatchObject({
    clientSecret: 'c',
    rootSecret: 'r',
    alsoTrust: {
      trustSecret: 'orders-tls-trust',
      ...{ peerSecret: 'orders-peer-tls', serverSecret: 'orders-server-tls', clientSecret: 'orders-client-tls' },
      ...{ rootSecret: 'orders-root-tls', managed: { peerAuthority: 'orders-peer-ca' } },
    },
  });
  expect(spec(toManaged).managed).toBeUndefined();
  expect(spec(toSecrets)).toMatchObject({
    ...{ peerSecret: 'orders-peer-tls', managed: { peerAuthority: 'orders-peer-ca' } },
    alsoTrust: { peerSecret: 'p' },
  });
  expect(spec(toSecrets).alsoTrust.managed).toBeUndefined();
});

test('clients and backups take the authorities of both', () => {
  const { cluster, objects } = create({ tls: toSecrets });
  expect(cluster.clientTlsSecretName).toBe('orders-client-tls');
  expect(cluster.clientTrustSecretName).toBe('orders-tls-trust');
  expect(create({}).cluster.clientTrustSecretName).toBeUndefined();
  cluster.addBackupSchedule('nightly', {
    schedule: Cron.daily(),
    store: BackupStore.s3({ bucket: 'backups', credentials: S3Credentials.fromSecret('s3') }),
  });
  const cronJob = objects().find(({ kind }) => kind === 'CronJob')!;
  const pod = cronJob.spec.jobTemplate.spec.template.spec;
  expect(pod.volumes.find(({ name }: Manifest) => name === 'tls').projected.sources).toEqual([
    {
      secret: {
        name: 'orders-backup-tls',
        items: [
          { key: 'tls.crt', path: 'tls.crt' },
          { key: 'tls.key', path: 'tls.key' },
        ],
      },
    },
    { secret: { name: 'orders-tls-trust', items: [{ key: 'client-ca.crt', path: 'ca.crt' }] } },
    { secret: { name: 'orders-backup-tls', items: [{ key: 'ca.crl', path: 'ca.crl' }], optional: true } },
  ]);
});

test('a scheduled backup gets the list of what is revoked, and starts without one, but not without a certificate', () => {
  const { cluster, objects } = create({});
  const store = BackupStore.s3({ bucket: 'backups', credentials: S3Credentials.fromSecret('s3') });
  cluster.addBackupSchedule('nightly', { schedule: Cron.daily(), store });
  const pod = objects().find(({ kind }) => kind === 'CronJob')!.spec.jobTemplate.spec.template.spec;
  const files = (...keys: string[]) => keys.map((key) => ({ key, path: key }));
  expect(pod.volumes.find(({ name }: Manifest) => name === 'tls').projected.sources).toEqual([
    { secret: { name: 'orders-backup-tls', items: files('ca.crt', 'tls.crt', 'tls.key') } },
    { secret: { name: 'orders-backup-tls', items: files('ca.crl'), optional: true } },
  ]);
});

test.each([
  [EtcdTls.managed({ alsoTrust: EtcdTls.none() }), 'EtcdTls.none has no authorities'],
  [EtcdTls.managed({ alsoTrust: EtcdTls.managed() }), 'tls.alsoTrust: a Secret has more than one purpose'],
  [
    EtcdTls.fromSecrets({ ...own, alsoTrust: EtcdTls.fromSecrets({ ...own, peer: 'q' }) }),
    'tls.alsoTrust: a Secret has more than one purpose',
  ],
  [
    EtcdTls.fromSecrets({ ...own, client: 'orders-tls-trust', alsoTrust: EtcdTls.managed() }),
    'tls.alsoTrust: a Secret has more than one purpose',
  ],
  [
    EtcdTls.fromSecrets({ ...own, peer: 'orders-peer-ca', alsoTrust: EtcdTls.managed() }),
    'tls.alsoTrust: a Secret has more than one purpose',
  ],
  [EtcdTls.managed({ alsoTrust: toManaged }), 'takes a source alone'],
  [EtcdTls.managed({ alsoTrust: EtcdTls.none({ previous: EtcdTls.fromSecrets(own) }) }), 'takes a source alone'],
  [
    EtcdTls.managed({ alsoTrust: EtcdTls.certManager({ issuer: 'C A' }) }),
    "tls.alsoTrust.issuer: 'C A' is not a valid name of an Issuer",
  ],
])('mistake %#', (tls, message) => {
  expect(problemsOf(tls)).toContainEqual(expect.stringContaining(message));
});

test('users wait until the change is over', () => {
  const withUser = create({ tls: toSecrets });
  withUser.cluster.addUser('api', { can: [EtcdPermission.readWrite('/api/')] });
  expect(withUser.objects).toThrow(/the source of the certificates is being changed \(alsoTrust\)/);
  expect(create({ tls: toSecrets, auth: true }).objects).toThrow(/auth: cannot be combined with tls.alsoTrust/);
});
