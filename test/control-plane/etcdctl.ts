import { kubectl } from '../e2e/support/kubectl';
import type { Manifest } from '../synth';

const pki = '/etc/kubernetes/pki/etcd';
const files = [`--cacert=${pki}/ca.crt`, `--cert=${pki}/server.crt`, `--key=${pki}/server.key`];

/** Asks all members, by the one in a node's static Pod. */
async function etcdctl(node: string, ...args: readonly string[]): Promise<Manifest> {
  const exec = ['exec', '--namespace=kube-system', `etcd-${node}`, '--', 'etcdctl', ...files, '-w', 'json', ...args];
  return JSON.parse((await kubectl(exec)).stdout);
}

/** Names of the voters. */
export async function voters(node: string): Promise<string[]> {
  const { members } = await etcdctl(node, 'member', 'list');
  return members
    .filter(({ isLearner }: Manifest) => !isLearner)
    .map(({ name }: Manifest) => name)
    .sort();
}

/** Cluster id and HashKV of every member at one revision. */
export async function hashes(node: string): Promise<string[]> {
  const { header } = await etcdctl(node, 'get', 'none');
  const found = await etcdctl(node, 'endpoint', 'hashkv', '--cluster', `--rev=${header.revision}`);
  return found.map(({ HashKV: { header, hash } }: Manifest) => `${header.cluster_id}/${hash}`);
}

export async function revision(node: string): Promise<number> {
  return (await etcdctl(node, 'get', 'none')).header.revision;
}
