import { unlessMissing } from '../../kube/api-error.ts';
import type { EventObject, LeaseObject, PodObject, StatefulSetObject } from '../../kube/objects.ts';
import {
  type BackupObject,
  byAge,
  type ClaimObject,
  type ClusterObject,
  type RestoreObject,
  type UserObject,
} from '../objects.ts';
import type { Session } from '../session.ts';

/** What the API server says about a cluster. Undefined or empty: it does not exist, or the user may not read it. */
export interface StatusFacts {
  readonly cluster: ClusterObject;
  readonly pods: readonly PodObject[] | undefined;
  readonly claims: readonly ClaimObject[];
  readonly statefulSet: StatefulSetObject | undefined;
  readonly lease: LeaseObject | undefined;
  readonly backups: readonly BackupObject[] | undefined;
  readonly restores: readonly RestoreObject[];
  readonly users: readonly UserObject[] | undefined;
  readonly warnings: readonly EventWarning[];
}

export interface EventWarning extends EventObject {
  readonly involvedObject?: { readonly kind?: string; readonly name?: string };
  readonly count?: number;
}

export const memberLabels = (cluster: string): string =>
  `app.kubernetes.io/name=etcd,app.kubernetes.io/instance=${cluster},app.kubernetes.io/component=member`;

/** The name of the Lease that its reconciler holds. A reconciler that has reported nothing has the usual name. */
export const leaseNameOf = ({ status }: ClusterObject): string => status?.reconciler?.lease ?? 'etcd-reconciler';

/** In place of a Lease that is missing. A reconciler that has reported, and runs, would create it again within seconds. */
export const missingLease = ({ status }: ClusterObject): LeaseObject | undefined =>
  status?.reconciler?.lease === undefined
    ? undefined
    : { metadata: { name: status.reconciler.lease, uid: '', resourceVersion: '', creationTimestamp: '' } };

/** The Lease that the reconciler of a cluster renews. Undefined: it cannot be read, or no reconciler has reported. */
export const readLease = (session: Session, cluster: ClusterObject): Promise<LeaseObject | undefined> => {
  const read = session.client.get<LeaseObject>(session.paths.of('leases', leaseNameOf(cluster)));
  return session.attempt(
    'leases',
    read.catch((error) => unlessMissing(error) ?? missingLease(cluster)),
  );
};

/** Reads everything at once. What cannot be read is left out. */
export async function readFacts(session: Session, cluster: ClusterObject): Promise<StatusFacts> {
  const { client, paths } = session;
  const { name } = cluster.metadata;
  const selected = { labelSelector: memberLabels(name) };
  const isOfCluster = (object: { readonly spec: { readonly clusterName?: string } }): boolean =>
    object.spec.clusterName === name;
  const list = async <T extends BackupObject | RestoreObject | UserObject>(
    resource: 'etcdbackups' | 'etcdrestores' | 'etcdusers',
  ): Promise<T[] | undefined> => {
    const found = await session.attempt(resource, client.list<T>(paths.of(resource)));
    return found?.items.filter(isOfCluster).sort(byAge);
  };
  const [pods, claims, statefulSet, lease, backups, restores, users, events] = await Promise.all([
    session.attempt('pods', client.list<PodObject>(paths.of('pods'), selected)),
    session.attempt('persistentvolumeclaims', client.list<ClaimObject>(paths.of('persistentvolumeclaims'), selected)),
    session.attempt('statefulsets', client.get<StatefulSetObject>(paths.of('statefulsets', name))),
    readLease(session, cluster),
    list<BackupObject>('etcdbackups'),
    list<RestoreObject>('etcdrestores'),
    list<UserObject>('etcdusers'),
    session.attempt('events', client.list<EventWarning>(paths.of('events'), { fieldSelector: 'type=Warning' })),
  ]);
  return {
    cluster,
    pods: pods?.items,
    claims: claims?.items ?? [],
    statefulSet,
    lease,
    backups,
    restores: restores ?? [],
    users,
    warnings: events?.items ?? [],
  };
}
