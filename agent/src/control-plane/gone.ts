import { isInUse } from '../etcd/data-dir.ts';
import type { EtcdNode } from './node.ts';
import { apiServersOf, etcdProcesses } from './processes.ts';

/** What still runs of etcd on this node; undefined: nothing. The lock on its files counts, and what /proc shows. */
export async function etcdLeft({ member, dataDir }: Pick<EtcdNode, 'member' | 'dataDir'>): Promise<string | undefined> {
  const own = new Set([member.dataDir, dataDir]);
  const process = (await etcdProcesses()).find(({ flags }) => own.has(flags['data-dir'] ?? ''));
  if (process) return `etcd (pid ${process.pid}) still runs on ${member.dataDir}`;
  if (await isInUse(member.dataDir)) return `a process still holds the lock on the database in ${member.dataDir}`;
  return undefined;
}

/** The API server first: it is what a client still talks to. */
export async function left(node: EtcdNode): Promise<string | undefined> {
  const [server] = await apiServersOf(node.member);
  return server ? `kube-apiserver (pid ${server.pid}) still runs` : etcdLeft(node);
}
