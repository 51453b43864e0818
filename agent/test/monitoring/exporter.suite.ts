// The pod of the exporter as it is synthesized, as a process: its command line and its environment, with a real store.
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chart, Cron, Testing } from 'cdk8s';
import { RunningAgent, runAgent } from '../harness/agent.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { freePorts } from '../harness/free-ports.ts';
import { Versitygw } from '../harness/versitygw.ts';
import { Prometheus } from './prometheus.ts';

// As built, because its sources are not written for the compiler's settings of the agent.
const library = createRequire(import.meta.url)('../../../lib/src/index.js');
const { BackupStore, EtcdBackupSchedule, EtcdScrape, S3Credentials } = library;

const namespace = 'shop';
const claim = 'backups';

/** Returns the manifests of a schedule with monitoring. */
function synthesized(endpoints: readonly string[], server: Versitygw) {
  const chart = new Chart(Testing.app(), 'chart', { namespace });
  const { endpoint, region } = server;
  const credentials = S3Credentials.fromSecret('s3');
  const schedule = new EtcdBackupSchedule(chart, 'hourly', {
    ...{ cluster: 'orders', endpoints: [...endpoints], schedule: Cron.hourly() },
    store: BackupStore.s3({ bucket: 'backups', region, endpoint, pathStyle: true, credentials }),
  });
  schedule.addStore(BackupStore.filesystem({ claimName: claim }));
  schedule.addMonitoring({ scrape: EtcdScrape.serviceMonitors() });
  const manifests = Testing.synth(chart);
  const find = (kind: string) => manifests.find((each) => each.kind === kind).spec;
  return {
    backup: find('CronJob').jobTemplate.spec.template.spec.containers[0],
    exporter: find('Deployment').template.spec.containers[0],
    rules: find('PrometheusRule').groups,
    endpoint: find('ServiceMonitor').endpoints[0],
  };
}

/** The files that Kubernetes would mount are in directories of this machine. */
const here = (args: readonly string[], places: Readonly<Record<string, string>>): string[] =>
  args.map((argument) =>
    Object.entries(places).reduce((text, [from, to]) => text.replaceAll(from, to), argument.replaceAll('$$', '$')),
  );

/** The field of the pod that the environment asks for. */
const env = { ETCD_AGENT_NAMESPACE: namespace };

test('the exporter of a schedule serves what its alerts and its dashboard ask for', async () => {
  await using etcd = await EtcdCluster.start({ size: 1 });
  await using server = await Versitygw.start({ buckets: ['backups'] });
  const volume = await mkdtemp(join(tmpdir(), 'exporter-'));
  const pods = synthesized(etcd.endpoints, server);
  const places = { '/etc/etcd-agent/stores/0/credentials': server.credentialsDirectory, '/backup/1': volume };
  const [port] = await freePorts(1);
  let exporter: RunningAgent | undefined;
  try {
    expect(pods.exporter.env.map(({ name }: { name: string }) => name)).toEqual(Object.keys(env));
    const { code, stderr } = await runAgent(here(pods.backup.args, places), { env });
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });

    exporter = new RunningAgent([...here(pods.exporter.args, places), `--listen=127.0.0.1:${port}`], { env });
    const url = `http://127.0.0.1:${port}`;
    const { path } = pods.exporter.readinessProbe.httpGet;
    while (!(await fetch(`${url}${path}`).catch(() => undefined))?.ok) await sleep(200);

    const [{ targetLabel, replacement }] = pods.endpoint.relabelings;
    await using prometheus = await Prometheus.start(
      [{ address: `127.0.0.1:${port}`, labels: { [targetLabel]: replacement } }],
      pods.rules,
    );
    const stores = async () => prometheus.query('etcd_backup_store_up');
    for (let tries = 0; tries < 100 && (await stores()).length < 2; tries++) await sleep(200);

    const selectors: string[] = pods.rules
      .flatMap(({ rules }: { rules: { expr: string }[] }) => rules)
      .flatMap(({ expr }: { expr: string }) => expr.match(/etcd_\w+\{[^}]*\}/g) ?? []);
    expect(selectors.length).toBeGreaterThan(3);
    for (const selector of selectors)
      expect([selector, await prometheus.query(selector)]).toEqual([
        selector,
        [
          expect.objectContaining({ value: expect.any(Number) }),
          expect.objectContaining({ value: expect.any(Number) }),
        ],
      ]);
    expect((await stores()).map(({ value }) => value)).toEqual([1, 1]);
    // One may be pending from before the first scrape.
    for (let tries = 0; tries < 100 && (await prometheus.alerts()).length > 0; tries++) await sleep(200);
    expect(await prometheus.alerts()).toEqual([]);
  } finally {
    await exporter?.kill();
    await rm(volume, { recursive: true });
  }
});
