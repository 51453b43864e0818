// The fields of pods that a cluster, a schedule and a reconciler share, with the names that Kubernetes gives them.

import { owned } from '../../src/overrides/owned-fields.ts';
import {
  containers,
  env,
  envFrom,
  hostAliases,
  kubernetes,
  topologySpreadConstraints,
  volumeMounts,
  volumes,
} from './kubernetes.mjs';
import {
  choice,
  integer,
  keys,
  list,
  mapBy,
  matching,
  named,
  object,
  objectName,
  rules,
  text,
  withDefault,
} from './schema.mjs';
import { resources } from './store.mjs';

const map = (description, value, more = {}) => ({
  type: 'object',
  description,
  maxProperties: 128,
  additionalProperties: value,
  ...more,
});

const label = matching(
  'A value.',
  63,
  /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/,
  "is not a valid value of a label: use up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit",
);

const domain = (letters) => {
  const part = `[${letters}0-9]([-${letters}0-9]*[${letters}0-9])?`;
  return `(${part}([.]${part})*/)?`;
};
const key = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';

export const labels = (description) => map(description, label, { [keys]: `^${domain('a-z')}${key}$` });
export const annotations = (description) =>
  map(description, { type: 'string', maxLength: 16_384 }, { [keys]: `^${domain('A-Za-z')}${key}$` });

/** CEL: no key is one of those that this project decides. */
const ownKeys = (pattern, message) => rules([`self.all(key, !key.matches('${pattern}'))`, message]);
export const furtherAnnotations = (description) => ({
  ...annotations(description),
  ...ownKeys(
    owned.annotations,
    'has an annotation that begins with cdk8s-etcd.dev/, which the reconciler needs: remove it',
  ),
});
export const furtherLabels = (description) => ({
  ...labels(description),
  ...ownKeys(owned.labels, 'has a label by which the pods are selected, such as app.kubernetes.io/name: remove it'),
});

export const image = (description) => text(description, 1024, { minLength: 1 });

export const registry = matching(
  'A registry that mirrors the default images. It replaces gcr.io and ghcr.io.',
  253,
  /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[0-9]+)?(\/[a-z0-9._-]+)*$/,
  'is not a valid registry: write it like registry.example.com/mirror, without https:// and without a / at the end',
);

export const images = {
  imagePullPolicy: choice('When a node pulls the images.', ['Always', 'IfNotPresent', 'Never']),
  imagePullSecrets: list(
    'The Secrets with registry credentials.',
    named('LocalObjectReference', object('A Secret.', { 'name!': objectName('Its name.', 'Secret') })),
    0,
    16,
    mapBy('name'),
  ),
};

const toleration = named(
  'TolerationSpec',
  object(
    'A taint that is tolerated.',
    {
      key: text('The key of the taint. Without it, operator must be Exists.', 317),
      operator: withDefault('Equal', choice('How the value of the taint is compared.', ['Exists', 'Equal'])),
      value: { ...label, description: 'The value of the taint, for Equal.' },
      effect: choice('The effect of the taint. Default: every effect.', [
        'NoSchedule',
        'PreferNoSchedule',
        'NoExecute',
      ]),
      tolerationSeconds: integer(
        'The number of seconds that the pod stays on the node, for NoExecute. Zero and less: none. Default: without limit.',
      ),
    },
    rules(
      [
        "(has(self.key) && self.key != '') || (has(self.operator) && self.operator == 'Exists')",
        'key is missing: give the key of the taint, or operator: Exists for every taint',
        { fieldPath: '.key' },
      ],
      [
        "!has(self.value) || self.value == '' || !has(self.operator) || self.operator != 'Exists'",
        'value has no effect with operator: Exists: remove one of them',
        { fieldPath: '.value' },
      ],
      [
        "!has(self.tolerationSeconds) || (has(self.effect) && self.effect == 'NoExecute')",
        'tolerationSeconds has no effect without effect: NoExecute: give both, or remove it',
        { fieldPath: '.tolerationSeconds' },
      ],
    ),
  ),
);

/** Where pods run. */
export const placement = {
  nodeSelector: labels('The labels that a node must have. Default: any node.'),
  tolerations: list('The taints that the pods tolerate.', toleration, 0, 64),
  priorityClassName: objectName('The PriorityClass of the pods.', 'PriorityClass'),
};

/** The annotations and labels that objects and their pods have besides their own. */
export const metadata = {
  annotations: furtherAnnotations('Further annotations of every object, but not of pods.'),
  podLabels: furtherLabels('Further labels of the pods.'),
};
export const podAnnotations = furtherAnnotations('Further annotations of the pods.');

/** What Kubernetes lets a pod have, with the names and shapes that it gives them. */
export const podFields = {
  affinity: kubernetes('Affinity', 'The affinity of the pods.'),
  topologySpreadConstraints: topologySpreadConstraints('Further constraints for spreading the pods.'),
  schedulerName: objectName('The scheduler of the pods. Default: that of Kubernetes.', 'scheduler'),
  runtimeClassName: objectName('The RuntimeClass of the pods.', 'RuntimeClass'),
  hostAliases,
  dnsPolicy: choice('How the pods resolve names. Default: that of Kubernetes.', [
    ...['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'],
  ]),
  dnsConfig: kubernetes('PodDNSConfig', 'Further settings of DNS.'),
  securityContext: kubernetes(
    'PodSecurityContext',
    'Replaces the security context of the pods, which is that of the restricted Pod Security Standard with the user, group and fsGroup 65532. For OpenShift, which chooses these: runAsNonRoot: true and seccompProfile.',
  ),
  terminationGracePeriodSeconds: integer(
    'How many seconds a pod has to end. Default: 60.',
    owned.leastGraceSeconds,
    3_600,
  ),
  volumes,
  initContainers: containers(
    'Further init containers, which run before all others. One with restartPolicy: Always runs beside them.',
  ),
};
export const sidecars = containers('Further containers of the pods.');

const containerFields = {
  env,
  envFrom,
  securityContext: kubernetes(
    'SecurityContext',
    'Replaces the security context of the container, which has a read-only root file system and no capabilities.',
  ),
  volumeMounts,
};

const seconds = (description, minimum) => integer(description, minimum, 3_600);
const probe = (which) =>
  named(
    'ProbeTimesSpec',
    object(`The times of its ${which} probe. What is missing has its default.`, {
      initialDelaySeconds: seconds('How long the first probe waits.', 0),
      periodSeconds: seconds('The time between two probes.', 1),
      timeoutSeconds: seconds('How long a probe may take.', 1),
      failureThreshold: integer('After how many failures in a row it counts.', 1, 10_000),
    }),
  );
const probes = (...names) => Object.fromEntries(names.map((name) => [`${name}Probe`, probe(name)]));

const container = (name, description, more = {}, ...all) =>
  named(name, object(description, { ...containerFields, ...more }, rules(...all)));

/** Of every kind whose pods have the fields of pods, and a ServiceAccount. */
export const podRules = [
  [
    '!has(self.serviceAccountName) || !has(self.serviceAccountAnnotations)',
    'serviceAccountAnnotations are for the ServiceAccount that is created: put them on the existing one, and remove them here',
    { fieldPath: '.serviceAccountAnnotations' },
  ],
];

/** Not of EtcdBackup and EtcdRestore, whose Job may have the dnsConfig of its schedule. */
export const dnsRule = [
  "!has(self.dnsPolicy) || self.dnsPolicy != 'None' || (has(self.dnsConfig) && has(self.dnsConfig.nameservers) && self.dnsConfig.nameservers.size() > 0)",
  'dnsPolicy None needs the servers to ask: add nameservers to dnsConfig',
  { fieldPath: '.dnsPolicy' },
];

export const defaultReconciler = 'etcd-reconciler';

/** Of a Job whose cluster the resource does not show. The constructs also know the reconciler of the cluster. */
export const jobAccountRule = [
  `!has(self.serviceAccountName) || self.serviceAccountName != '${defaultReconciler}'`,
  'serviceAccountName is that of the reconciler, whose rights a Job must not have: name another ServiceAccount',
  { fieldPath: '.serviceAccountName' },
];

const agentResources = { requests: { cpu: '10m', memory: '32Mi' }, limits: { memory: '128Mi' } };

/** The only container of the pods. */
export const backupContainer = container('ContainerSpec', 'The container of the agent.');
export const reconcilerContainer = container(
  'ReconcilerContainerSpec',
  'The container of the reconciler. Its Jobs get the proxy variables of env too.',
  probes('startup', 'liveness', 'readiness'),
);
export const memberContainers = object('The containers of the pods of members.', {
  etcd: container('EtcdContainerSpec', 'The container of etcd.', probes('startup', 'liveness'), [
    `!has(self.env) || self.env.all(variable, !variable.name.matches('${owned.proxies}'))`,
    'etcd would connect to the other members through the proxy: give the proxy to the agent, the schedules and the reconciler, and remove it here',
    { fieldPath: '.env' },
  ]),
  agent: container('AgentContainerSpec', 'The container of the agent.', {
    ...probes('liveness', 'readiness'),
    resources: withDefault(
      agentResources,
      resources(
        'Its CPU and memory. A request stands for a missing limit of memory, and a limit for a missing request.',
      ),
      `requests of ${agentResources.requests.cpu} and ${agentResources.requests.memory}, and a limit of ${agentResources.limits.memory}`,
    ),
  }),
  gate: container('GateContainerSpec', 'The container of the gate, which prepares the volume before etcd starts.', {
    resources: resources(
      'Its CPU and memory. It also restores, which needs as much memory as etcd. Default: the requests of the agent, and the limit of memory of etcd.',
    ),
  }),
});
