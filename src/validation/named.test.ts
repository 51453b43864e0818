// The objects of cdk8s-plus, by their shapes: those that exist, those that are created, and those of the API itself.
import { ApiObject, Chart, Cron, Testing } from 'cdk8s';
import { newest, oldest, plus } from '../../test/cdk8s-plus';
import {
  BackupStore,
  CaBundle,
  EtcdAuth,
  EtcdBackup,
  EtcdBackupSchedule,
  EtcdClientTls,
  EtcdCluster,
  EtcdReconciler,
  EtcdRestore,
  EtcdTls,
  type INamed,
  NetworkAccess,
  OssCredentials,
  RestoreSource,
  S3Credentials,
  SftpCredentials,
  SseCustomerKey,
} from '..';

const shop = () => new Chart(Testing.app(), 'shop', { namespace: 'shop' });

/** What an app with every object writes, of which only the names are of interest. */
function app(
  named: (kind: 'Secret' | 'ConfigMap' | 'ServiceAccount' | 'Claim' | 'Namespace', chart: Chart) => INamed | string,
) {
  const chart = shop();
  const given = new Chart(chart.node.root as never, 'given', { namespace: 'shop' });
  const secret = named('Secret', given);
  const account = named('ServiceAccount', given);
  const bucket = { bucket: 'backups', region: 'r' };
  const stores = [
    BackupStore.s3({
      ...bucket,
      credentials: S3Credentials.fromSecret(secret),
      sseCustomerKey: SseCustomerKey.fromSecret(secret),
    }),
    BackupStore.oss({ ...bucket, credentials: OssCredentials.fromSecret(secret) }),
    BackupStore.sftp({ host: 'h', credentials: SftpCredentials.fromSecret(secret) }),
    BackupStore.filesystem({ claimName: named('Claim', given) }),
    BackupStore.command({ path: '/opt', credentialsSecretName: secret }),
  ];
  const orders = new EtcdCluster(chart, 'orders', {
    tls: EtcdTls.fromSecrets({ peer: secret, server: secret, client: secret }),
    imagePullSecrets: [secret],
    networkAccess: NetworkAccess.peers({ namespace: named('Namespace', given) }),
    reconciler: EtcdReconciler.external({ serviceAccountName: account }),
    origin: { source: RestoreSource.backup('b'), identitySecret: secret },
  });
  const theirs = new EtcdBackupSchedule(chart, 'theirs', {
    cluster: 'theirs',
    endpoints: ['https://etcd:2379'],
    auth: EtcdAuth.fromSecret(secret),
    tls: EtcdClientTls.fromCa(CaBundle.fromConfigMap(named('ConfigMap', given))),
    schedule: Cron.daily(),
    store: stores[0]!,
    image: 'r/agent:1',
    serviceAccountName: account,
  });
  for (const store of stores.slice(1)) theirs.addStore(store);
  const tls = EtcdClientTls.fromSecret(secret);
  new EtcdBackup(chart, 'now', { endpoints: ['https://a:2379'], tls, store: stores[0]!, serviceAccountName: account });
  const source = RestoreSource.snapshot(stores[0]!, 'id', { namespace: named('Namespace', given) });
  new EtcdRestore(chart, 'back', { cluster: orders, source, identitySecret: secret, safetyBackup: false });
  return Testing.synth(chart);
}

const byName = app((kind) => `given-${kind.toLowerCase()}`);

describe.each(plus)('%s', (_, types) => {
  test('objects that are created', () => {
    const created = app((kind, chart) => {
      const metadata = { name: `given-${kind.toLowerCase()}` };
      const found = chart.node.tryFindChild(kind);
      if (found) return found as unknown as INamed;
      if (kind === 'Claim') return new types.PersistentVolumeClaim(chart, kind, { metadata });
      return new types[kind](chart, kind, { metadata });
    });
    expect(created).toEqual(byName);
  });

  test('objects that exist', () => {
    const existing = app((kind, chart) => {
      const [id, name] = [`${kind}-${chart.node.children.length}`, `given-${kind.toLowerCase()}`];
      if (kind === 'Secret') return types.Secret.fromSecretName(chart, id, name);
      if (kind === 'ConfigMap') return types.ConfigMap.fromConfigMapName(chart, id, name);
      if (kind === 'ServiceAccount') return types.ServiceAccount.fromServiceAccountName(chart, id, name);
      if (kind === 'Claim') return types.PersistentVolumeClaim.fromClaimName(chart, id, name);
      return name;
    });
    expect(existing).toEqual(byName);
  });
});

test('both versions and ApiObjects in one app', () => {
  const chart = shop();
  const peer = new oldest.Secret(chart, 'Peer', { metadata: { name: 'a' } });
  const server = new newest.Secret(chart, 'Server', { metadata: { name: 'b' } });
  const client = new ApiObject(chart, 'Client', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'c' } });
  const orders = new EtcdCluster(chart, 'orders', { tls: EtcdTls.fromSecrets({ peer, server, client }) });
  const secrets = Testing.synth(chart).flatMap(({ kind, metadata }) => (kind === 'Secret' ? [metadata.name] : []));
  expect(secrets).toEqual(['a', 'b', 'c']);
  expect(orders.clientTlsSecretName).toBe('c');
});
