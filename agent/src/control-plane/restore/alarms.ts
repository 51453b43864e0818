import { alarms, defragment, disarm, type RaisedAlarm } from '../../etcd/alarms.ts';
import type { GrpcChannel } from '../../etcd/grpc.ts';
import { status } from '../../etcd/maintenance.ts';
import { AgentError } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { MemberFlags } from '../node/member-flags.ts';
import { reachable } from '../state/health.ts';
import { withChannel } from '../state/live-revisions.ts';
import type { Prepared } from './prepare.ts';

const LIMIT = 5_000;
/** etcd answers nothing else while it defragments: some seconds for each GiB. */
const DEFRAGMENT_LIMIT = 600_000;
/** With a smaller share of the file in use, a defragmentation is worth its time. */
const FRAGMENTED = 0.95;

/**
 * Clears the alarms that the restored etcd has from its snapshot: with them it refuses what the API server needs. Returns why an
 * alarm is left. A CORRUPT alarm that is not the snapshot's stays: the members have become different since.
 */
export async function clearAlarms(
  { listenClientUrls, clientTls }: Pick<MemberFlags, 'listenClientUrls' | 'clientTls'>,
  { noSpaceAlarm = false, corruptAlarm = false }: Pick<Prepared, 'noSpaceAlarm' | 'corruptAlarm'>,
  log: Log,
): Promise<string | undefined> {
  const [url] = listenClientUrls.filter((each) => /^https?:/.test(each)).map(reachable);
  if (url === undefined) return undefined;
  try {
    return await withChannel(url, clientTls, async (channel) => {
      const raised = await alarms(channel, { deadline: LIMIT });
      if (noSpaceAlarm || raised.some(({ type }) => type === 'NoSpace')) await freeSpace(channel);
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

/** Gives back what the compaction of the restore has freed. Each node does that for its own member. */
async function freeSpace(channel: GrpcChannel): Promise<void> {
  const { dbSize, dbSizeInUse } = await status(channel, { deadline: LIMIT });
  if (dbSizeInUse < FRAGMENTED * dbSize) await defragment(channel, { deadline: DEFRAGMENT_LIMIT });
}
