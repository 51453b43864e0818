import { authorizationProblem } from '../etcd/advisories';
import { ownNameProblem } from '../etcd/cluster-names';
import { maxSize } from '../etcd/ordinals';
import { annotationProblems, labelProblems } from '../lib/labels';
import { accessProblems } from '../lib/network-access';
import { egressProblems } from '../lib/network-egress';
import { podProblems } from '../lib/pod-problems';
import { rootProblem } from '../users/user-problems';
import { derivedName } from '../validation/derived-name';
import { nameProblem } from '../validation/names';
import { choiceProblem, problemsOf } from '../validation/problems';
import { DeletionPolicy, NoSpacePolicy, replaceProblems } from './cluster-policies';
import { volumeProblems } from './etcd-volume';
import { recoveryProblems } from './quorum-recovery';
import type { ResolvedCluster } from './resolved-cluster';
import { tuningProblems } from './settings/etcd-tuning';

/**
 * Problems with a cluster, each with its remedy.
 *
 * @param schedules the names of the cluster's backup schedules
 */
export function clusterProblems(cluster: ResolvedCluster, schedules: readonly string[]): string[] {
  const { name, images, settings, clusterDomain, recovery } = cluster;
  return [
    ...problemsOf(ownNameProblem(name), sizeProblem(cluster)),
    ...volumeProblems(cluster.volume),
    ...tuningProblems(cluster.tuning),
    // The settings can only be checked against a supported version.
    ...(images.version._problems().length > 0 ? [] : settings.problems),
    ...problemsOf(nameProblem('clusterDomain', clusterDomain)),
    ...authProblems(cluster),
    ...accessProblems('networkAccess', cluster.networkAccess),
    ...accessProblems('metricsAccess', cluster.metricsAccess),
    ...(cluster.egress ? egressProblems(cluster.egress) : []),
    ...podProblems({ ...cluster, imagePullSecrets: cluster.imagePullSecrets?.map((secret) => secret.name) }),
    ...metadataProblems(cluster),
    ...replaceProblems(cluster.replace),
    ...(recovery ? recoveryProblems(recovery) : []),
    ...policyProblems(cluster),
    ...volumePolicyProblems(cluster),
    ...backupProblems(cluster, schedules),
  ];
}

function sizeProblem({ size, allowEvenSize }: ResolvedCluster): string | undefined {
  if (!Number.isInteger(size) || size < 1 || size > maxSize) {
    return `size: ${size} is not a valid size of an etcd cluster; use 1, 3, 5 or 7`;
  }
  if (size % 2 === 1 || allowEvenSize) return undefined;
  const better = size === 2 ? '1 or 3' : `${size - 1} or ${size + 1}`;
  return `size: ${size} members survive no more failures than ${size - 1}; use ${better}, or set allowEvenSize: true`;
}

function metadataProblems({ labels, podAnnotations }: ResolvedCluster): string[] {
  return [
    ...labelProblems('labels', labels),
    ...annotationProblems('podAnnotations', podAnnotations),
    ...problemsOf(
      ...Object.keys(labels).map((name) => reservedNameProblem('labels', name)),
      ...Object.keys(podAnnotations).map((name) => reservedNameProblem('podAnnotations', name)),
    ),
  ];
}

/** A pod with a wrong epoch would never start, or would start with data that a restore has replaced. */
function reservedNameProblem(what: string, name: string): string | undefined {
  if (!name.startsWith('cdk8s-etcd.dev/')) return undefined;
  return `${what}: '${name}' is reserved for the reconciler; remove it`;
}

function authProblems({ auth, tls, images }: ResolvedCluster): string[] {
  const problem = auth ? (rootProblem(tls) ?? authorizationProblem(images.version.version)) : undefined;
  if (problem === undefined) return [];
  // To remove auth does not switch it off.
  return [`auth: ${problem}${tls.disabling ? '' : ', or remove auth'}`];
}

function policyProblems({ pvcPolicy, maintenance }: ResolvedCluster): string[] {
  const { onShrink, onDelete } = pvcPolicy ?? {};
  const { onNoSpace } = maintenance ?? {};
  return problemsOf(
    choiceProblem('onShrink', onShrink, DeletionPolicy),
    choiceProblem('onDelete', onDelete, DeletionPolicy),
    choiceProblem('onNoSpace', onNoSpace, NoSpacePolicy),
  );
}

function volumePolicyProblems({ pvcPolicy: { onDelete, onShrink } = {}, volume }: ResolvedCluster): string[] {
  if (!volume.ephemeral) return [];
  return Object.entries({ onDelete, onShrink }).flatMap(([what, policy]) =>
    policy === undefined
      ? []
      : [`${what}: has no effect with an ephemeral volume, which is deleted with its pod; remove one of them`],
  );
}

function backupProblems(
  { finalBackup, recovery, backup, pvcPolicy }: ResolvedCluster,
  schedules: readonly string[],
): string[] {
  const backupSchedule = backup?.schedule;
  const isRequired = finalBackup?.required ?? pvcPolicy?.onDelete === 'Delete';
  const none = schedules.length === 0;
  const names = schedules.map(derivedName);
  return problemsOf(
    isRequired && none
      ? 'finalBackup: the cluster has no backup schedule, so there is no store for the backup; call addBackupSchedule, or set finalBackup: false'
      : undefined,
    recovery && none
      ? 'recovery: backs up the survivor first, but the cluster has no backup schedule; call addBackupSchedule'
      : undefined,
    ...schedules
      .filter((_, index) => names.indexOf(names[index]!) < index)
      .map((id) => `backup schedules: '${id}' has the name of another, ${derivedName(id)}; give each its own id`),
    backupSchedule === undefined || names.includes(derivedName(backupSchedule))
      ? undefined
      : `backupSchedule: the cluster has no schedule '${backupSchedule}'; ${none ? 'call addBackupSchedule' : `use ${schedules.join(' or ')}`}, or leave it out`,
  );
}
