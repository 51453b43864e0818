import { setTimeout as sleep } from 'node:timers/promises';
import { kubectl } from '../e2e/support/kubectl';
import { onNode } from './nodes';

/** What the agent asks for over such a disk: its log does not say of which cluster it is. */
export const overLostDisk = { flags: ['--force-foreign'], lines: ['forceForeign: true'] };

/** A number for another restore of the same snapshot, beyond those before. */
export const nextBump = (): number => Date.now() * 1000;

/**
 * Destroys etcd's data, and kills etcd and the API server. A torn log is left, as of a broken disk: over an empty directory
 * kubeadm's first member would begin a new and empty cluster, for which the kubelets stop every pod.
 */
export async function loseDisk(node: string): Promise<void> {
  await onNode(
    node,
    'rm -rf /var/lib/etcd/*',
    'install -d -m 0700 /var/lib/etcd/member /var/lib/etcd/member/wal',
    'head -c 100000 /dev/urandom > /var/lib/etcd/member/wal/0000000000000000-0000000000000000.wal',
    killed,
  );
}

export const killed = 'for name in etcd kube-apiserver; do kill -9 $(pidof $name) || true; done';

export const isServed = (): Promise<boolean> =>
  kubectl(['get', '--raw', '/readyz', '--request-timeout=2s']).then(
    () => true,
    () => false,
  );

/** Asks until the API server has been gone for a while. */
export async function untilDead(): Promise<void> {
  for (let quiet = 0; quiet < 3; ) {
    quiet = (await isServed()) ? 0 : quiet + 1;
    await sleep(500);
  }
}
