import { ports } from '../etcd/cluster-ports';
import { apiTokenDirectory, apiTokenVolume } from '../lib/api-token';
import type { Labels } from '../lib/manifest';
import { fieldVariable, restrictedContainer, restrictedPod } from '../lib/pod-parts';
import { reconcilerCommand } from './reconciler-command';

export interface ReconcilerPodSpec {
  readonly name: string;
  readonly serviceAccountName: string;
  readonly lease: string;
  readonly selector?: Readonly<Record<string, string>>;
  readonly image: string;
  readonly imagePullPolicy?: string;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly resources: object;
  /** True for more than one pod: the pods should then run on different nodes. */
  readonly spread: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly selectorLabels: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly object[];
  readonly priorityClassName?: string;
}

/** Returns the PodTemplateSpec of a reconciler. It meets the restricted Pod Security Standard. */
export function reconcilerPod(spec: ReconcilerPodSpec): object {
  return {
    metadata: { labels: spec.labels },
    spec: {
      serviceAccountName: spec.serviceAccountName,
      // The container mounts a token itself, so that injected sidecars do not get one.
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      imagePullSecrets: spec.imagePullSecrets,
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

/** Returns a label selector in kubectl syntax. */
export function selectorText(selector: Readonly<Record<string, string>>): string {
  return Object.keys(selector)
    .sort()
    .map((name) => `${name}=${selector[name]}`)
    .join(',');
}

/** Returns the labels that select the pods of one reconciler. They must never change: the selector of a Deployment is immutable. */
export function reconcilerSelectorLabels(name: string): Labels {
  return { 'app.kubernetes.io/name': 'etcd-reconciler', 'app.kubernetes.io/instance': name };
}

/** Returns the labels of every object of a reconciler. */
export function reconcilerLabels(name: string, labels: Labels = {}): Labels {
  return {
    'app.kubernetes.io/managed-by': 'cdk8s',
    ...labels,
    'app.kubernetes.io/component': 'reconciler',
    ...reconcilerSelectorLabels(name),
  };
}
