import { connect } from 'node:net';
import { isInUse } from '../../etcd/offline/data-dir.ts';
import type { EtcdNode } from '../node/node.ts';
import { apiServersOf, etcdProcesses } from '../node/processes.ts';
import { reachable } from './health.ts';

/** What still runs of etcd on this node; undefined: nothing. The lock on its files counts, its ports, and what /proc shows. */
export async function etcdLeft({ member, dataDir }: Pick<EtcdNode, 'member' | 'dataDir'>): Promise<string | undefined> {
  const own = new Set([member.dataDir, dataDir]);
  const process = (await etcdProcesses()).find(({ flags }) => own.has(flags['data-dir'] ?? ''));
  if (process) return `etcd (pid ${process.pid}) still runs on ${member.dataDir}`;
  if (await isInUse(member.dataDir, member.walDir)) {
    return `a process still holds the lock on the database in ${member.dataDir}`;
  }
  // An etcd on other data than its flags are thought to say.
  for (const url of [...member.listenClientUrls, ...member.listenPeerUrls]) {
    if (await isTaken(url)) return `something still listens at ${url}, where etcd is to listen`;
  }
  return undefined;
}

const LIMIT = 1_000;

async function isTaken(url: string): Promise<boolean> {
  const { hostname, port } = URL.parse(reachable(url)) ?? {};
  if (!hostname || !port) return false;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect({ host: hostname.replaceAll(/[[\]]/g, ''), port: Number(port), timeout: LIMIT });
  socket.once('connect', () => resolve(true));
  for (const event of ['error', 'timeout'] as const) socket.once(event, () => resolve(false));
  return promise.finally(() => socket.destroy());
}

/** The API server first: it is what a client still talks to. */
export async function left(node: EtcdNode): Promise<string | undefined> {
  const [server] = await apiServersOf(node.member);
  return server ? `kube-apiserver (pid ${server.pid}) still runs` : etcdLeft(node);
}
