import { oneLine } from '../../lib/errors.ts';
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
  /** The newest record seen, however long ago. */
  readonly record?: RecordDoc;
}

/** Returns why the data of a volume must not be served, or undefined if they may. */
export function notServed({ record, minEpoch, identity }: ServedData): Readiness | undefined {
  const { epoch, mode, memberId } = identity;
  const oldest = Math.max(minEpoch, record?.minEpoch ?? 0, record?.epoch ?? 0);
  if (epoch < oldest) return no(`the data belong to epoch ${epoch}, but the cluster is at epoch ${oldest}`);
  if (record?.tombstones.some((tombstone) => tombstone.memberId === memberId))
    return no(`member ${memberId} was removed from the cluster`);
  // Only the seed waits for this: the other members join a cluster that the reconciler has already seen serve.
  const isSeed = mode === 'new' || mode === 'restore';
  const isSeeded = record !== undefined && record.epoch === epoch && record.seeded;
  return isSeed && !isSeeded ? no('waiting for the reconciler to see the first member of this epoch serve') : undefined;
}

export interface EtcdAnswers {
  readonly etcdVersion: string;
  /** Without a quorum etcd answers after seconds. No answer in time means not ready. */
  readonly readyz?: HttpAnswer;
  /** Only needed for versions whose /readyz does not fail for a learner. */
  readonly metrics?: EtcdMetrics;
}

/** Checks that etcd itself is ready, as a voter. */
export function etcdReadiness({ etcdVersion, readyz, metrics }: EtcdAnswers): Readiness {
  if (!readyz) return no('etcd does not answer /readyz');
  if (readyzFailsForLearner(etcdVersion)) return readyz.status === 200 ? yes : no(unready(readyz));
  // Releases before 3.4.29 have no /readyz.
  if (readyz.status !== 200 && readyz.status !== 404) return no(unready(readyz));
  if (!metrics) return no('etcd does not answer /metrics');
  if (metrics.isLearner) return no('etcd is still a learner');
  return metrics.hasLeader ? yes : no('etcd has no leader');
}

const unready = ({ body }: HttpAnswer): string => `etcd is not ready: ${oneLine(body, '; ').slice(0, 500)}`;

/** Since 3.5.19 etcd's /readyz fails for a learner. */
export const readyzFailsForLearner = (version: string): boolean => compareVersions(version, '3.5.19') >= 0;
