// Values that cdk8s resolves when it writes the manifests, wherever a property stands unchanged in them.
import { App, Chart, Cron, type IResolver, Lazy, type ResolutionContext, Testing } from 'cdk8s';
import {
  BackupStore,
  CaBundle,
  EtcdAuth,
  EtcdBackupSchedule,
  EtcdClientTls,
  EtcdCluster,
  EtcdDashboard,
  EtcdReconciler,
  EtcdRestore,
  EtcdTls,
  NetworkAccess,
  RestoreSource,
  S3Credentials,
} from '..';

// biome-ignore lint/suspicious/noExplicitAny: a token has the type of no value
type Any = any;

/** Writes an app in which each text comes from `text`. */
function app(text: (value: string) => Any, root = Testing.app()): object[] {
  const chart = new Chart(root, 'shop', { namespace: 'shop' });
  const labels = { team: text('shop') };
  const pod = {
    imagePullSecrets: [text('mirror')],
    nodeSelector: { disk: text('ssd') },
    tolerations: [{ key: text('etcd'), operator: 'Equal', value: text('yes') }],
    priorityClassName: text('high'),
    labels,
  };
  const s3 = BackupStore.s3({ bucket: 'backups', region: 'r', credentials: S3Credentials.fromSecret(text('s3')) });
  const schedule = { ...pod, schedule: Cron.daily(), store: s3, serviceAccountName: text('backup') };
  const orders = new EtcdCluster(chart, 'orders', {
    ...pod,
    podAnnotations: { note: text('a b') },
    volume: { storageClass: text('fast') },
    tls: EtcdTls.fromSecrets({ peer: text('p'), server: text('s'), client: text('c') }),
    networkAccess: NetworkAccess.peers({ podLabels: { app: text('api') }, namespace: text('web') }),
    origin: { source: RestoreSource.backup('b'), identitySecret: text('age') },
  });
  orders.addBackupSchedule('nightly', schedule);
  orders.addMonitoring({ labels, dashboard: EtcdDashboard.configMap({ annotations: { folder: text('etcd') } }) });
  new EtcdReconciler(chart, 'reconciler', pod);
  new EtcdBackupSchedule(chart, 'theirs', {
    ...schedule,
    cluster: 'theirs',
    endpoints: ['https://etcd:2379'],
    auth: EtcdAuth.fromSecret(text('login')),
    tls: EtcdClientTls.fromCa(CaBundle.fromConfigMap(text('ca'))),
  });
  const source = RestoreSource.snapshot(s3, 'id', { namespace: text('other') });
  new EtcdRestore(chart, 'back', { cluster: orders, source, serviceAccountName: text('restore') });
  const certified = new EtcdCluster(chart, 'carts', { tls: EtcdTls.certManager({ issuer: text('ca') }) });
  certified.addClient('api', { podLabels: { app: text('api') } });
  return Testing.synth(chart);
}

const plain = app((value) => value);

test('Lazy', () => {
  expect(app((value) => Lazy.any({ produce: () => value }))).toEqual(plain);
});

test('a token that resolves itself', () => {
  expect(app((value) => ({ resolve: () => value }))).toEqual(plain);
});

test('a text that a resolver of the app knows, such as one of the AWS CDK', () => {
  const known = new Map<string, string>();
  const resolver: IResolver = {
    resolve: (context: ResolutionContext) => {
      const value = known.get(context.value);
      if (value !== undefined) context.replaceValue(value);
    },
  };
  const root = new App({ resolvers: [resolver] });
  const token = (value: string) => {
    const text = `\${Token[TOKEN.${known.size}]}`;
    known.set(text, value);
    return text;
  };
  expect(app(token, root)).toEqual(plain);
});

test('what becomes a part of a text is refused', () => {
  const token = Lazy.any({ produce: () => 'orders' });
  const chart = new Chart(Testing.app(), 'shop');
  const late = (prop: string) => `${prop}: is known only when the manifests are written; give its value itself`;
  expect(() => new EtcdCluster(chart, 'a', { name: token })).toThrow(late('shop/a: name'));
  expect(() => new EtcdCluster(chart, 'b').addUser('api', { can: [], secretName: token })).toThrow(late('secretName'));
  const reconciler = new EtcdReconciler(chart, 'c', { selector: { team: token } });
  expect(reconciler.node.validate()).toEqual([
    "selector: 'team' is known only when the manifests are written, but it is part of a command; give a text",
  ]);
});
