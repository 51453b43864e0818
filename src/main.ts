// The app that `npm run synth` runs: it writes dist/.
import { join } from 'node:path';
import { App } from 'cdk8s';
import { cluster } from './dist/cluster';
import { crds } from './dist/crds';
import { synthesize } from './dist/dist-file';
import { existingBackup } from './dist/existing-backup';
import { reconciler } from './dist/reconciler';
import { sampleBackup } from './dist/sample-backup';
import { sampleRestore } from './dist/sample-restore';
import { sampleUser } from './dist/sample-user';

const app = new App();
synthesize(app, [crds(app), reconciler(app), cluster(app), existingBackup(app)]);

// In a directory of their own, so that `kubectl apply -f dist/` does not restore anything.
const samples = new App({ outdir: join(app.outdir, 'samples') });
synthesize(samples, [sampleBackup(samples), sampleRestore(samples), sampleUser(samples)]);
