import { defaults } from '../../../../src/resource/defaults.ts';
import type { EtcdClusterSpec } from '../../../../src/resource/types.ts';
import { type NamedAlsoTrust, type NamedTls, withDefaultNames } from '../../../../src/tls/default-names.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { group } from '../../kube/paths.ts';
import { tryDuration } from '../../lib/input/duration.ts';
import type { ClusterStatus } from '../../protocol/cluster-status.ts';
import type { Cluster, ClusterSpec } from '../port/observed.ts';

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
  spec: { ...spec, tls: tls && withDefaultNames(cluster.metadata.name, tls) },
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
    generation,
    deleting: metadata.deletionTimestamp !== undefined,
    finalizer: metadata.finalizers?.includes(finalizer) ?? false,
    skipFinalBackup: metadata.annotations?.[skipFinalBackup] === 'true',
    spec: specOf(spec),
    status: status ?? {},
  };
}

const usual = defaults.EtcdClusterSpec;

function specOf(spec: EtcdClusterObject['spec']): ClusterSpec {
  const { size, version, recovery, backup, pvcPolicy, storage, tls } = spec;
  const schedule = backup?.schedule ?? backup?.schedules?.[0]?.name;
  const onDelete = pvcPolicy?.onDelete ?? usual.pvcPolicy.onDelete;
  const { defragment, moveLeader, onNoSpace = usual.maintenance.onNoSpace } = spec.maintenance ?? {};
  const acceptPlaintextFor = tryDuration(tls?.acceptPlaintextFor ?? '');
  return {
    ...{ size, version, onDelete, onNoSpace },
    allowEvenSize: spec.allowEvenSize ?? usual.allowEvenSize,
    paused: spec.paused ?? usual.paused,
    tls: tls !== undefined,
    disablingTls: tls?.disabling ? true : undefined,
    acceptPlaintextFor,
    rootTls: tls?.rootSecret === undefined ? undefined : true,
    auth: spec.auth,
    tlsSecrets: tls?.managed && { peer: tls.peerSecret, server: tls.serverSecret },
    alsoTrusts: tls?.alsoTrust && [tls.peerSecret, tls.alsoTrust.peerSecret],
    ephemeral: storage?.ephemeral ?? usual.storage.ephemeral,
    volumeSize: storage?.size,
    replace: {
      policy: spec.replace?.policy ?? usual.replace.policy,
      force: (spec.replace?.force ?? []).map((each) => ({ ...usual.replace.force, ...each })),
    },
    origin: spec.origin && originOf(spec.origin),
    recovery,
    onShrink: pvcPolicy?.onShrink ?? usual.pvcPolicy.onShrink,
    schedule,
    requiredForUpgrade: backup?.requiredForUpgrade ?? usual.backup.requiredForUpgrade,
    finalBackupRequired: spec.finalBackup?.required ?? onDelete === 'Delete',
    maintenance: (defragment ?? moveLeader) && { defragment, moveLeader },
  };
}

/** What is restored. How its Job runs is not recorded: it can still be corrected. */
function originOf({
  serviceAccountName: _,
  image: __,
  resources: ___,
  ...origin
}: NonNullable<EtcdClusterSpec['origin']>): NonNullable<ClusterSpec['origin']> {
  return { ...origin, source: { ...origin.source } };
}

/** The Secrets that an EtcdCluster names for its own certificates. */
export function secretsOf(tls: NamedTls): string[] {
  const { alsoTrust } = tls;
  return [...new Set([...ofSource(tls), ...(alsoTrust ? [...ofSource(alsoTrust), alsoTrust.trustSecret] : [])])];
}

export function ofSource({ managed, ...source }: NamedTls | NamedAlsoTrust): string[] {
  const { peerSecret, serverSecret, clientSecret, rootSecret, backupSecret } = source;
  const { peerAuthority, clientAuthority } = managed ?? {};
  const all = [peerAuthority, clientAuthority, peerSecret, serverSecret, clientSecret, rootSecret, backupSecret];
  return all.filter((secret) => secret !== undefined);
}
