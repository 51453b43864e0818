import { originProblems, originSpec } from '../backup/cluster-origin';
import { etcdImages } from '../etcd/etcd-image';
import { EtcdVersion } from '../etcd/etcd-version';
import { egressSpec } from '../lib/network-egress';
import { podFieldsOf } from '../lib/pods/pod-options';
import { overrideSpecs } from '../overrides/overrides';
import { unnamedReconciler } from '../reconciler/etcd-reconciler';
import { defaultReconcilerName } from '../reconciler/etcd-reconciler-props';
import type { IEtcdReconciler } from '../reconciler/i-etcd-reconciler';
import { defaults } from '../resource/defaults';
import { enumText } from '../resource/enum-text';
import { normalSpec } from '../resource/normal-spec';
import type { BackupScheduleSpec, ClusterMonitoringSpec, EtcdClusterSpec } from '../resource/types';
import { EtcdTls } from '../tls/etcd-tls';
import { tlsTimeProblems } from '../tls/tls-times';
import { derivedName } from '../validation/derived-name';
import { nameOf } from '../validation/named';
import { DeletionPolicy } from './cluster-policies';
import { isLocal } from './cluster-reconciler';
import type { EtcdClusterProps } from './etcd-cluster-props';
import { storageSpec } from './etcd-volume';
import { recoverySpec } from './quorum-recovery';
import type { WrittenCluster } from './written-cluster';

/** Writes the properties of a cluster as the spec of its resource. Of what is not set, the spec has the default. */
export function writeCluster(props: EtcdClusterProps, name: string, namespace: string | undefined): WrittenCluster {
  const { clusterDomain, origin, recovery, replace, resources, onDelete } = props;
  const finalBackup = props.finalBackup ?? (onDelete === DeletionPolicy.DELETE ? true : undefined);
  const images = etcdImages(props);
  const tls = (props.tls ?? EtcdTls.managed())._spec({ name, namespace });
  return {
    spec: {
      size: props.size ?? defaults.EtcdClusterSpec.size,
      allowEvenSize: props.allowEvenSize || undefined,
      version: images.version.version,
      ...{ image: props.image, registry: props.registry, agentImage: props.agentImage },
      imagePullPolicy: enumText(props.imagePullPolicy),
      imagePullSecrets: props.imagePullSecrets?.map((secret) => ({ name: nameOf(secret) })),
      paused: props.paused || undefined,
      tls: tls.spec,
      clusterDomain,
      auth: props.auth,
      storage: storageSpec(props.volume),
      quota: props.quota?.asString(),
      resources: resources?._spec(),
      tuning: props.tuning?._spec(),
      settings: props.settings,
      spread: props.spread?._spec(),
      networkAccess: props.networkAccess?._spec(),
      metricsAccess: props.metricsAccess?._spec(),
      egress: props.egress && egressSpec(props.egress),
      ...podFieldsOf(props),
      ...{ containers: props.containers, sidecars: props.sidecars },
      serviceAccountName: nameOf(props.serviceAccountName),
      serviceAccountAnnotations: props.serviceAccountAnnotations,
      service: props.service as EtcdClusterSpec['service'],
      externalServices: props.externalServices as EtcdClusterSpec['externalServices'],
      podDisruptionBudget: props.podDisruptionBudget as EtcdClusterSpec['podDisruptionBudget'],
      ...{ revisionHistoryLimit: props.revisionHistoryLimit, protect: props.protect },
      overrides: overrideSpecs(props.overrides),
      pvcPolicy: unlessEmpty({ onShrink: enumText(props.onShrink), onDelete: enumText(onDelete) }),
      replace: replace?._spec(),
      origin: origin && originSpec(origin),
      recovery: recovery && recoverySpec(recovery),
      backup: unlessEmpty({
        schedule: props.backupSchedule && derivedName(props.backupSchedule),
        requiredForUpgrade: props.requireBackupForUpgrade || undefined,
      }),
      finalBackup: finalBackup === undefined ? undefined : { required: finalBackup },
      maintenance: unlessEmpty({ onNoSpace: enumText(props.onNoSpace) }),
    },
    problems: [
      ...images.problems,
      ...tls.problems,
      ...(origin ? originProblems(origin).map((problem) => `origin: ${problem}`) : []),
    ],
  };
}

/** The spec of a resource, which its schema has checked. */
export const readCluster = (spec: EtcdClusterSpec): WrittenCluster => ({
  spec,
  problems: [
    ...etcdImages({ ...spec, version: EtcdVersion.of(spec.version) }).problems,
    ...(spec.tls ? tlsTimeProblems(spec.tls) : []),
  ],
});

/** Adds what is known only when the app is complete. */
export function completeSpec(
  spec: EtcdClusterSpec,
  schedules: readonly BackupScheduleSpec[],
  reconciler: IEtcdReconciler,
  monitoring: ClusterMonitoringSpec | undefined,
): EtcdClusterSpec {
  const { reconcilerName: name, serviceAccountName } = reconciler;
  const isUnnamed = isLocal(reconciler) || reconciler === unnamedReconciler;
  const isUsual = isUnnamed && serviceAccountName === defaultReconcilerName;
  const complete = {
    ...spec,
    reconciler: unlessEmpty({
      serviceAccountName: isUsual ? undefined : serviceAccountName,
      name: name === serviceAccountName ? undefined : name,
    }),
    monitoring,
    backup: unlessEmpty({
      ...spec.backup,
      schedule: spec.backup?.schedule ?? schedules[0]?.name,
      schedules: schedules.length > 0 ? schedules : undefined,
    }),
  };
  return normalSpec('EtcdCluster', complete);
}

function unlessEmpty<T extends object>(fields: T): T | undefined {
  return Object.values(fields).some((value) => value !== undefined) ? fields : undefined;
}
