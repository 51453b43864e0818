import type { Identity } from '../../protocol/agent-status.ts';
import type { RecordDoc } from '../../protocol/record.ts';
import { compareVersions } from '../../protocol/versions.ts';
import type { Readiness } from '../status-server.ts';
import type { EtcdMetrics } from './etcd-metrics.ts';
import type { HttpAnswer } from './etcd-probe.ts';

const yes: Readiness = { ready: true, why: 'ok' };
const no = (why: string): Readiness => ({ ready: false, why });

export interface ServedData {
  readonly minEpoch: number;
  readonly identity: Identity;
  /** The newest record seen, be it long ago. */
  readonly record?: RecordDoc;
}

/** Whether the data of a volume may be served; undefined when nothing speaks against it. */
export function notServed({ record, minEpoch, identity }: ServedData): Readiness | undefined {
  const { epoch, mode, memberId } = identity;
  const oldest = Math.max(minEpoch, record?.minEpoch ?? 0, record?.epoch ?? 0);
  if (epoch < oldest) return no(`the data are of epoch ${epoch}, and the cluster is at ${oldest}`);
  if (record?.tombstones.some((tombstone) => tombstone.memberId === memberId))
    return no(`member ${memberId} was removed from the cluster`);
  // Others join what the reconciler has seen serve; the seed is what it has yet to see.
  const isSeed = mode === 'new' || mode === 'restore';
  const isSeeded = record !== undefined && record.epoch === epoch && record.seeded;
  return isSeed && !isSeeded ? no('the reconciler has not yet seen this first member of the epoch serve') : undefined;
}

export interface EtcdAnswers {
  readonly etcdVersion: string;
  /** Without a quorum it takes seconds: none in time is a no. */
  readonly readyz?: HttpAnswer;
  /** Counts only where /readyz does not tell learners. */
  readonly metrics?: EtcdMetrics;
}

/** Whether etcd itself is ready, as a voter. */
export function etcdReadiness({ etcdVersion, readyz, metrics }: EtcdAnswers): Readiness {
  if (!readyz) return no('etcd gives no answer to /readyz');
  if (tellsLearners(etcdVersion)) return readyz.status === 200 ? yes : no(`etcd is not ready: ${oneLine(readyz.body)}`);
  // Releases before 3.4.29 have none.
  if (readyz.status !== 200 && readyz.status !== 404) return no(`etcd is not ready: ${oneLine(readyz.body)}`);
  if (!metrics) return no('etcd gives no answer to /metrics');
  if (metrics.isLearner) return no('etcd is still a learner');
  return metrics.hasLeader ? yes : no('etcd sees no leader');
}

/** From here on etcd's /readyz fails for a learner. */
export const tellsLearners = (version: string): boolean => compareVersions(version, '3.5.19') >= 0;

const oneLine = (body: string): string =>
  body
    .trim()
    .replaceAll(/\s*\n\s*/g, '; ')
    .slice(0, 500);
