import { registryProblems } from '../etcd/etcd-image';
import { labelProblems } from '../lib/labels';
import { agentImageProblem, podProblems } from '../lib/pod-problems';
import { quantitiesProblems } from '../lib/quantities';
import { problemsOf } from '../validation/names';
import type { EtcdReconcilerProps } from './etcd-reconciler-props';
import { reservedLabels } from './reconciler-labels';
import { selectorText } from './reconciler-pod';
import { neighboursOf, type RegisteredReconciler } from './reconciler-registry';

/** All that is wrong with a reconciler, each with what to do about it. */
export function reconcilerProblems(reconciler: RegisteredReconciler, props: EtcdReconcilerProps): string[] {
  const { image, replicas = 1, selector, labels = {} } = props;
  return [
    ...problemsOf(
      reconcilerNameProblem(reconciler.reconcilerName),
      agentImageProblem(image),
      replicas === 1 || replicas === 2
        ? undefined
        : `replicas: ${replicas} is neither 1 nor 2; only one works at a time, and a third would not be of use`,
      selector && Object.keys(selector).length === 0
        ? 'selector: is empty; name a label, or leave it out to look after all clusters'
        : undefined,
      ...reservedLabels.map((name) =>
        labels[name] === undefined ? undefined : `labels: '${name}' finds the pods of this reconciler; remove it`,
      ),
    ),
    ...podProblems(props),
    ...labelProblems('selector', selector),
    ...labelProblems('labels', labels),
    ...registryProblems(props.registry),
    ...quantitiesProblems(props.resources ?? {}),
    ...(props.metricsAccess?._problems('metricsAccess') ?? []),
    ...neighbourProblems(reconciler),
  ];
}

function reconcilerNameProblem(name: string): string | undefined {
  // The Service wants a letter first; the Lease's name is 9 characters longer.
  if (/^[a-z]([-a-z0-9]{0,48}[a-z0-9])?$/.test(name)) return undefined;
  return `name: '${name}' is no name of a reconciler; use at most 50 lower-case letters, digits and '-', a letter first`;
}

/** Two that look after the same clusters would only get in each other's way. */
function neighbourProblems(reconciler: RegisteredReconciler): string[] {
  const selector = reconciler._selector();
  for (const other of neighboursOf(reconciler)) {
    const theirs = other._selector();
    if (selector && theirs && selectorText(selector) !== selectorText(theirs)) continue;
    return [
      `selector: ${other.node.path} looks after clusters of this namespace too; remove one, or give each a selector and a name of its own`,
    ];
  }
  return [];
}
