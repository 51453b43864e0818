// The fields of our objects that no override may change. This file imports only types: the constructs use it at synthesis, and
// the reconciler for its Jobs.
import type { OverrideSpec } from '../resource/types.js';
import type { Change } from './strategic-merge.js';

export type Target = OverrideSpec['target'] | 'ReconcilerPods' | 'Deployment';

interface Owned {
  /** Of what changes, as `changes` writes it. */
  readonly path: RegExp;
  /** Completes: the field … */
  readonly why: string;
  /** The field for it. */
  readonly instead?: string;
  /** Only this new value is refused. */
  readonly value?: string;
}

const everywhere: readonly Owned[] = [
  {
    path: /^(apiVersion|kind|metadata\.(name|generateName|namespace|ownerReferences|finalizers))\b/,
    why: 'says which object it is',
  },
  {
    path: /\bmetadata\.labels\[app\.kubernetes\.io\/(name|instance|component|part-of)\]/,
    why: 'is how others find the object',
  },
  { path: /\bmetadata\.(labels|annotations)\[cdk8s-etcd\.dev\//, why: 'belongs to the reconciler' },
];

const directories = '/data|/scratch|/backup|/etc/etcd|/etc/etcd-agent|/var/run/secrets';

/** What our own containers need in order to work. Everything else of them may change. */
function containers(names: string, image: string): readonly Owned[] {
  const own = (rest: string) => new RegExp(`^spec\\.(?:initC|c)ontainers\\[(?:${names})\\]\\.(?:${rest})`);
  return [
    { path: own('name'), why: 'is of a container that the pod needs' },
    { path: own('image$'), why: 'must be what the rest of the pod is made for', instead: image },
    { path: own('command|args|workingDir'), why: 'follows from the spec' },
    { path: own('env\\[(?:MIN_EPOCH|POD_\\w+|ETCD_\\w+)\\]'), why: 'follows from the spec' },
    { path: own(`volumeMounts\\[(?:${directories})(?:/[^\\]]*)?\\]`), why: 'has the files that the container needs' },
    { path: own('ports\\[\\d+\\]\\.(?:name|containerPort|protocol)'), why: 'is where others connect' },
    { path: own('\\w+Probe\\.(?:httpGet|exec|tcpSocket|grpc)'), why: 'is how Kubernetes sees whether it works' },
    { path: own('restartPolicy|terminationMessage'), why: 'is part of how the container ends' },
  ];
}

const pod: readonly Owned[] = [
  {
    path: /\.volumeMounts\[(?:[^/\]]|\/?\]|[^\]]*(?:\/\/|\/\.{1,2}(?:\/|\])))/,
    why: 'is not a plain absolute path',
  },
  { path: /\.volumeDevices\b/, why: 'gives a container a disk beside its files' },
  { path: /^spec\.(restartPolicy|hostname|subdomain|setHostnameAsFQDN)/, why: 'follows from the kind of the pod' },
];

const account = (instead?: string): Owned => ({
  path: /^spec\.serviceAccount(Name)?$/,
  why: 'has the rights that the pod needs',
  ...(instead && { instead }),
});

const service: readonly Owned[] = [
  { path: /^spec\.(selector|publishNotReadyAddresses)\b/, why: 'decides to which pods the name leads' },
  { path: /^spec\.ports\[\d+\]\.(name|port|targetPort|protocol)$/, why: 'is where others connect' },
  { path: /^spec\.externalName$/, why: 'would lead elsewhere than to the pods' },
  { path: /^spec\.type$/, why: 'would lead elsewhere than to the pods', value: 'ExternalName' },
];

/** Refuses the part of an object that has a target of its own. */
const elsewhere = (path: RegExp, target: Target): Owned => ({ path, why: 'has a target of its own', instead: target });

const owned: Readonly<Record<Target, readonly Owned[]>> = {
  MemberPods: [
    // A new order of the containers that start one after the other.
    { path: /^spec\.initContainers$/, why: 'must have the gate before the agent' },
    ...containers('gate|agent', 'agentImage'),
    ...containers('etcd', 'image'),
    ...pod,
    account(),
    { path: /^spec\.volumes\[data\]/, why: 'has the data of the member', instead: 'storage' },
    {
      path: /\.volumeMounts\[.*\]\.name$/,
      why: 'mounts the data of the member, which only etcd and its agent may touch',
      value: 'data',
    },
    { path: /^spec\.volumes\[(settings|api-token|peer-tls|server-tls|root-tls)\]/, why: 'follows from the spec' },
  ],
  BackupPods: [
    ...containers('backup', 'image'),
    ...pod,
    account('serviceAccountName'),
    {
      path: /^spec\.volumes\[(tls|auth|record|identities|peer-tls|etcd-manifest|(store|extra|tls|auth)-\d[^\]]*)\]/,
      why: 'follows from the spec',
    },
  ],
  ReconcilerPods: [
    ...containers('reconciler', 'image'),
    ...pod,
    account(),
    { path: /^spec\.volumes\[api-token\]/, why: 'has the rights that the pod needs' },
  ],
  Claims: [
    { path: /^spec\.resources\b/, why: 'is what the quota follows from', instead: 'storage.size' },
    { path: /^(spec\.volumeMode|status)\b/, why: 'must be that of a file system' },
  ],
  StatefulSet: [
    elsewhere(/^spec\.template\b/, 'MemberPods'),
    elsewhere(/^spec\.volumeClaimTemplates\b/, 'Claims'),
    { path: /^spec\.replicas\b/, why: 'is set by the reconciler', instead: 'size' },
    { path: /^spec\.persistentVolumeClaimRetentionPolicy\b/, why: 'would delete data', instead: 'pvcPolicy' },
    {
      path: /^spec\.(updateStrategy|podManagementPolicy)\b/,
      why: 'would let Kubernetes restart members that the reconciler restarts one by one',
    },
    { path: /^spec\.(selector|serviceName|ordinals)\b/, why: 'is how members find each other' },
  ],
  PeerService: [...service, { path: /^spec\.(clusterIPs?|type)\b/, why: 'gives each member its own name' }],
  ClientService: service,
  MemberServices: service,
  Services: service,
  PodDisruptionBudget: [
    { path: /^spec\.selector\b/, why: 'selects the members' },
    { path: /^spec\.(maxUnavailable|minAvailable)\b/, why: 'keeps the quorum when nodes are drained' },
  ],
  ServiceAccounts: [],
  CronJobs: [
    elsewhere(/^spec\.jobTemplate\.spec\.template\b/, 'BackupPods'),
    { path: /^spec\.schedule\b/, why: 'is what the reports of missed backups follow', instead: 'cron' },
    { path: /^spec\.timeZone\b/, why: 'is what the reports of missed backups follow', instead: 'timeZone' },
    { path: /^spec\.suspend\b/, why: 'is what the reports of missed backups follow', instead: 'suspend' },
    { path: /^spec\.concurrencyPolicy\b/, why: 'keeps two runs from deleting the same snapshots' },
    { path: /^spec\.jobTemplate\.spec\.(podFailurePolicy|selector)\b/, why: 'decides which runs are repeated' },
    {
      path: /^spec\.jobTemplate\.spec\.(parallelism|completions|completionMode|suspend|managedBy|manualSelector)\b/,
      why: 'makes one pod of each run',
    },
    {
      path: /^spec\.(jobTemplate\.spec\.ttlSecondsAfterFinished|(successful|failed)JobsHistoryLimit)\b/,
      why: 'keeps the result of a run until the reconciler has read it',
      instead: 'the field of the schedule',
    },
  ],
  Deployment: [
    elsewhere(/^spec\.template\b/, 'ReconcilerPods'),
    { path: /^spec\.replicas\b/, why: 'has a field of its own', instead: 'replicas' },
    { path: /^spec\.selector\b/, why: 'is how the pods are found' },
  ],
};

/** The first of the changes that no override may make: where, why, and what to do. */
export function ownedProblem(target: Target, all: Iterable<Change>, path: string): string | undefined {
  const rules = [...owned[target], ...everywhere];
  for (const change of all) {
    const rule = rules.find((each) => each.path.test(change.path) && [undefined, change.after].includes(each.value));
    if (!rule) continue;
    const instead = rule.instead === undefined ? 'remove it' : `use ${rule.instead} instead`;
    return `${path}.${change.path}: cannot be overridden, because it ${rule.why}; ${instead}`;
  }
  return undefined;
}
