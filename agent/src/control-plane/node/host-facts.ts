import { readdir, readFile } from 'node:fs/promises';
import type { Host } from '../../backup/catalog/manifest.ts';
import { AgentError, messageOf, usageError } from '../../lib/errors.ts';
import type { Finding } from '../../lib/finding.ts';
import type { Log } from '../../lib/log.ts';
import { readStaticPod } from './static-pod.ts';

/** Where to find the settings of the etcd on this machine. */
export interface HostRequest {
  readonly nodeName?: string;
  /** Manifest of etcd's static Pod. */
  readonly etcdManifest?: string;
  /** Search the running processes, which must all be visible. */
  readonly etcdProcess: boolean;
}

/**
 * Collects the facts about this machine for the snapshot's manifest. They help people during a restore, so missing facts do
 * not fail the snapshot.
 */
export async function hostFacts(
  { nodeName, etcdManifest, etcdProcess }: HostRequest,
  log: Log,
  proc = '/proc',
): Promise<Host | undefined> {
  const find = async (): Promise<Host['etcd']> => {
    if (etcdManifest) return staticPod(etcdManifest);
    return etcdProcess ? process(proc) : undefined;
  };
  const etcd = await find().catch((error) => {
    const finding = error instanceof AgentError ? error.finding : undefined;
    log.warn({ finding }, `the manifest will not contain the settings of this machine's etcd: ${messageOf(error)}`);
    return undefined;
  });
  return nodeName || etcd ? { nodeName, etcd } : undefined;
}

async function staticPod(file: string): Promise<Host['etcd']> {
  const { image, program, args } = await readStaticPod(file, 'etcd');
  return { from: 'static-pod', image, command: [program, ...args] };
}

async function process(proc: string): Promise<Host['etcd']> {
  const ids = (await readdir(proc)).filter((name) => /^\d+$/.test(name));
  const found: { id: string; parent: number; command: string[] }[] = [];
  for (const id of ids) {
    // The process may have ended meanwhile.
    const stat = await readFile(`${proc}/${id}/stat`, 'utf8').catch(() => '');
    const [, parent] = /^\d+ \(etcd\) \S (\d+) /.exec(stat) ?? [];
    if (parent === undefined) continue;
    const command = (await readFile(`${proc}/${id}/cmdline`, 'utf8').catch(() => '')).split('\0').slice(0, -1);
    if (command.length > 0) found.push({ id, parent: Number(parent), command });
  }
  // Only a service is a child of init; the etcd of a pod is not.
  const services = found.filter(({ parent }) => parent === 1);
  const candidates = services.length > 0 ? services : found;
  const [etcd, ...others] = candidates;
  const finding: Finding = { kind: 'etcdProcess', isMissing: !etcd };
  if (!etcd) throw usageError('no process is named etcd', { finding });
  if (others.length > 0) {
    const ids = candidates.map(({ id }) => id).join(', ');
    throw usageError(`several processes are named etcd (pids ${ids})`, { finding });
  }
  return { from: 'process', command: etcd.command };
}
