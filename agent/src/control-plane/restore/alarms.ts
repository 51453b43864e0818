import { alarms, defragment, disarm, type RaisedAlarm } from '../../etcd/alarms.ts';
import type { GrpcChannel } from '../../etcd/grpc.ts';
import { status } from '../../etcd/maintenance.ts';
import { AgentError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { quotaOf } from '../node/member-flags.ts';
import type { EtcdNode } from '../node/node.ts';
import { etcdOf } from '../node/processes.ts';
import { reachable } from '../state/health.ts';
import { withChannel } from '../state/live-revisions.ts';
import { isFull } from './free-space.ts';
import type { Prepared } from './prepare.ts';

const LIMIT = 5_000;
/** etcd answers nothing else while it defragments: some seconds for each GiB. */
const DEFRAGMENT_LIMIT = 600_000;

type Node = Pick<EtcdNode, 'member' | 'dataDir'>;

/**
 * Clears the alarms that the restored etcd has from its snapshot: with them it refuses what the API server needs. Returns why an
 * alarm is left. A CORRUPT alarm that is not the snapshot's stays: the members have become different since.
 */
export async function clearAlarms(
  node: Node,
  { noSpaceAlarm = false, corruptAlarm = false }: Pick<Prepared, 'noSpaceAlarm' | 'corruptAlarm'>,
  log: Log,
): Promise<string | undefined> {
  const { listenClientUrls, clientTls } = node.member;
  const url = urlOf(listenClientUrls);
  if (url === undefined) return undefined;
  try {
    return await withChannel(url, clientTls, async (channel) => {
      const raised = await alarms(channel, { deadline: LIMIT });
      const isFull = raised.some(({ type }) => type === 'NoSpace');
      const full = noSpaceAlarm || isFull ? await freeSpace(channel, node) : undefined;
      if (full !== undefined) return full;
      for (const each of raised) {
        if (each.type === 'Corrupt' && !corruptAlarm)
          return 'etcd has the alarm CORRUPT: its members hold different data';
        await disarm(channel, each, { deadline: LIMIT });
        log.warn(`cleared the alarm ${nameOf(each)} of the member ${each.memberId}, which came with the snapshot`);
      }
      return raised.length === 0 ? undefined : `the alarm ${nameOf(raised[0]!)} was just cleared`;
    });
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    return `the alarms of etcd cannot be listed or cleared: ${error.message}`;
  }
}

const nameOf = ({ type }: RaisedAlarm): string => type.toUpperCase();

/**
 * Makes room in a database above the quota, also without the alarm: the next write would raise it. Returns why there is too little
 * room. An etcd that does not show its size, or before 3.6 its quota, is not held up.
 */
export async function makeRoom(node: Node): Promise<string | undefined> {
  const { listenClientUrls, clientTls } = node.member;
  const url = urlOf(listenClientUrls);
  if (url === undefined) return undefined;
  try {
    return await withChannel(url, clientTls, async (channel) => {
      const { dbSize, dbSizeQuota } = await status(channel, { deadline: LIMIT });
      if (!isFull(dbSize, dbSizeQuota ?? (await quotaNow(node)))) return undefined;
      const full = await freeSpace(channel, node);
      return dbSizeQuota === undefined ? undefined : full;
    });
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    return undefined;
  }
}

/** Gives back what the compaction of the restore has freed. Each node does that for its own member. */
async function freeSpace(channel: GrpcChannel, node: Node): Promise<string | undefined> {
  const { dbSize, dbSizeInUse, dbSizeQuota = await quotaNow(node) } = await status(channel, { deadline: LIMIT });
  if (!isFull(dbSizeInUse, dbSize)) await defragment(channel, { deadline: DEFRAGMENT_LIMIT });
  if (isFull(dbSizeInUse, dbSizeQuota)) {
    return `etcd refuses writes (NOSPACE), because its data take ${dbSizeInUse} of the ${dbSizeQuota} bytes that --quota-backend-bytes allows: allow more in the flags of etcd, on every node`;
  }
  return undefined;
}

/** The quota with which etcd runs now, which may be another than when the restore began. etcd before 3.6 does not show it. */
export async function quotaNow(node: Node, proc = '/proc'): Promise<number | undefined> {
  const process = await etcdOf(node, proc);
  return process && process.unread === undefined ? quotaOf(process.flags['quota-backend-bytes']) : undefined;
}

const urlOf = (urls: readonly string[]): string | undefined =>
  urls.filter((each) => /^https?:/.test(each)).map(reachable)[0];
