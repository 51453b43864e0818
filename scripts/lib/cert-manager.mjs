// cert-manager's controller for the suites on Kubernetes, built from its Go module by the program in test/tools/cert-manager.
import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { cacheDirectory, fillDirectory } from './cache.mjs';
import { certManagerCrds } from './foreign-crds.mjs';
import { goBuild } from './go/go-build.mjs';
import { loadImage } from './image/load.mjs';

const image = 'ghcr.io/cdk8s-etcd/cert-manager:e2e';
const wrapper = join(import.meta.dirname, '../../test/tools/cert-manager');
const program = join(cacheDirectory, 'cert-manager', 'cert-manager');

/** The controller would write the same objects. */
const isInstalled = (kubernetes) =>
  Boolean(kubernetes.kubectl('get', 'deployments', '-A', '-l', 'app.kubernetes.io/name=cert-manager', '-o', 'name'));

/** Builds always, because its source may have changed. Go keeps what has not. */
const build = () =>
  fillDirectory(join(cacheDirectory, 'cert-manager'), (fresh) =>
    goBuild(wrapper, ['.'], fresh, 'cert-manager: building, some minutes for the first time'),
  );

/**
 * Puts the image onto the nodes, and the CRDs into the API server. Returns the name of the image, or an empty one if it is
 * unavailable, after a line that says why.
 */
export async function provideCertManager(kubernetes) {
  if (isInstalled(kubernetes)) {
    console.error('operations: leaves out cert-manager: this Kubernetes has one already');
    return '';
  }
  try {
    const crds = await certManagerCrds();
    if (!process.env.CERT_MANAGER_IMAGE) await build();
    kubernetes.kubectl('apply', '--server-side', '--force-conflicts', '-f', crds);
    kubernetes.kubectl('wait', '--for=condition=Established', '--timeout=60s', '-f', crds);
  } catch (error) {
    console.error(`operations: leaves out cert-manager, which needs Go 1.26: ${error.message}`);
    return '';
  }
  const files = [program, join(wrapper, 'Dockerfile')];
  const fill = (context) => {
    for (const file of files) copyFileSync(file, join(context, basename(file)));
  };
  return process.env.CERT_MANAGER_IMAGE || loadImage(kubernetes, image, fill);
}
