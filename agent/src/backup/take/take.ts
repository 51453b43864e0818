import type { EtcdAccess, EtcdMemberEntry } from '../../etcd/etcd-member.ts';
import type { BackupOutcome, Origin, RunContext, StoreRequest } from './request.ts';
import { observeCluster } from './source/observe-cluster.ts';
import { type SelectedMember, selectSource, survivorSource } from './source/select-source.ts';
import { storeSnapshot } from './store-snapshot.ts';

export interface BackupRequest extends StoreRequest {
  readonly access: EtcdAccess;
  /** Endpoint of one member whose data are saved without quorum and without a comparison. */
  readonly survivor?: string;
  /** Milliseconds without a new byte after which the snapshot stream is aborted. */
  readonly idleTimeout: number;
}

/** Takes one snapshot and stores it in every target. Throws if no target has it in the end. */
export const takeBackup = (request: BackupRequest, context: RunContext): Promise<BackupOutcome> =>
  storeSnapshot(request, context, (use) => withMember(request, context, use));

/** Selects the member to take the snapshot from and keeps its connection open during `use`. */
async function withMember<T>(
  { access, survivor, idleTimeout }: BackupRequest,
  context: RunContext,
  use: (origin: Origin) => Promise<T>,
): Promise<T> {
  context.progress.phase('connect', 'reading the status of the members');
  using observed = survivor ? undefined : await observeCluster(access, context.log, context.signal);
  // Report the size before the members are compared: HashKV reads the whole database, which takes time.
  if (observed) context.onSize?.(Math.max(...observed.members.map(({ status }) => status.dbSize)));
  const source = observed
    ? await selectSource(observed, context)
    : await survivorSource(survivor ?? '', access, context);
  const { member, status } = source.reached;
  try {
    context.onSize?.(status.dbSize);
    return await use({
      source: describe(source),
      members: observed?.listed?.map(describeMember),
      hashKV: source.hashKV,
      comparison: source.comparison,
      revision: source.hashKV?.revision ?? status.revision,
      open: () => member.snapshot(idleTimeout, context.signal),
    });
  } finally {
    member.close();
  }
}

function describe({ reached: { endpoint, status }, role, alarms, suspect }: SelectedMember): Origin['source'] {
  const { clusterId, memberId, version, dbSize, dbSizeInUse } = status;
  return {
    clusterId,
    memberId,
    endpoint,
    role,
    version,
    alarms: [...alarms],
    dbSize,
    dbSizeInUse,
    ...(suspect.length > 0 && { suspect: [...suspect] }),
  };
}

function describeMember({
  id,
  name,
  peerUrls,
  clientUrls,
  isLearner,
}: EtcdMemberEntry): NonNullable<Origin['members']>[number] {
  return { id, name, peerUrls: [...peerUrls], clientUrls: [...clientUrls], ...(isLearner && { isLearner }) };
}
