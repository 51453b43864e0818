import { App, Chart, Cron, Testing } from 'cdk8s';
import { s3 } from '../../test/synth';
import { ControlPlaneEtcdBackup, EtcdBackupSchedule, EtcdCluster, EtcdReconciler, NetworkAccess } from '..';
import { onNotice } from './notices';

// Also in the commit of a release.
vi.mock('./agent-image', async (original) => ({ ...(await original<object>()), isReleased: false }));

const run = { schedule: Cron.hourly(), store: s3 };

/** What an app tells, whose charts are synthesized again and again. */
function told(build: (chart: Chart) => void): string[] {
  const app = Testing.app();
  const messages: string[] = [];
  onNotice(app, (message) => messages.push(message));
  const chart = new Chart(app, 'shop', { namespace: 'shop' });
  build(chart);
  app.synthYaml();
  Testing.synth(chart);
  return messages;
}

const own = 'registry.example.com/agent:1';
const cluster = (props: object) => (chart: Chart) => {
  new EtcdCluster(chart, 'orders', props).addBackupSchedule('nightly', run);
  new EtcdCluster(chart, 'users', props);
};
const schedule = (props: object) => (chart: Chart) => {
  new EtcdBackupSchedule(chart, 'nightly', { cluster: 'orders', endpoints: ['etcd:2379'], ...run, ...props });
};
const reconciler = (props: object) => (chart: Chart) => {
  new EtcdReconciler(chart, 'reconciler', props);
};
const controlPlane = (props: object) => (chart: Chart) => {
  new ControlPlaneEtcdBackup(chart, 'nightly', { cluster: 'prod', ...run, ...props });
};

test.each([
  ['clusters', cluster],
  ['a schedule', schedule],
  ['a reconciler', reconciler],
  ['the backup of a control plane', controlPlane],
])('%s with our image tell once that no node can pull it, and what to do', (_, build) => {
  expect(told(build({}))).toEqual([
    expect.stringMatching(
      /^ghcr\.io\S+ and ghcr\.io\S+ were never released, so no node can pull them; build .* `npm run image`.* agent image of each EtcdCluster .*\(https:\/\/\S+#build-the-image\)$/,
    ),
  ]);
});

test.each([
  ['clusters', cluster({ agentImage: own })],
  ['clusters of a mirror', cluster({ registry: 'registry.example.com' })],
  ['a schedule', schedule({ image: own })],
  ['a reconciler', reconciler({ image: own })],
  ['the backup of a control plane', controlPlane({ image: own })],
])('%s with an image of their own tell nothing', (_, build) => {
  expect(told(build)).toEqual([]);
});

test('the message goes to the standard error, once for each app', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  for (const app of [new App({ outdir: Testing.app().outdir }), Testing.app()]) {
    new EtcdReconciler(new Chart(app, 'shop'), 'reconciler');
    app.synth();
    app.synth();
  }
  expect(warn.mock.calls).toEqual(Array(2).fill([expect.stringMatching(/^cdk8s-etcd: ghcr\.io/)]));
  warn.mockRestore();
});

test.each<[string, object, boolean]>([
  ['pods only', {}, true],
  [
    'pods and a range of addresses',
    { networkAccess: NetworkAccess.peers({ podLabels: {} }, { cidr: '10.0.0.0/8' }) },
    false,
  ],
  ['everybody', { networkAccess: NetworkAccess.anywhere() }, false],
  ['nobody', { networkAccess: NetworkAccess.nobody() }, true],
])('Services for clients outside, and access for %s', (_, props, isTold) => {
  const messages = told(cluster({ agentImage: own, externalServices: { type: 'LoadBalancer' }, ...props }));
  const says = (name: string) =>
    expect.stringMatching(
      `^${name}: networkAccess lets no client outside of Kubernetes through externalServices; add a peer`,
    );
  expect(messages).toEqual(isTold ? [says('orders'), says('users')] : []);
});
