import { connect } from 'node:net';
import { isInUse } from '../../etcd/offline/data-dir.ts';
import { messageOf } from '../../lib/errors.ts';
import type { EtcdNode } from '../node/node.ts';
import { apiServersOf, etcdOf } from '../node/processes.ts';
import { reachable } from './health.ts';

/** Describes what still runs of etcd on this node, or returns undefined. Checks the processes, the lock on the database and the ports. */
export async function etcdStillRunning(node: Pick<EtcdNode, 'member' | 'dataDir'>): Promise<string | undefined> {
  const { member } = node;
  const process = await etcdOf(node);
  if (process) return `etcd (pid ${process.pid}) still runs on ${member.dataDir}`;
  const isHeld = await isInUse(member.dataDir, member.walDir).catch(messageOf);
  if (typeof isHeld === 'string') return isHeld;
  if (isHeld) return `a process still holds the lock on the database in ${member.dataDir}`;
  // Finds an etcd that runs on a data directory other than the expected one.
  for (const url of [...member.listenClientUrls, ...member.listenPeerUrls]) {
    if (await isTaken(url)) return `a process still listens at ${url}, which etcd needs`;
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

/** Describes what still runs of the control plane. The API server comes first, because clients still talk to it. */
export async function stillRunning(node: EtcdNode): Promise<string | undefined> {
  return (await apiServerStillRunning(node)) ?? etcdStillRunning(node);
}

export async function apiServerStillRunning({ member }: Pick<EtcdNode, 'member'>): Promise<string | undefined> {
  const [server] = await apiServersOf(member);
  return server && `kube-apiserver (pid ${server.pid}) still runs`;
}
