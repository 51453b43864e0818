// What the suites that monitor run in the cluster, as users do: the Prometheus operator and its reloader, built from
// their Go module, beside this machine's Prometheus and Alertmanager, which are Debian's.
import { copyFileSync, cpSync, realpathSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory, fillDirectory } from './cache.mjs';
import { allPrometheusOperatorCrds } from './foreign-crds.mjs';
import { goBuild } from './go/go-build.mjs';
import { loadImage } from './image/load.mjs';
import { onPath } from './on-path.mjs';

const image = 'ghcr.io/cdk8s-etcd/monitoring:e2e';
const wrapper = join(import.meta.dirname, '../../test/tools/prometheus-operator');
const commands = 'github.com/prometheus-operator/prometheus-operator/cmd';
const built = ['operator', 'prometheus-config-reloader'];

const recipe = join(import.meta.dirname, '../../test/monitoring/image');
/** Debian's Alertmanager reads its templates when it starts. */
const templates = '/usr/share/prometheus/alertmanager';

/** Returns the directory of the operator's programs. */
async function programs() {
  const directory = join(cacheDirectory, 'prometheus-operator');
  const found = await readdir(directory).catch(() => []);
  if (built.every((name) => found.includes(name))) return directory;
  const packages = built.map((name) => `${commands}/${name}`);
  await fillDirectory(directory, (fresh) =>
    goBuild(wrapper, packages, fresh, 'prometheus-operator: building, some minutes'),
  );
  return directory;
}

/** Puts the image onto the nodes, and the CRDs into the API server. Returns the name of the image. */
export async function provideMonitoring(kubernetes) {
  const crds = await allPrometheusOperatorCrds();
  // Client-side apply would put the whole definition into an annotation, for which these are too large.
  kubernetes.kubectl('apply', '--server-side', '--force-conflicts', '-f', crds);
  kubernetes.kubectl('wait', '--for=condition=Established', '--timeout=60s', '-f', crds);
  if (process.env.MONITORING_IMAGE) return process.env.MONITORING_IMAGE;
  return loadImage(kubernetes, image, async (context) => {
    const operator = await programs();
    cpSync(recipe, context, { recursive: true });
    for (const name of built) copyFileSync(join(operator, name), join(context, name));
    for (const [name, program] of Object.entries({
      prometheus: 'prometheus',
      alertmanager: 'prometheus-alertmanager',
    })) {
      const [path] = await onPath(new RegExp(`^${program}$`));
      copyFileSync(realpathSync(path), join(context, name));
    }
    cpSync(templates, join(context, 'templates'), { recursive: true, dereference: true });
  });
}
