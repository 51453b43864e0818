import type { EtcdClusterSpec } from '../../../../../src/resource/types.ts';
import { type NamedTls, withDefaultNames } from '../../../../../src/tls/default-names.ts';
import type { KubeObject } from '../../../kube/objects.ts';
import { group } from '../../../kube/paths.ts';
import { tryDuration } from '../../../lib/input/duration.ts';
import type { ClusterStatus } from '../../../protocol/cluster-status.ts';
import { jobSettings } from '../jobs/job-settings.ts';
import type { Cluster, ClusterSpec, OriginRequest, ReplaceRequest } from '../observed.ts';

type ReturnedSpec = EtcdClusterSpec & Required<Pick<EtcdClusterSpec, 'size'>>;

/** An EtcdCluster as the API server returns it. The CRD fills in the defaults. */
export interface ReturnedCluster extends KubeObject {
  readonly spec: ReturnedSpec;
  readonly status?: Partial<ClusterStatus>;
}

/** An EtcdCluster with the names of Secrets that its resource leaves out. */
export interface EtcdClusterObject extends ReturnedCluster {
  readonly spec: Omit<ReturnedSpec, 'tls'> & { readonly tls?: NamedTls };
}

export const readCluster = ({ spec: { tls, ...spec }, ...cluster }: ReturnedCluster): EtcdClusterObject => ({
  ...cluster,
  spec: { ...spec, ...(tls && { tls: withDefaultNames(cluster.metadata.name, tls) }) },
});

export const finalizer = `${group}/cluster`;
const skipFinalBackup = `${group}/skip-final-backup`;

export interface ClusterFacts {
  /** DNS domain of the Kubernetes cluster. */
  readonly domain?: string;
  readonly reconcilerGoing: boolean;
}

export function clusterOf({ metadata, spec, status }: EtcdClusterObject, facts: ClusterFacts): Cluster {
  const { name, namespace = '', uid, resourceVersion, generation } = metadata;
  return {
    ...{ name, namespace, uid, rv: resourceVersion, ...facts },
    ...(generation !== undefined && { generation }),
    deleting: metadata.deletionTimestamp !== undefined,
    finalizer: metadata.finalizers?.includes(finalizer) ?? false,
    skipFinalBackup: metadata.annotations?.[skipFinalBackup] === 'true',
    spec: specOf(spec),
    status: status ?? {},
  };
}

function specOf(spec: EtcdClusterObject['spec']): ClusterSpec {
  const { size, version, origin, recovery, backup, pvcPolicy, storage } = spec;
  const schedule = backup?.schedule ?? backup?.schedules?.[0]?.name;
  const onDelete = pvcPolicy?.onDelete ?? 'Retain';
  const { defragment, moveLeader } = spec.maintenance ?? {};
  const acceptPlaintextFor = tryDuration(spec.tls?.acceptPlaintextFor ?? '');
  return {
    ...{ size, version, onDelete },
    allowEvenSize: spec.allowEvenSize ?? false,
    paused: spec.paused ?? false,
    tls: spec.tls !== undefined,
    ...(spec.tls?.disabling && { disablingTls: true }),
    ...(acceptPlaintextFor !== undefined && { acceptPlaintextFor }),
    ...(spec.tls?.rootSecret !== undefined && { rootTls: true }),
    ...(spec.auth !== undefined && { auth: spec.auth }),
    ...(spec.tls?.managed && {
      tlsSecrets: { peer: spec.tls.peerSecret, server: spec.tls.serverSecret },
    }),
    ...(spec.tls?.alsoTrust && { alsoTrusts: [spec.tls.peerSecret, spec.tls.alsoTrust.peerSecret] }),
    ephemeral: storage?.ephemeral ?? false,
    ...(storage?.size !== undefined && { volumeSize: storage.size }),
    replace: { policy: spec.replace?.policy ?? 'OnVolumeLoss', force: (spec.replace?.force ?? []).map(replaceOf) },
    ...(origin && { origin: originOf(origin) }),
    ...(recovery && { recovery }),
    onShrink: pvcPolicy?.onShrink ?? 'Retain',
    ...(schedule !== undefined && { schedule }),
    requiredForUpgrade: backup?.requiredForUpgrade ?? false,
    finalBackupRequired: spec.finalBackup?.required ?? onDelete === 'Delete',
    onNoSpace: spec.maintenance?.onNoSpace ?? 'CompactDefragDisarm',
    ...((defragment ?? moveLeader) && {
      maintenance: { ...(defragment && { defragment }), ...(moveLeader && { moveLeader }) },
    }),
  };
}

type Replacement = NonNullable<NonNullable<EtcdClusterSpec['replace']>['force']>[number];

const replaceOf = ({ ordinal, memberId, discardVolume = false }: Replacement): ReplaceRequest => ({
  ordinal,
  memberId,
  discardVolume,
});

function originOf({
  source,
  serviceAccountName,
  image,
  resources,
  ...origin
}: NonNullable<EtcdClusterSpec['origin']>): OriginRequest {
  return { ...origin, source: jobSettings.put(source, { serviceAccountName, image, resources }) };
}
