import type { ContainerOptions, PodOptions, ReconcilerContainerOptions } from '../lib/pod-options';
import { propProblems } from './prop-problems';
import { fieldProblems } from './resource-problems';

/** The properties of pods that only their schema checks. Every construct has the same. */
const fields = [
  ...(['affinity', 'topologySpreadConstraints', 'schedulerName', 'runtimeClassName', 'hostAliases'] as const),
  ...(['dnsPolicy', 'dnsConfig', 'securityContext', 'terminationGracePeriodSeconds', 'volumes'] as const),
  ...(['initContainers', 'sidecars', 'annotations', 'podLabels', 'podAnnotations', 'revisionHistoryLimit'] as const),
] as const;

/** Problems with the pods of a construct that has no resource of its own, or whose resource has no such fields. */
export function podFieldProblems(
  props: PodOptions & { readonly container?: ReconcilerContainerOptions | ContainerOptions },
): string[] {
  const { startupProbe, livenessProbe, readinessProbe, ...container } = {
    ...props.container,
  } as ReconcilerContainerOptions;
  const given = props as Readonly<Record<string, unknown>>;
  return [
    ...fields.flatMap((field) => problemsAt(field, `spec.${field}`, given[field])),
    ...problemsAt('container', 'spec.containers.gate', container),
    ...problemsAt('container.startupProbe', 'spec.containers.etcd.startupProbe', startupProbe),
    ...problemsAt('container.livenessProbe', 'spec.containers.etcd.livenessProbe', livenessProbe),
    ...problemsAt('container.readinessProbe', 'spec.containers.agent.readinessProbe', readinessProbe),
  ];
}

const problemsAt = (property: string, field: string, value: unknown): string[] =>
  propProblems(
    fieldProblems('EtcdCluster', field, value).map(({ path, message }) => ({
      path: /^(\[|$)/.test(path) ? `${property}${path}` : `${property}.${path}`,
      message,
    })),
  );
