// EtcdReconciler and EtcdBackupSchedule, which only render reads. `npm run suite -- same-bytes` compares their objects with those of
// the constructs.
import { App, Chart, Cron } from 'cdk8s';
import { backupSchedule, cluster, reconciler } from '../../test/apply/good';
import { errorsOf, only, rendering } from '../../test/rendering';
import { type Manifest, s3 } from '../../test/synth';
import { ControlPlaneEtcdBackup, EtcdCluster } from '..';
import { render } from './run';

const inNamespace = (manifest: Manifest, more: Manifest = {}): Manifest => ({
  ...manifest,
  metadata: { ...manifest.metadata, ...more, namespace: 'shop' },
});
const controlPlane = (more: Manifest = {}) => inNamespace(backupSchedule({ controlPlane: {}, ...more }));

describe('a reconciler in the input', () => {
  test('is that of the clusters of its namespace', () => {
    const found = rendering([inNamespace(cluster()), inNamespace(reconciler({ replicas: 2 }, 'mine'))]);
    expect(only(found, 'Deployment')).toMatchObject({ metadata: { name: 'mine' }, spec: { replicas: 2 } });
    expect(only(found, 'EtcdCluster').spec.reconciler).toEqual({ serviceAccountName: 'mine' });
  });

  test('is that of the cluster that names it, beside another one', () => {
    const of = (team: string) => inNamespace(reconciler({ selector: { team } }, team));
    const chosen = { labels: { team: 'a' }, reconciler: { serviceAccountName: 'a' } };
    const found = rendering([inNamespace(cluster(chosen)), of('a'), of('b')]);
    expect(found.manifests.filter(({ kind }) => kind === 'Deployment')).toHaveLength(2);
    expect(errorsOf([inNamespace(cluster({ ...chosen, labels: { team: 'b' } })), of('a'), of('b')])).toEqual([
      expect.stringContaining("labels: reconciler 'a' manages only clusters with team=a"),
    ]);
  });

  test('in another namespace than the cluster that names it, the reconciler is not its own', () => {
    const found = rendering([
      inNamespace(cluster({ reconciler: { name: 'mine', serviceAccountName: 'mine' } })),
      { ...reconciler({}, 'mine'), metadata: { name: 'mine', namespace: 'other' } },
    ]);
    expect(found.lines).toContainEqual(
      expect.stringContaining("spec.reconciler: the EtcdReconciler 'mine' of this file is in namespace 'other'"),
    );
  });

  test('is written with --no-reconciler, too', () => {
    const found = rendering([inNamespace(reconciler({ labels: { team: 'a' } }))], { reconciler: false });
    expect(only(found, 'Deployment').metadata.labels).toMatchObject({ team: 'a' });
  });

  test('labels outside of its spec are reported', () => {
    const { lines } = rendering([inNamespace(reconciler(), { labels: { team: 'a' } })]);
    expect(lines).toEqual([expect.stringContaining('metadata.labels: team: write them into spec.labels')]);
  });
});

test('alerts know the reconciler by its own name', () => {
  const named = { name: 'main', serviceAccountName: 'account' };
  const { manifests } = rendering([inNamespace(cluster({ monitoring: {}, reconciler: named }))]);
  const alerts = manifests.find(({ kind }) => kind === 'PrometheusRule');
  expect(JSON.stringify(alerts)).toContain('"reconciler":"main"');
});

describe('a control plane', () => {
  test('needs a namespace of its own', () => {
    const { metadata, ...rest } = controlPlane();
    expect(errorsOf([{ ...rest, metadata: { name: metadata.name } }])).toContainEqual(
      expect.stringContaining('metadata.namespace: is missing, but the backup of a control plane needs'),
    );
    expect(errorsOf([{ ...rest, metadata: { ...metadata, namespace: 'kube-system' } }])).toEqual([
      expect.stringContaining("'kube-system' belongs to Kubernetes"),
    ]);
  });

  test('the static Pod is that of the construct', () => {
    const chart = new Chart(new App(), 'chart', { namespace: 'shop' });
    const props = { cluster: 'prod', schedule: Cron.hourly(), store: s3, dataDir: '/srv/etcd' };
    const backup = new ControlPlaneEtcdBackup(chart, 'hourly', props);
    const { yaml } = render(backup.resourceYaml(), { file: 'input', restorePod: 1 });
    expect(yaml).toBe(backup.restorePodYaml());
    expect(errorsOf([controlPlane()], { restorePod: 2 })).toEqual([expect.stringContaining('there is no store 2')]);
    expect(errorsOf([inNamespace(backupSchedule())], { restorePod: 1 })).toEqual([
      'error: input.yaml: contains no EtcdBackupSchedule with spec.controlPlane; leave out --restore-pod',
    ]);
  });
});

describe('problems that the schema does not know', () => {
  test.each<[string, Manifest, string]>([
    ['a time that is not one', backupSchedule({ cron: '99 * * * *' }), 'spec.cron: '],
    [
      'a place twice',
      backupSchedule({ stores: [{ s3: { bucket: 'abc' } }, { s3: { bucket: 'abc' } }] }),
      'spec.stores[1]: is the same place as an earlier store',
    ],
    [
      'a tuning that etcd refuses, with a remedy that YAML takes',
      cluster({ tuning: { heartbeatInterval: '1s', electionTimeout: '2s' } }),
      'about ten times heartbeatInterval',
    ],
    ['an age', backupSchedule({ monitoring: { maxAge: '5m' } }), 'spec.monitoring: maxAge: 5m is too short'],
    [
      'an age that is reached before each run',
      backupSchedule({ cron: '0 2 * * *', monitoring: { maxAge: '24h' } }),
      'spec.monitoring: maxAge: 1d is not above the longest time between two runs, 1d',
    ],
    [
      'no alert',
      backupSchedule({ monitoring: { alerts: { exclude: ['EtcdBackupOld'] } } }),
      "spec.monitoring: alerts: exclude: 'EtcdBackupOld' is not an alert; did you mean EtcdBackupTooOld?",
    ],
    [
      'no alert of a reconciler',
      reconciler({ monitoring: { alerts: { exclude: ['Down'] } } }),
      "spec.monitoring: alerts: exclude: 'Down' is not an alert",
    ],
    [
      'no alert of a cluster',
      cluster({ monitoring: { alerts: { exclude: ['Down'] } } }),
      "spec.monitoring: alerts: exclude: 'Down' is not an alert",
    ],
  ])('%s', (_, manifest, says) => {
    expect(errorsOf([inNamespace(manifest)])).toEqual([expect.stringContaining(says)]);
  });
});

test('the schedule of a cluster is part of its resource', () => {
  const orders = new EtcdCluster(new Chart(new App(), 'chart'), 'orders');
  const hourly = orders.addBackupSchedule('hourly', { schedule: Cron.hourly(), store: s3 });
  expect(() => hourly.resourceYaml()).toThrow(
    "chart/orders/hourly: resourceYaml: the schedule is part of the EtcdCluster 'orders'; write it into spec.backup.schedules of that resource",
  );
});
