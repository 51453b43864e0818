import { originSpec } from '../backup/cluster-origin';
import { enumText } from '../resource/enum-text';
import type { BackupScheduleSpec, EtcdClusterSpec } from '../resource/types';
import type { SecretNames, TlsBinding, TlsTrust } from '../tls/tls-binding';
import { derivedName } from '../validation/derived-name';
import { nameOf } from '../validation/named';
import type { QuorumRecovery } from './quorum-recovery';
import type { ResolvedCluster } from './resolve-cluster';

/** Returns the spec of the EtcdCluster resource. Properties that are not set keep the defaults of the CRD. */
export function clusterResource(cluster: ResolvedCluster, schedules: readonly BackupScheduleSpec[]): EtcdClusterSpec {
  const { finalBackup, tls, volume } = cluster;
  return {
    size: cluster.size,
    allowEvenSize: cluster.allowEvenSize || undefined,
    version: cluster.images.version.version,
    paused: cluster.paused || undefined,
    tls: tls.secrets && tlsSpec(cluster, tls.secrets),
    auth: cluster.auth,
    storage: { size: volume.size.asString(), ephemeral: volume.ephemeral || undefined },
    pvcPolicy: unlessEmpty({ onShrink: enumText(cluster.onShrink), onDelete: enumText(cluster.onDelete) }),
    replace: cluster.replace?._spec(),
    origin: cluster.origin && originSpec(cluster.origin),
    recovery: cluster.recovery && recoverySpec(cluster.recovery),
    backup: unlessEmpty({
      schedule: ownBackupSchedule(cluster, schedules)?.name,
      schedules: schedules.length > 0 ? schedules : undefined,
      requiredForUpgrade: cluster.requireBackupForUpgrade || undefined,
    }),
    finalBackup: finalBackup === undefined ? undefined : { required: finalBackup },
    maintenance: unlessEmpty({ onNoSpace: enumText(cluster.onNoSpace) }),
  };
}

type TlsSpec = NonNullable<EtcdClusterSpec['tls']>;

function tlsSpec({ tls, clusterDomain }: ResolvedCluster, secrets: SecretNames): TlsSpec {
  const { disabling, acceptPlaintextFor, trust } = tls;
  const managed = managedSpec(tls, clusterDomain);
  return { ...leafSecrets(secrets), disabling, acceptPlaintextFor, managed, alsoTrust: trust && trustSpec(trust) };

  function trustSpec({ secret, other }: TlsTrust): TlsSpec['alsoTrust'] {
    const sources = [secrets, other.secrets];
    const issued = managedSpec(other, clusterDomain);
    return {
      trustSecret: secret,
      peerSecrets: sources.map(({ peer }) => peer),
      serverSecrets: sources.map(({ server }) => server),
      clientSecrets: sources.map(({ client }) => client),
      managed: issued && { ...leafSecrets(other.secrets), ...issued },
    };
  }
}

const leafSecrets = ({ client, root, backup }: SecretNames) => ({
  clientSecret: client,
  rootSecret: root,
  backupSecret: backup,
});

function managedSpec({ secrets, managed }: TlsBinding, clusterDomain: string): TlsSpec['managed'] {
  if (!secrets || !managed) return undefined;
  return { ...managed, peerSecret: secrets.peer, serverSecret: secrets.server, clusterDomain };
}

/** Returns the schedule whose settings the reconciler's own backups use: `backupSchedule`, else the first one. */
export function ownBackupSchedule(
  { backupSchedule }: ResolvedCluster,
  schedules: readonly BackupScheduleSpec[],
): BackupScheduleSpec | undefined {
  if (backupSchedule === undefined) return schedules[0];
  return schedules.find(({ name }) => name === derivedName(backupSchedule));
}

/** Problem that the CRD would report for the number of backup schedules. */
export function scheduleCountProblems(count: number): string[] {
  if (count <= maxSchedules) return [];
  return [
    `backup schedules: there are ${count}, but at most ${maxSchedules} are allowed; one schedule can have several stores`,
  ];
}

const maxSchedules = 16;

function recoverySpec({ id, acceptDataLoss, survivor, identitySecret }: QuorumRecovery): EtcdClusterSpec['recovery'] {
  return { id, action: 'RestoreFromSurvivor', acceptDataLoss, survivor, identitySecret: nameOf(identitySecret) };
}

function unlessEmpty<T extends object>(fields: T): T | undefined {
  return Object.values(fields).some((value) => value !== undefined) ? fields : undefined;
}
