import { propProblems } from '../resource/prop-problems';
import { fieldProblems } from '../resource/resource-problems';
import type { PodOptions, ReconcilerContainerOptions } from './pod-options';

/** The properties of pods that only their schema checks. */
const fields = [
  ...(['affinity', 'topologySpreadConstraints', 'schedulerName', 'runtimeClassName', 'hostAliases'] as const),
  ...(['dnsPolicy', 'dnsConfig', 'securityContext', 'terminationGracePeriodSeconds', 'volumes'] as const),
  ...(['initContainers', 'sidecars', 'annotations', 'podLabels', 'podAnnotations', 'revisionHistoryLimit'] as const),
] as const;

/** Problems with the pods of a construct that has no resource: a cluster has the same fields. */
export function podFieldProblems(props: EtcdReconcilerFields): string[] {
  const { startupProbe, livenessProbe, readinessProbe, ...container } = props.container ?? {};
  const given = props as Readonly<Record<string, unknown>>;
  return [
    ...fields.flatMap((field) => problemsAt(field, `spec.${field}`, given[field])),
    ...problemsAt('container', 'spec.containers.gate', container),
    ...problemsAt('container.startupProbe', 'spec.containers.etcd.startupProbe', startupProbe),
    ...problemsAt('container.livenessProbe', 'spec.containers.etcd.livenessProbe', livenessProbe),
    ...problemsAt('container.readinessProbe', 'spec.containers.agent.readinessProbe', readinessProbe),
  ];
}

interface EtcdReconcilerFields extends PodOptions {
  readonly container?: ReconcilerContainerOptions;
}

const problemsAt = (property: string, field: string, value: unknown): string[] =>
  propProblems(
    fieldProblems('EtcdCluster', field, value).map(({ path, message }) => ({
      path: /^(\[|$)/.test(path) ? `${property}${path}` : `${property}.${path}`,
      message,
    })),
  );
