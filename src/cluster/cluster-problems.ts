import { authorizationProblem } from '../etcd/advisories';
import { ownNameProblem } from '../etcd/cluster-names';
import { annotationProblems, labelProblems } from '../lib/labels';
import { accessProblems } from '../lib/network-access';
import { egressProblems } from '../lib/network-egress';
import { podProblems } from '../lib/pod-problems';
import { derivedName } from '../validation/derived-name';
import { problemsOf } from '../validation/problems';
import type { ResolvedCluster } from './resolved-cluster';
import { tuningProblems } from './settings/etcd-tuning';

/**
 * Problems with a cluster, each with its remedy.
 *
 * @param schedules the names of the cluster's backup schedules
 */
export function clusterProblems(cluster: ResolvedCluster, schedules: readonly string[]): string[] {
  const { name, images, settings } = cluster;
  return [
    ...problemsOf(ownNameProblem(name)),
    ...tuningProblems(cluster.tuning),
    // The settings can only be checked against a supported version.
    ...(images.version._problems().length > 0 ? [] : settings.problems),
    ...authProblems(cluster),
    ...accessProblems('networkAccess', cluster.networkAccess),
    ...accessProblems('metricsAccess', cluster.metricsAccess),
    ...(cluster.egress ? egressProblems(cluster.egress) : []),
    ...podProblems({ ...cluster, imagePullSecrets: cluster.imagePullSecrets?.map((secret) => secret.name) }),
    ...metadataProblems(cluster),
    ...externalProblems(cluster),
    ...namesakeProblems(schedules),
  ];
}

function metadataProblems({ labels, podAnnotations }: ResolvedCluster): string[] {
  return [
    ...labelProblems('labels', labels),
    ...annotationProblems('podAnnotations', podAnnotations),
    ...problemsOf(...Object.keys(labels).map((name) => reservedNameProblem('labels', name))),
  ];
}

/** A pod with a wrong epoch would never start, or would start with data that a restore has replaced. */
function reservedNameProblem(what: string, name: string): string | undefined {
  if (!name.startsWith('cdk8s-etcd.dev/')) return undefined;
  return `${what}: '${name}' is reserved for the reconciler; remove it`;
}

function externalProblems({ externalServices, size }: ResolvedCluster): string[] {
  return (externalServices?.members ?? []).flatMap(({ ordinal }, index) =>
    ordinal < size
      ? []
      : [
          `externalServices.members[${index}].ordinal: ${ordinal} is of no member of size ${size}; give at most ${size - 1}, or remove it`,
        ],
  );
}

function authProblems({ auth, images }: ResolvedCluster): string[] {
  const problem = auth ? authorizationProblem(images.version.version) : undefined;
  return problem === undefined ? [] : [`auth: ${problem}, or remove auth`];
}

function namesakeProblems(schedules: readonly string[]): string[] {
  const names = schedules.map(derivedName);
  return schedules
    .filter((_, index) => names.indexOf(names[index]!) < index)
    .map((id) => `backup schedules: '${id}' has the name of another, ${derivedName(id)}; give each its own id`);
}
