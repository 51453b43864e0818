import { ports } from '../etcd/cluster-ports';
import { apiTokenDirectory, apiTokenVolume } from '../lib/api-token';
import { fieldVariable } from '../lib/field-variable';
import { restrictedContainer, restrictedPod } from '../lib/restricted';
import { reconcilerCommand } from './reconciler-command';

export interface ReconcilerPodSpec {
  readonly name: string;
  readonly lease: string;
  readonly selector?: Readonly<Record<string, string>>;
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly imagePullSecrets?: readonly string[];
  readonly resources: object;
  /** More than one pod: they should not share a node. */
  readonly spread: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly selectorLabels: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly object[];
  readonly priorityClassName?: string;
}

/** The PodTemplateSpec of a reconciler. It holds to the restricted Pod Security Standard. */
export function reconcilerPod(spec: ReconcilerPodSpec): object {
  return {
    metadata: { labels: spec.labels },
    spec: {
      serviceAccountName: spec.name,
      // The container mounts one itself, so that nothing that is injected beside it has one too.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      imagePullSecrets: spec.imagePullSecrets?.map((name) => ({ name })),
      nodeSelector: spec.nodeSelector,
      tolerations: spec.tolerations,
      priorityClassName: spec.priorityClassName,
      topologySpreadConstraints: spec.spread ? [apart(spec)] : undefined,
      securityContext: restrictedPod,
      containers: [container(spec)],
      volumes: [apiTokenVolume(apiToken), { name: 'tmp', emptyDir: {} }],
    },
  };
}

const apiToken = 'api-token';

function apart({ selectorLabels }: ReconcilerPodSpec): object {
  return {
    maxSkew: 1,
    topologyKey: 'kubernetes.io/hostname',
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: { matchLabels: selectorLabels },
  };
}

function container(spec: ReconcilerPodSpec): object {
  const probe = (path: string) => ({ httpGet: { path, port: ports.agent }, periodSeconds: 10, timeoutSeconds: 5 });
  return {
    name: 'reconciler',
    image: spec.image,
    imagePullPolicy: spec.imagePullPolicy,
    command: reconcilerCommand,
    args: [
      'reconcile',
      `--deployment=${spec.name}`,
      `--lease=${spec.lease}`,
      ...(spec.selector ? [`--selector=${selectorText(spec.selector)}`] : []),
    ],
    env: [fieldVariable('POD_NAME', 'metadata.name'), fieldVariable('ETCD_AGENT_NAMESPACE', 'metadata.namespace')],
    ports: [{ name: 'http', containerPort: ports.agent, protocol: 'TCP' }],
    startupProbe: { ...probe('/livez'), periodSeconds: 2, failureThreshold: 30 },
    livenessProbe: { ...probe('/livez'), failureThreshold: 6 },
    readinessProbe: { ...probe('/readyz'), failureThreshold: 3 },
    resources: spec.resources,
    securityContext: restrictedContainer,
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [
      { name: apiToken, mountPath: apiTokenDirectory, readOnly: true },
      { name: 'tmp', mountPath: '/tmp' },
    ],
  };
}

/** A label selector as kubectl writes it. */
export function selectorText(selector: Readonly<Record<string, string>>): string {
  return Object.keys(selector)
    .sort()
    .map((name) => `${name}=${selector[name]}`)
    .join(',');
}
