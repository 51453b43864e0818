// What the cluster owns in its objects: names that no field and no override may take, fields that no override may change, and what a
// finished pod may not be. The constructs use it at synthesis, the reconciler for its Jobs, and scripts/crds/ for the rules of the custom
// resources.
import { amountOf } from '../resource/quantity.ts';
import type { OverrideSpec } from '../resource/types.ts';
import type { Change } from './strategic-merge.ts';

export type AnyTarget = OverrideSpec['target'] | 'ReconcilerPods' | 'Deployment';

/** Volumes of our pods, by whose pods they are. */
const memberVolumes = 'settings|api-token|(peer|server|root)-tls';
const backupVolumes = 'tls|auth|record|identities|peer-tls|etcd-manifest|(store|extra|tls|auth)-[0-9].*';
const memberContainers = 'etcd|agent|gate';

const directories = 'data|scratch|tmp|backup|etc/etcd|etc/etcd-agent|(var/)?run/secrets';
const notPlain = '^/?(etc|var|var/run|run)?/?$|^[^/]|//|/[.]{1,2}(/|$)';

/** Regular expressions that mean the same in CEL (RE2) and in JavaScript. */
export const owned = {
  containers: `^(${memberContainers}|backup|exporter|reconciler)$`,
  volumes: `^(data|scratch|tmp|${memberVolumes}|${backupVolumes})$`,
  /** By which pods are selected. */
  labels: '^app[.]kubernetes[.]io/(name|instance|component|part-of)$',
  annotations: '^cdk8s-etcd[.]dev/',
  variables: '^(POD_NAME|POD_UID|POD_IP|MIN_EPOCH|ETCD_.*)$',
  /** Of the names of variables that come from a ConfigMap or a Secret. */
  prefixes: '^(E|ET|ETC|ETCD|ETCD_.*)$',
  /** Through a proxy, etcd would not reach the other members. */
  proxies: '^([hH][tT][tT][pP][sS]?|[aA][lL][lL])_[pP][rR][oO][xX][yY]$',
  mountPaths: `^/*(${directories})(/|$)|${notPlain}`,
  /** With the data of a member. */
  claims: '^data-.+-[0-6]$',
  /** The agent needs up to 20 seconds to abort an upload, and etcd 5 until it stops. */
  leastGraceSeconds: 30,
} as const;

/** A step as `Change` has it, or all that pass a test. */
type Step = string | { readonly test: (step: string) => boolean };

interface Owned {
  /** Where it is, with all below: `spec.replicas`, or its steps. */
  readonly at: string | readonly Step[];
  /** True: also in the middle of a path. */
  readonly anywhere?: boolean;
  /** Completes: the field … */
  readonly why: string;
  /** The field for it. */
  readonly instead?: string;
  /** Only this new value is refused. */
  readonly value?: string;
  /** True: what was not there before may be added. */
  readonly addable?: boolean;
}

/** The step of an item whose name matches. */
const item = (name: string): Step => ({ test: (step) => new RegExp(name).test(step.slice(1, -1)) });
const words = (names: string) => new RegExp(`^(${names})$`);

const everywhere: readonly Owned[] = [
  { at: [words('apiVersion|kind')], why: 'says which object it is' },
  {
    at: ['metadata', /^(?!(labels|annotations)$)/],
    anywhere: true,
    why: 'says which object it is',
  },
  {
    at: ['metadata', 'labels', item(owned.labels)],
    anywhere: true,
    why: 'is how others find the object',
  },
  {
    at: ['metadata', words('labels|annotations'), item(owned.annotations)],
    anywhere: true,
    why: 'belongs to the reconciler',
  },
];

/** What our own containers need in order to work. Everything else of them may change. */
function containers(list: 'initContainers' | 'containers', names: string, image: string): readonly Owned[] {
  const ours = item(`^(${names})$`);
  const own = (...rest: Step[]) => ['spec', list, ours, ...rest];
  return [
    {
      at: ['spec', list === 'containers' ? 'initContainers' : 'containers', ours],
      why: `is the name of one of ${list}`,
      instead: list,
    },
    { at: own('name'), why: 'is of a container that the pod needs' },
    { at: own('image'), why: 'must be what the rest of the pod is made for', instead: image },
    { at: own(words('command|args|workingDir')), why: 'follows from the spec' },
    { at: own('env', item(owned.variables)), why: 'follows from the spec' },
    { at: own('volumeMounts', item(owned.mountPaths)), why: 'has the files that the container needs' },
    { at: own('ports', /./, words('name|containerPort|protocol')), why: 'is where others connect', addable: true },
    { at: own(/Probe$/, words('httpGet|exec|tcpSocket|grpc')), why: 'is how Kubernetes sees whether it works' },
    { at: own(words('restartPolicy|terminationMessage.*')), why: 'is part of how the container ends' },
  ];
}

const pod: readonly Owned[] = [
  { at: ['spec', /ontainers$/, /./, 'volumeMounts', item(notPlain)], why: 'is not a plain absolute path' },
  { at: ['spec', /ontainers$/, /./, 'volumeDevices'], why: 'gives a container a disk beside its files' },
  {
    at: ['spec', words('restartPolicy|hostname|subdomain|setHostnameAsFQDN')],
    why: 'follows from the kind of the pod',
  },
  { at: 'spec.resources', why: 'limits all containers at once', instead: 'the resources of containers' },
];

const account = (instead?: string): Owned => ({
  at: ['spec', words('serviceAccount(Name)?')],
  why: 'has the rights that the pod needs',
  instead,
});

const service: readonly Owned[] = [
  { at: ['spec', words('selector|publishNotReadyAddresses')], why: 'decides to which pods the name leads' },
  { at: ['spec', 'ports', /./, words('name|port|targetPort|protocol')], why: 'is where others connect', addable: true },
  { at: 'spec.externalName', why: 'would lead elsewhere than to the pods' },
  { at: 'spec.type', why: 'would lead elsewhere than to the pods', value: 'ExternalName' },
];

/** Refuses the part of an object that has a target of its own. */
const elsewhere = (at: string, target: AnyTarget): Owned => ({ at, why: 'has a target of its own', instead: target });

/** A field of the resource decides the same. */
const reports = 'is what the reports of missed backups follow';

/** Of pods on the node of an etcd that is not ours. */
const onNode: readonly Owned[] = [
  { at: ['spec', words('hostNetwork|hostPID')], why: 'is how the pod reaches etcd' },
  {
    at: 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution',
    why: 'is where etcd runs',
    instead: 'nodeLabels',
  },
];

const fields: Readonly<Record<AnyTarget, readonly Owned[]>> = {
  MemberPods: [
    ...containers('initContainers', 'gate|agent', 'agentImage'),
    ...containers('containers', 'etcd', 'image'),
    ...pod,
    account(),
    { at: 'spec.volumes.[data]', why: 'has the data of the member', instead: 'storage' },
    { at: ['spec', 'volumes', item(`^(${memberVolumes})$`)], why: 'follows from the spec' },
  ],
  BackupPods: [
    ...containers('containers', 'backup', 'image'),
    ...pod,
    account('serviceAccountName'),
    {
      at: ['spec', 'volumes', item(`^(${backupVolumes})$`)],
      why: 'follows from the spec',
    },
  ],
  ReconcilerPods: [
    ...containers('containers', 'reconciler', 'image'),
    ...pod,
    account(),
    { at: 'spec.volumes.[api-token]', why: 'has the rights that the pod needs' },
  ],
  Claims: [
    { at: 'spec.resources', why: 'is what the quota follows from', instead: 'storage.size' },
    { at: 'spec.volumeMode', why: 'must be that of a file system' },
    { at: ['spec', words('dataSource(Ref)?')], why: 'would bring data into an empty volume', instead: 'origin' },
  ],
  StatefulSet: [
    elsewhere('spec.template', 'MemberPods'),
    elsewhere('spec.volumeClaimTemplates', 'Claims'),
    { at: 'spec.replicas', why: 'is set by the reconciler', instead: 'size' },
    { at: 'spec.persistentVolumeClaimRetentionPolicy', why: 'would delete data', instead: 'pvcPolicy' },
    {
      at: ['spec', words('updateStrategy|podManagementPolicy')],
      why: 'would let Kubernetes restart members that the reconciler restarts one by one',
    },
    { at: ['spec', words('selector|serviceName|ordinals')], why: 'is how members find each other' },
  ],
  PeerService: [...service, { at: ['spec', words('clusterIPs?|type')], why: 'gives each member its own name' }],
  ClientService: service,
  MemberServices: service,
  Services: service,
  PodDisruptionBudget: [
    { at: 'spec.selector', why: 'selects the members' },
    { at: ['spec', words('maxUnavailable|minAvailable')], why: 'keeps the quorum when nodes are drained' },
  ],
  ServiceAccounts: [],
  CronJobs: [
    elsewhere('spec.jobTemplate.spec.template', 'BackupPods'),
    { at: 'spec.schedule', why: reports, instead: 'cron' },
    { at: 'spec.timeZone', why: reports, instead: 'timeZone' },
    { at: 'spec.suspend', why: reports, instead: 'suspend' },
    { at: 'spec.startingDeadlineSeconds', why: reports, instead: 'startingDeadline' },
    { at: 'spec.jobTemplate.spec.activeDeadlineSeconds', why: 'must be above timeout', instead: 'activeDeadline' },
    { at: 'spec.concurrencyPolicy', why: 'keeps two runs from deleting the same snapshots' },
    { at: ['spec', 'jobTemplate', 'spec', words('podFailurePolicy|selector')], why: 'decides which runs are repeated' },
    {
      at: ['spec', 'jobTemplate', 'spec', words('parallelism|completion(s|Mode)|suspend|managedBy|manualSelector')],
      why: 'makes one pod of each run',
    },
    ...[['spec', words('(successful|failed)JobsHistoryLimit')], 'spec.jobTemplate.spec.ttlSecondsAfterFinished'].map(
      (at) => ({
        at,
        why: 'keeps the result of a run until the reconciler has read it',
        instead: 'the field of the schedule',
      }),
    ),
  ],
  Deployment: [
    elsewhere('spec.template', 'ReconcilerPods'),
    { at: 'spec.replicas', why: 'has a field of its own', instead: 'replicas' },
    { at: 'spec.selector', why: 'is how the pods are found' },
  ],
};

/** What is known of the pods of a target. */
export interface Pods {
  readonly target: AnyTarget;
  /** True if they run on the node of an etcd that is not ours. */
  readonly isOnNode?: boolean;
  /** True if they have more than is known here: what is missing may be there. */
  readonly isPart?: boolean;
}

/** The first of the changes that no override may make: where, why, and what to do. */
export function ownedProblem(
  { target, isOnNode }: Pods,
  all: Iterable<Change>,
  pathOf: (steps: readonly string[]) => string,
): string | undefined {
  const rules = [...fields[target], ...(isOnNode ? onNode : []), ...everywhere];
  for (const { steps, before, after } of all) {
    const rule = rules.find(
      (each) => isAt(each, steps) && [undefined, after].includes(each.value) && !(each.addable && before === undefined),
    );
    if (!rule) continue;
    const instead = rule.instead === undefined ? 'remove it' : `use ${rule.instead} instead`;
    return `${pathOf(steps)}: cannot be overridden, because it ${rule.why}; ${instead}`;
  }
  return undefined;
}

function isAt({ at, anywhere }: Owned, steps: readonly string[]): boolean {
  const wanted = typeof at === 'string' ? at.split('.') : at;
  const isFrom = (start: number) =>
    wanted.every((step, index) => {
      const found = steps[start + index];
      return found !== undefined && (typeof step === 'string' ? step === found : step.test(found));
    });
  return anywhere ? steps.some((_, start) => isFrom(start)) : isFrom(0);
}

type List<Item> = readonly (Item & { readonly name?: string })[];

interface Container {
  readonly image?: unknown;
  readonly env?: List<{ readonly value?: unknown; readonly valueFrom?: unknown }>;
  readonly envFrom?: readonly {
    readonly prefix?: unknown;
    readonly configMapRef?: unknown;
    readonly secretRef?: unknown;
  }[];
  readonly resources?: { readonly requests?: Amounts; readonly limits?: Amounts };
  readonly volumeMounts?: List<{ readonly mountPath?: string }>;
  readonly securityContext?: User;
}

type Amounts = Readonly<Record<string, unknown>>;

interface User {
  readonly runAsUser?: unknown;
  readonly runAsNonRoot?: unknown;
}

interface Pod {
  readonly initContainers?: List<Container>;
  readonly containers?: List<Container>;
  readonly volumes?: List<Readonly<Record<string, unknown>>>;
  readonly topologySpreadConstraints?: readonly Readonly<Record<string, unknown>>[];
  readonly terminationGracePeriodSeconds?: unknown;
  readonly activeDeadlineSeconds?: unknown;
  readonly dnsPolicy?: unknown;
  readonly dnsConfig?: { readonly nameservers?: readonly unknown[] };
  readonly securityContext?: User;
}

/** What is wrong with a pod, and what to do. */
export interface Fault {
  /** Where, such as `spec.containers[etcd]`. */
  readonly at: string;
  readonly says: string;
}

/** The first mistake in a pod template as it is after all fields and overrides. */
export function podFault(template: unknown, pods: Pods): Fault | undefined {
  const { spec = {} } = (template ?? {}) as { readonly spec?: Pod };
  const [first] = podFaults(spec, pods);
  return first && { at: first[0], says: first[1] };
}

const ownContainer = /^spec[.]\w+\[(etcd|agent|gate|backup|reconciler)\]/;
const ownResources = new RegExp(`${ownContainer.source}[.]resources`);

/** The schema has the rule about the resources of our own containers. */
export const isOfSchema = ({ at }: Fault): boolean => ownResources.test(at);

/** The field of the resource from which the pods have what is here. */
export const fieldOf = (at: string, { target }: Pods): string =>
  at
    .replace(ownContainer, target === 'MemberPods' ? 'containers.$1' : 'container')
    .replace(/^spec[.]containers/, 'sidecars')
    .replace(/^spec[.]/, '');

type Found = readonly [at: string, says: string];

const lists = ['initContainers', 'containers'] as const;
/** What is not a list is reported elsewhere. */
const listOf = <Item>(value: readonly Item[] | undefined): readonly Item[] => (Array.isArray(value) ? value : []);
const matches = (pattern: string, value: unknown): boolean =>
  typeof value === 'string' && new RegExp(pattern).test(value);

function* podFaults(pod: Pod, { target, isOnNode, isPart }: Pods): Generator<Found> {
  const volumes = listOf(pod.volumes);
  // The claim of a member is a volume of its pod.
  const names = [...volumes.map(({ name }) => name), ...(target === 'MemberPods' ? ['data'] : [])];
  const containersOf = lists.flatMap((list) =>
    listOf(pod[list]).map((container) => ({ ...container, at: `spec.${list}[${container.name}]` })),
  );
  for (const [index, { name, at, ...container }] of containersOf.entries()) {
    if (containersOf.findIndex((each) => each.name === name) < index)
      yield [at, 'has the name of another container; choose another name'];
    if (container.image === undefined && !isPart) {
      const others = containersOf.flatMap((each) => (each.image === undefined ? [] : [each.name]));
      yield [at, `has no image; give one, or the name of a container that has one: ${others.join(', ')}`];
    }
    if (matches(owned.containers, name)) yield* variableFaults(container, name === 'etcd', at);
    yield* nameFaults(name, at);
    yield* ambiguousFaults(container, at);
    yield* mountFaults(container, isPart ? undefined : names, at);
    if (target === 'MemberPods' && !matches(`^(${memberContainers})$`, name)) yield* dataFaults(container, at);
  }
  const order = listOf(pod.initContainers).map(({ name }) => name);
  if (target === 'MemberPods' && order.indexOf('gate') > order.indexOf('agent'))
    yield ['spec.initContainers', 'must have the gate before the agent; change the order'];
  yield* volumeFaults(volumes, isPart);
  yield* spreadFaults(listOf(pod.topologySpreadConstraints));
  yield* timeFaults(pod, target);
  if (isOnNode) yield* nodeFaults(pod);
  if (!isPart && pod.dnsPolicy === 'None' && listOf(pod.dnsConfig?.nameservers).length === 0)
    yield ['spec.dnsPolicy', 'None needs the servers to ask; add nameservers to dnsConfig'];
  for (const container of containersOf) yield* resourceFaults(container);
}

function* nameFaults(name: unknown, at: string): Generator<Found> {
  if (typeof name === 'string' && !matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$', name))
    yield [at, "is not a valid name; use up to 63 lower-case letters, digits and '-'"];
}

function* ambiguousFaults({ env, envFrom }: Container, at: string): Generator<Found> {
  const variables = listOf(env);
  for (const [index, { name, value, valueFrom }] of variables.entries()) {
    const path = `${at}.env[${name}]`;
    if (value && valueFrom)
      yield [path, 'has both value and valueFrom; remove one of them, in an override with valueFrom: null'];
    if (variables.findIndex((each) => each.name === name) < index) yield [path, 'is there twice; remove one of them'];
  }
  const index = listOf(envFrom).findIndex(
    ({ configMapRef, secretRef }) => Boolean(configMapRef) === Boolean(secretRef),
  );
  if (index >= 0) yield [`${at}.envFrom[${index}]`, 'needs either configMapRef or secretRef; give one of them'];
}

function* resourceFaults({ resources, at }: Container & { readonly at: string }): Generator<Found> {
  const { requests = {}, limits = {} } = resources ?? {};
  for (const [name, limit] of Object.entries(limits ?? {}))
    if (amount(requests?.[name]) > amount(limit))
      yield [
        `${at}.resources.requests[${name}]`,
        `${requests[name]} is above its limit, ${limit}, so no pod can start; raise the limit or lower the request`,
      ];
}

/** NaN if it is not valid, which the API server reports. */
const amount = (quantity: unknown): number => amountOf(String(quantity)) ?? Number.NaN;

function* variableFaults({ env, envFrom }: Container, isEtcd: boolean, at: string): Generator<Found> {
  const proxy = isEtcd && listOf(env).find(({ name }) => matches(owned.proxies, name));
  if (proxy) yield [`${at}.env[${proxy.name}]`, 'etcd would connect to the other members through the proxy; remove it'];
  const index = listOf(envFrom).findIndex(({ prefix }) => matches(owned.prefixes, prefix));
  if (index >= 0)
    yield [
      `${at}.envFrom[${index}].prefix`,
      'makes variables ETCD_…, which the agent and etcd read as options; choose another prefix',
    ];
}

function* mountFaults(
  { volumeMounts }: Container,
  volumes: readonly unknown[] | undefined,
  at: string,
): Generator<Found> {
  const mounts = listOf(volumeMounts);
  for (const [index, { name, mountPath }] of mounts.entries()) {
    const path = `${at}.volumeMounts[${mountPath}]`;
    const isTheirs = (volume: unknown) => !matches(owned.volumes, volume);
    const twin = mounts.slice(0, index).find((each) => each.mountPath === mountPath);
    // What is ours twice follows from fields that are reported.
    if (twin && (isTheirs(name) || isTheirs(twin.name)))
      yield [path, 'has the path of another mount; choose another path'];
    if (volumes?.includes(name) === false) yield [path, `there is no volume '${name}'; add it to volumes`];
  }
}

function* dataFaults({ volumeMounts }: Container, at: string): Generator<Found> {
  const mount = listOf(volumeMounts).find(({ name }) => name === 'data');
  if (mount)
    yield [
      `${at}.volumeMounts[${mount.mountPath}]`,
      'mounts the data of the member, which only etcd and its agent may touch; remove it',
    ];
}

function* spreadFaults(constraints: NonNullable<Pod['topologySpreadConstraints']>): Generator<Found> {
  const keyOf = ({ topologyKey, whenUnsatisfiable }: (typeof constraints)[number]) =>
    JSON.stringify([topologyKey, whenUnsatisfiable]);
  const twin = constraints.find((each, index) => constraints.findIndex((one) => keyOf(one) === keyOf(each)) < index);
  if (twin)
    yield [
      `spec.topologySpreadConstraints[${twin.topologyKey}]`,
      'is there twice; remove one of them, or give each another whenUnsatisfiable',
    ];
}

function* volumeFaults(volumes: NonNullable<Pod['volumes']>, isPart = false): Generator<Found> {
  for (const [index, { name, ...sources }] of volumes.entries()) {
    const at = `spec.volumes[${name}]`;
    const isOurs = matches(owned.volumes, name);
    if (volumes.findIndex((each) => each.name === name) < index)
      yield [at, 'has the name of another volume; choose another name'];
    const kinds = Object.keys(sources).filter((kind) => sources[kind] !== undefined && sources[kind] !== null);
    yield* nameFaults(name, at);
    if (kinds.length === 0 && !isOurs && !isPart) yield [at, 'has no source; add one, such as emptyDir: {}'];
    if (kinds.length > 1 && !matches('^store-', name)) yield [at, `has ${kinds.join(' and ')}; give only one of them`];
    const claim = sources.persistentVolumeClaim as { readonly claimName?: unknown } | undefined;
    if (matches(owned.claims, claim?.claimName))
      yield [
        at,
        `${claim?.claimName} is a claim with the data of a member, which only its pod may use; use another claim`,
      ];
  }
}

function* timeFaults(pod: Pod, target: AnyTarget): Generator<Found> {
  const { terminationGracePeriodSeconds: grace, activeDeadlineSeconds: deadline } = pod;
  const least = owned.leastGraceSeconds;
  if (typeof grace === 'number' && grace < least)
    yield ['spec.terminationGracePeriodSeconds', `${grace} is too short for the pod to end; give at least ${least}`];
  if (deadline !== undefined)
    yield [
      'spec.activeDeadlineSeconds',
      `would end the pod while it works; ${target === 'BackupPods' ? 'use activeDeadline of the schedule instead' : 'remove it'}`,
    ];
}

/** The keys on the node belong to root, and the DNS of the cluster needs the etcd that is backed up. */
function* nodeFaults({ containers, securityContext, dnsPolicy }: Pod): Generator<Found> {
  const own = listOf(containers).find(({ name }) => name === 'backup')?.securityContext;
  const user = own?.runAsUser ?? securityContext?.runAsUser;
  if (user !== 0 || (own?.runAsNonRoot ?? securityContext?.runAsNonRoot) === true)
    yield [
      `spec${own?.runAsUser === undefined ? '' : '.containers[backup]'}.securityContext`,
      'must have runAsUser: 0, because the keys on the node belong to root; correct it',
    ];
  if (dnsPolicy !== 'Default' && dnsPolicy !== 'None')
    yield [
      'spec.dnsPolicy',
      `must be Default or None, because the DNS of the cluster is down when etcd has to be restored; correct it`,
    ];
}
