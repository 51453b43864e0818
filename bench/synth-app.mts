// A cdk8s app of many clusters, each with a backup schedule:
// `node bench/synth-app.mts ours|plain CLUSTERS CHARTS DIRECTORY`. `plain` creates the same objects without this
// library, which shows the cost of cdk8s itself. Prints the cost of one synth from the first construct to the last
// file, without loading the program.
import { ApiObject, App, Chart, Cron, Testing } from 'cdk8s';
import library from '../lib/src/index.js';

const { BackupStore, EtcdCluster, Retention, S3Credentials } = library;
const [way, clusters, charts, outdir] = process.argv.slice(2);

function addCluster(chart: Chart, name: string) {
  new EtcdCluster(chart, name).addBackupSchedule('nightly', {
    schedule: Cron.daily(),
    store: BackupStore.s3({ bucket: 'backups', region: 'eu-west-1', credentials: S3Credentials.fromSecret('s3') }),
    retention: Retention.tiers({ daily: 7, weekly: 4 }),
  });
}

function objectsOfOneCluster() {
  const chart = new Chart(Testing.app(), 'template');
  addCluster(chart, 'template');
  return Testing.synth(chart);
}

const objects = way === 'plain' ? objectsOfOneCluster() : [];

function addObjects(chart: Chart, name: string) {
  for (const [index, { metadata, ...object }] of objects.entries()) {
    new ApiObject(chart, `${name}-${index}`, {
      ...object,
      metadata: { ...metadata, name: `${name}-${metadata.name}` },
    });
  }
}

const started = { wall: performance.now(), cpu: process.cpuUsage() };
const app = new App({ outdir: outdir! });
const namespaces = Array.from({ length: Number(charts) }, (_, index) => `team-${index}`);
const into = namespaces.map((namespace) => new Chart(app, namespace, { namespace }));
const add = way === 'plain' ? addObjects : addCluster;
for (let index = 0; index < Number(clusters); index++) add(into[index % into.length]!, `orders-${index}`);
app.synth();
const { user, system } = process.cpuUsage(started.cpu);
console.log(JSON.stringify({ wall: performance.now() - started.wall, cpu: (user + system) / 1_000 }));
