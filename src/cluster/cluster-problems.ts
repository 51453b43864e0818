import { originProblems } from '../backup/cluster-origin';
import { objectSuffix } from '../etcd/cluster-names';
import { etcdImages } from '../etcd/etcd-image';
import { maxSize } from '../etcd/ordinals';
import { defaultClusterDomain, defaultSize } from '../lib/defaults';
import { annotationProblems, labelProblems } from '../lib/labels';
import { podProblems } from '../lib/pod-problems';
import { EtcdTls } from '../tls/etcd-tls';
import { choiceProblem } from '../validation/choice';
import { nameProblem, problemsOf } from '../validation/names';
import { DeletionPolicy } from './deletion-policy';
import type { EtcdClusterProps } from './etcd-cluster-props';
import { volumeProblems } from './etcd-volume';
import { NoSpacePolicy } from './no-space-policy';
import { recoveryProblems } from './quorum-recovery';
import { etcdSettings } from './settings/etcd-settings';
import { EtcdTuning } from './settings/etcd-tuning';

/** What a cluster's properties do not tell. */
export interface ClusterSurroundings {
  /** The chart's. */
  readonly namespace?: string;
  /** Ids of the cluster's backup schedules. */
  readonly schedules: readonly string[];
}

/** All that is wrong with a cluster's properties, each with what to do about it. */
export function clusterProblems(name: string, props: EtcdClusterProps, surroundings: ClusterSurroundings): string[] {
  return [
    ...problemsOf(clusterNameProblem(name), sizeProblem(props)),
    ...etcdImages(props).problems,
    ...volumeProblems(props.volume ?? {}, props.quota),
    ...(props.resources?._problems() ?? []),
    ...(props.tuning?._problems() ?? []),
    ...settingsProblems(props),
    ...tlsProblems(name, props, surroundings),
    ...(props.networkAccess?._problems('networkAccess') ?? []),
    ...(props.metricsAccess?._problems('metricsAccess') ?? []),
    ...podProblems(props),
    ...metadataProblems(props),
    ...(props.replace?._problems() ?? []),
    ...(props.origin ? originProblems(props.origin).map((problem) => `origin: ${problem}`) : []),
    ...(props.recovery ? recoveryProblems(props.recovery) : []),
    ...policyProblems(props),
    ...volumePolicyProblems(props),
    ...backupProblems(props, surroundings.schedules),
  ];
}

function clusterNameProblem(name: string): string | undefined {
  if (!/^[a-z]([-a-z0-9]*[a-z0-9])?$/.test(name)) {
    return `name: '${name}' is no name of a Service; use lower-case letters, digits and '-', beginning with a letter`;
  }
  const [suffix] = objectSuffix.exec(name) ?? [];
  if (suffix !== undefined) {
    return `name: '${name}' is what cluster '${name.slice(0, -suffix.length)}' calls an object of its own; use a name that does not end in '${suffix}'`;
  }
  if (name.length <= 50) return undefined;
  return `name: '${name}' has ${name.length} characters; use at most 50, as the names of its objects are longer`;
}

function sizeProblem({ size = defaultSize, allowEvenSize }: EtcdClusterProps): string | undefined {
  if (!Number.isInteger(size) || size < 1 || size > maxSize) {
    return `size: ${size} is no size of an etcd cluster; use 1, 3, 5 or 7`;
  }
  if (size % 2 === 1 || allowEvenSize) return undefined;
  const better = size === 2 ? '1 or 3' : `${size - 1} or ${size + 1}`;
  return `size: ${size} members survive no more failures than ${size - 1}; use ${better}, or say allowEvenSize: true`;
}

function settingsProblems(props: EtcdClusterProps): readonly string[] {
  const { version } = etcdImages(props);
  if (version._problems().length > 0) return [];
  const { volume = {}, quota, tuning = EtcdTuning.LAN, settings } = props;
  return etcdSettings({ version, volume, quota, tuning, settings }).problems;
}

function tlsProblems(name: string, props: EtcdClusterProps, { namespace }: ClusterSurroundings): string[] {
  const { tls = EtcdTls.disabled(), clusterDomain = defaultClusterDomain } = props;
  return [
    ...problemsOf(nameProblem('clusterDomain', clusterDomain)),
    ...tls._bind({ name, namespace, clusterDomain }).problems,
  ];
}

function metadataProblems({ labels = {}, podAnnotations = {} }: EtcdClusterProps): string[] {
  return [
    ...labelProblems('labels', labels),
    ...annotationProblems('podAnnotations', podAnnotations),
    ...problemsOf(
      ...Object.keys(labels).map((name) => ownNameProblem('labels', name)),
      ...Object.keys(podAnnotations).map((name) => ownNameProblem('podAnnotations', name)),
    ),
  ];
}

/** A pod that says the wrong epoch would never start, or start with data that a restore has replaced. */
function ownNameProblem(what: string, name: string): string | undefined {
  if (!name.startsWith('cdk8s-etcd.dev/')) return undefined;
  return `${what}: '${name}' is the reconciler's own; remove it`;
}

function policyProblems({ onShrink, onDelete, onNoSpace }: EtcdClusterProps): string[] {
  return problemsOf(
    choiceProblem('onShrink', onShrink, DeletionPolicy),
    choiceProblem('onDelete', onDelete, DeletionPolicy),
    choiceProblem('onNoSpace', onNoSpace, NoSpacePolicy),
  );
}

function volumePolicyProblems({ onDelete, onShrink, volume }: EtcdClusterProps): string[] {
  if (!volume?.ephemeral) return [];
  return Object.entries({ onDelete, onShrink }).flatMap(([what, policy]) =>
    policy === undefined ? [] : [`${what}: is of no use with an ephemeral volume, which goes with its pod; remove one`],
  );
}

function backupProblems(props: EtcdClusterProps, schedules: readonly string[]): string[] {
  const { onDelete, finalBackup = onDelete === DeletionPolicy.DELETE, recovery, backupSchedule } = props;
  const none = schedules.length === 0;
  return problemsOf(
    finalBackup && none
      ? 'finalBackup: there is no backup schedule that says where to; call addBackupSchedule, or say finalBackup: false'
      : undefined,
    recovery && none
      ? 'recovery: backs the survivor up first, and there is no backup schedule that says where to; call addBackupSchedule'
      : undefined,
    backupSchedule === undefined || schedules.includes(backupSchedule)
      ? undefined
      : `backupSchedule: there is no '${backupSchedule}'; ${none ? 'call addBackupSchedule' : `use ${schedules.join(' or ')}`}, or leave it out`,
  );
}
