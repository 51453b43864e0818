import type { BackupPodResources, BackupPodStore } from '../../../../../src/lib/backup-pod.ts';
import type { KubeObject } from '../../../kube/objects.ts';
import { group } from '../../../kube/paths.ts';
import { tryDuration } from '../../../lib/input/duration.ts';
import type { ClusterStatus } from '../../../protocol/cluster-status.ts';
import type { TlsSpec } from '../../certificates/wanted.ts';
import { type JobSettings, jobSettings } from '../jobs/job-settings.ts';
import type {
  Cluster,
  ClusterSpec,
  MaintenanceRequest,
  OriginRequest,
  RecoveryRequest,
  ReplaceRequest,
} from '../observed.ts';

/** An EtcdCluster as the API server returns it. The CRD fills in the defaults. */
export interface EtcdClusterObject extends KubeObject {
  readonly spec: EtcdClusterSpec;
  readonly status?: Partial<ClusterStatus>;
}

export interface EtcdClusterSpec {
  readonly size: number;
  readonly allowEvenSize?: boolean;
  readonly version: string;
  readonly paused?: boolean;
  /** Undefined: plaintext. */
  readonly tls?: TlsSpec;
  /** Undefined: authentication is switched on with the first EtcdUser. */
  readonly auth?: boolean;
  readonly replace?: {
    readonly policy?: 'OnVolumeLoss' | 'Manual';
    readonly force?: readonly Partial<ReplaceRequest>[];
  };
  readonly origin?: OriginRequest & JobSettings;
  readonly recovery?: RecoveryRequest;
  readonly storage?: { readonly size?: string; readonly ephemeral?: boolean };
  readonly pvcPolicy?: { readonly onShrink?: 'Retain' | 'Delete'; readonly onDelete?: 'Retain' | 'Delete' };
  readonly backup?: {
    readonly schedules?: readonly Schedule[];
    readonly schedule?: string;
    readonly requiredForUpgrade?: boolean;
  };
  readonly finalBackup?: { readonly required?: boolean };
  readonly maintenance?: {
    readonly onNoSpace?: 'Report' | 'CompactDefragDisarm';
    readonly defragment?: MaintenanceRequest;
    readonly moveLeader?: MaintenanceRequest;
  };
}

/** A backup schedule, as the constructs write it. */
export interface Schedule {
  readonly name: string;
  readonly cron?: string;
  /** Default: <cluster>-<name>. */
  readonly cronJobName?: string;
  readonly stores: readonly BackupPodStore[];
  readonly compression?: string;
  readonly encryption?: { readonly age?: { readonly recipients: readonly string[] } };
  readonly verify?: string;
  readonly dialTimeout?: string;
  readonly timeout?: string;
  readonly serviceAccountName?: string;
  readonly image?: string;
  readonly resources?: BackupPodResources;
}

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

function specOf(spec: EtcdClusterSpec): ClusterSpec {
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
      tlsSecrets: { peer: spec.tls.managed.peerSecret, server: spec.tls.managed.serverSecret },
    }),
    ...(spec.tls?.alsoTrust && { alsoTrusts: spec.tls.alsoTrust.peerSecrets }),
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

const replaceOf = ({
  ordinal = -1,
  memberId = '',
  discardVolume = false,
}: Partial<ReplaceRequest>): ReplaceRequest => ({
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
