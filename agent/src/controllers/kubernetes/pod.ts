import { epochAnnotation } from '../../../../src/etcd/annotations.ts';
import type { ContainerStatus, KubeObject, PodObject } from '../../kube/objects.ts';
import { group } from '../../kube/paths.ts';
import { type Known, unknown } from '../../protocol/known.ts';
import { peersOf } from '../objects/stateful-set.ts';
import type { Claim, Pod } from '../port/observed.ts';

const revisionLabel = 'controller-revision-hash';
export const clusterUidAnnotation = `${group}/cluster-uid`;
/** Set by the scheduler for a storage class that waits for the first consumer. */
const selectedNodeAnnotation = 'volume.kubernetes.io/selected-node';

/** Returns the ordinal in a name: 2 for orders-2. Undefined for other names. */
export function ordinalOf(name: string, prefix: string): number | undefined {
  const rest = name.startsWith(`${prefix}-`) ? name.slice(prefix.length + 1) : '';
  return /^(0|[1-9]\d{0,3})$/.test(rest) ? Number(rest) : undefined;
}

export function podOf(pod: PodObject, ordinal: number, resolves: Known<boolean>): Pod {
  const { metadata, spec, status } = pod;
  const peers = peersOf(spec?.volumes, metadata.annotations);
  return {
    ordinal,
    uid: metadata.uid,
    revision: metadata.labels?.[revisionLabel] ?? '',
    running: addressOf(pod) !== undefined && hasBegun(pod),
    began: hasEverBegun(pod),
    ready: status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false,
    deleting: metadata.deletionTimestamp !== undefined,
    resolves,
    node: spec?.nodeName,
    peers,
    unschedulable: isUnschedulable(pod) ? true : undefined,
  };
}

const isUnschedulable = ({ status }: PodObject): boolean =>
  status?.conditions?.some(({ type, reason }) => type === 'PodScheduled' && reason === 'Unschedulable') ?? false;

/** IP address of a pod that has not ended. */
export function addressOf({ status }: PodObject): string | undefined {
  const ended = status?.phase === 'Succeeded' || status?.phase === 'Failed';
  return ended ? undefined : status?.podIP || undefined;
}

/** The containers that use the data. Others, which the user adds, may run before them. */
const ours = ({ name }: ContainerStatus): boolean => ['gate', 'agent', 'etcd'].includes(name);

const hasBegun = ({ status }: PodObject): boolean =>
  status?.initContainerStatuses?.filter(ours).some(({ state }) => state?.running ?? state?.terminated) ?? false;

/** Returns true if a container of ours has ever started, even if the node was restarted since and its containers are waiting again. */
const hasEverBegun = ({ status }: PodObject): boolean =>
  [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])]
    .filter(ours)
    .some(
      ({ state, lastState, restartCount = 0 }) =>
        (state?.running ?? state?.terminated ?? lastState?.terminated) !== undefined || restartCount > 0,
    );

export const noAddress: Known<boolean> = unknown('the pod has no address yet');

export interface VolumeClaim extends KubeObject {
  readonly spec?: { readonly resources?: { readonly requests?: { readonly storage?: string } } };
}

export function claimOf({ metadata, spec }: VolumeClaim, ordinal: number): Claim {
  const { uid, resourceVersion, deletionTimestamp, annotations } = metadata;
  const clusterUid = annotations?.[clusterUidAnnotation];
  const node = annotations?.[selectedNodeAnnotation];
  const epoch = Number(annotations?.[epochAnnotation] ?? Number.NaN);
  const size = spec?.resources?.requests?.storage;
  return {
    ...{ ordinal, uid, rv: resourceVersion },
    deleting: deletionTimestamp !== undefined,
    clusterUid: clusterUid || undefined,
    epoch: Number.isSafeInteger(epoch) ? epoch : undefined,
    node,
    size,
  };
}

export const claimAnnotations = (clusterUid: string, epoch: number): Record<string, string> => ({
  [clusterUidAnnotation]: clusterUid,
  [epochAnnotation]: `${epoch}`,
});
