// The app that `npm run synth` runs: it writes dist/.
import { join } from 'node:path';
import { App } from 'cdk8s';
import { cluster } from './dist/cluster';
import { crds } from './dist/crds';
import { fileOf, synthesize } from './dist/dist-file';
import { existingBackup } from './dist/existing-backup';
import { writeBase, writeComponent } from './dist/kustomize';
import { monitoring } from './dist/monitoring';
import { reconciler } from './dist/reconciler';
import { sampleBackup } from './dist/sample-backup';
import { sampleRestore } from './dist/sample-restore';
import { sampleUser } from './dist/sample-user';

const app = new App();
const base = [crds(app), reconciler(app)];
synthesize(app, [...base, cluster(app), existingBackup(app)]);
writeBase(
  app.outdir,
  base.map(({ chart }) => fileOf(chart.node.id)),
);

const monitored = new App({ outdir: join(app.outdir, 'components/monitoring') });
const files = [monitoring(monitored)];
synthesize(monitored, files);
writeComponent(
  monitored.outdir,
  'Adds the monitoring of the reconciler, which needs the Prometheus operator.',
  files.map(({ chart }) => fileOf(chart.node.id)),
);

// In a directory of their own, so that `kubectl apply -f dist/` does not restore anything.
const samples = new App({ outdir: join(app.outdir, 'samples') });
synthesize(samples, [sampleBackup(samples), sampleRestore(samples), sampleUser(samples)]);
