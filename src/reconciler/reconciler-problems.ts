import { registryProblems } from '../etcd/etcd-image';
import { annotationProblems, labelProblems } from '../lib/labels';
import type { Manifest } from '../lib/manifest';
import { accessProblems } from '../lib/network-access';
import { egressProblems } from '../lib/network-egress';
import { agentImageProblem, podProblems } from '../lib/pod-problems';
import { limitOf } from '../lib/pods/limit-of';
import { Quantity } from '../resource/quantity';
import type { EtcdReconcilerSpec } from '../resource/types';
import { problemsOf } from '../validation/problems';
import { isToken } from '../validation/tokens';
import { selectorText } from './reconciler-pod';
import { neighborsOf, type RegisteredReconciler } from './reconciler-registry';

/** Problems with a reconciler, each with its remedy. */
export function reconcilerProblems(reconciler: RegisteredReconciler, spec: EtcdReconcilerSpec): string[] {
  const { image, replicas, selector, labels } = spec;
  return [
    ...problemsOf(
      reconcilerNameProblem(reconciler.reconcilerName),
      agentImageProblem(image),
      replicas === undefined || replicas === 1 || replicas === 2
        ? undefined
        : `replicas: ${replicas} is neither 1 nor 2; use one of these, because only one pod is active at a time and a third would have no effect`,
      selector && Object.keys(selector).length === 0
        ? 'selector: is empty; give a label, or leave it out to manage all clusters'
        : undefined,
    ),
    ...podProblems({ ...spec, imagePullSecrets: spec.imagePullSecrets?.map((secret) => secret.name) }),
    ...annotationProblems('serviceAccountAnnotations', spec.serviceAccountAnnotations),
    ...labelProblems('selector', selector),
    ...Object.entries(selector ?? {})
      .filter(([, value]) => isToken(value))
      .map(
        ([name]) =>
          `selector: '${name}' is known only when the manifests are written, but it is part of a command; give a text`,
      ),
    ...labelProblems('labels', labels),
    ...registryProblems(spec.registry),
    ...(spec.metricsAccess ? accessProblems('metricsAccess', spec.metricsAccess) : []),
    ...(spec.egress ? egressProblems(spec.egress) : []),
    ...neighborProblems(reconciler),
  ];
}

/**
 * The number of clusters for which the limit of CPU suffices that fields and overrides give: docs/operations/sizing.md has what one
 * cluster takes.
 */
export function mostClusters(deployment: Manifest): number {
  const limit = ownLimit(deployment, 'cpu');
  return limit ? Math.floor(Quantity.of(limit).asApproximateFloat() / coresOfCluster) : Number.POSITIVE_INFINITY;
}

/** Problem if the pod has less memory than one cluster takes, with which it would be killed again and again. */
export function memoryProblem(deployment: Manifest): string | undefined {
  const limit = ownLimit(deployment, 'memory');
  if (limit === undefined || Quantity.of(limit).compareTo(Quantity.of(leastMemory)) >= 0) return undefined;
  return `the limit of memory, ${limit}, is below ${leastMemory}, which a reconciler needs for one cluster; raise memoryLimit (in YAML, spec.resources.limits.memory), or leave it out`;
}

const coresOfCluster = 0.001;
const leastMemory = '80Mi';

const ownLimit = ({ spec }: Manifest, resource: 'cpu' | 'memory'): string | undefined =>
  limitOf((spec as { readonly template: unknown }).template, 'reconciler', resource);

function reconcilerNameProblem(name: string): string | undefined {
  // The name of a Service must begin with a letter, and the Lease's name is 9 characters longer.
  if (/^[a-z]([-a-z0-9]{0,48}[a-z0-9])?$/.test(name)) return undefined;
  return `name: '${name}' is not a valid name of a reconciler; use at most 50 lower-case letters, digits and '-', beginning with a letter`;
}

/** Problem if two reconcilers manage the same clusters. */
function neighborProblems(reconciler: RegisteredReconciler): string[] {
  const selector = reconciler._selector();
  for (const other of neighborsOf(reconciler)) {
    const theirs = other._selector();
    if (selector && theirs && selectorText(selector) !== selectorText(theirs)) continue;
    return [
      `selector: ${other.node.path} manages clusters of this namespace too; remove one of the reconcilers, or give each its own selector and name`,
    ];
  }
  return [];
}
