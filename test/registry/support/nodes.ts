import { readFileSync } from 'node:fs';
import { onNode } from '../../control-plane/nodes';

const folder = '/run/cdk8s-etcd-registry';

/**
 * Lets containerd on a node trust an authority until `distrust`: a copy of the node's certificates with this one lies over them.
 * containerd reads them when it first needs them, and then never again until it restarts.
 */
export async function trust(node: string, ca: string): Promise<void> {
  await distrust(node);
  const certificate = readFileSync(ca).toString('base64');
  await onNode(
    node,
    `cp -a /etc/ssl/certs ${folder}`,
    `echo ${certificate} | base64 -d >${folder}/cdk8s-etcd-registry.pem`,
    `cat ${folder}/cdk8s-etcd-registry.pem >>${folder}/ca-certificates.crt`,
    `mount --bind ${folder} /etc/ssl/certs`,
  );
}

export async function distrust(node: string): Promise<void> {
  await onNode(node, `if [ -e ${folder} ]; then umount /etc/ssl/certs || true; rm -rf ${folder}; fi`);
}

/** Deletes an image from a node, under each of its names. */
export async function forget(node: string, digest: string): Promise<void> {
  const names = `ctr -n k8s.io images ls | awk '$3 == "${digest}" { print $1 }'`;
  await onNode(node, `${names} | xargs --no-run-if-empty ctr -n k8s.io images rm --sync`);
}

/** Whether a node has the image, or what is left of it. */
export async function has(node: string, digest: string): Promise<boolean> {
  const { stdout } = await onNode(node, `ctr -n k8s.io content ls -q | grep -cFx ${digest} || true`);
  return stdout.trim() !== '0';
}
