import { setTimeout as sleep } from 'node:timers/promises';
import { kubectl } from './kubectl';
import { controlPlaneNodes, onNode } from './node-driver';

const manifest = 'kube-apiserver.yaml';
const [live, aside] = [`/etc/kubernetes/manifests/${manifest}`, `/etc/kubernetes/${manifest}`];

/** Does the work while no API server runs. */
export async function withoutApiServer(work: () => Promise<void>): Promise<void> {
  const planes = await controlPlaneNodes();
  try {
    await apiServer(planes, false);
    await work();
  } finally {
    await apiServer(planes, true);
  }
}

async function apiServer(planes: readonly string[], up: boolean): Promise<void> {
  for (const plane of planes) await onNode(plane, 'mv', up ? aside : live, up ? live : aside);
  while ((await isUp()) !== up) await sleep(500);
}

const isUp = () =>
  kubectl(['get', '--raw', '/readyz', '--request-timeout=2s']).then(
    () => true,
    () => false,
  );
