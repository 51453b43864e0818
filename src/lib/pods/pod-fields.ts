// What a resource says of its pods, in the pods. This file imports only types: the constructs use it at synthesis and the
// reconciler uses it at run time.
import type {
  AgentContainerSpec,
  BackupScheduleSpec,
  EtcdClusterSpec,
  EtcdContainerSpec,
} from '../../resource/types.ts';

type Values = Readonly<Record<string, unknown>>;

/** The fields of a resource that its pods have. A resource may have some of them only. */
export interface PodFields
  extends Pick<
    EtcdClusterSpec,
    | 'affinity'
    | 'topologySpreadConstraints'
    | 'schedulerName'
    | 'runtimeClassName'
    | 'hostAliases'
    | 'dnsPolicy'
    | 'dnsConfig'
    | 'securityContext'
    | 'terminationGracePeriodSeconds'
    | 'volumes'
    | 'initContainers'
    | 'sidecars'
    | 'podLabels'
    | 'podAnnotations'
  > {}

/** The fields of one container. */
export interface ContainerFields extends Partial<EtcdContainerSpec & AgentContainerSpec> {}

/** The parts of a PodTemplateSpec that the fields change. */
interface Template {
  readonly metadata?: { readonly labels?: object; readonly annotations?: object };
  readonly spec: Pod;
}

interface Pod {
  readonly affinity?: Affinity;
  readonly topologySpreadConstraints?: readonly Values[];
  readonly volumes?: readonly object[];
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
}

interface Affinity {
  readonly nodeAffinity?: object;
  readonly podAffinity?: object;
}

interface Container {
  readonly name: string;
  readonly env?: readonly object[];
  readonly volumeMounts?: readonly object[];
}

/**
 * Returns a pod template with the fields of its resource: the only way from these fields to a pod.
 *
 * @param template the pod as it is without them
 * @param containers the fields of its containers, by their names
 */
export function withPodFields<T extends object>(
  template: T,
  fields: PodFields,
  containers: Readonly<Record<string, ContainerFields | undefined>> = {},
): T {
  const { metadata = {}, spec } = template as unknown as Template;
  const { podLabels, podAnnotations, affinity, topologySpreadConstraints, volumes, initContainers, sidecars } = fields;
  const complete = (container: Container) => withContainerFields(container, containers[container.name] ?? {});
  return {
    ...template,
    metadata: given({
      ...metadata,
      labels: podLabels ? { ...metadata.labels, ...podLabels } : metadata.labels,
      annotations: podAnnotations ? { ...metadata.annotations, ...podAnnotations } : metadata.annotations,
    }),
    spec: {
      ...spec,
      ...given({
        schedulerName: fields.schedulerName,
        runtimeClassName: fields.runtimeClassName,
        hostAliases: fields.hostAliases,
        dnsPolicy: fields.dnsPolicy,
        dnsConfig: fields.dnsConfig,
        securityContext: fields.securityContext,
        terminationGracePeriodSeconds: fields.terminationGracePeriodSeconds,
        affinity: affinity && withAffinity(affinity, spec.affinity),
        topologySpreadConstraints: withConstraints(spec.topologySpreadConstraints, topologySpreadConstraints),
        volumes: added(spec.volumes, volumes),
        initContainers: added(initContainers as readonly Container[] | undefined, spec.initContainers?.map(complete)),
        containers: added(spec.containers.map(complete), sidecars),
      }),
    },
  };
}

/** Fields of a schedule, an EtcdBackup or an EtcdRestore that its Jobs have. */
export interface JobFields extends PodFields, Pick<BackupScheduleSpec, 'container' | 'ttlSecondsAfterFinished'> {}

/** Returns the spec of a Job that runs the container `backup` with the fields of a schedule. */
export function withJobFields(job: object, { container, ttlSecondsAfterFinished, ...fields }: JobFields): object {
  const { template } = job as { readonly template: object };
  return {
    ...job,
    ...given({ ttlSecondsAfterFinished }),
    template: withPodFields(template, fields, { backup: container }),
  };
}

/** A node that the pod must be on for its own reasons is not negotiable. */
const withAffinity = (affinity: Values, { nodeAffinity, ...own }: Affinity = {}): object => ({
  ...own,
  ...affinity,
  ...(nodeAffinity && { nodeAffinity: { ...(affinity.nodeAffinity as object | undefined), ...nodeAffinity } }),
});

/** Kubernetes refuses two with the same key and the same action. The given one replaces that of `spread`. */
function withConstraints(own: readonly Values[] | undefined, more: readonly Values[] | undefined) {
  const isSame = (one: Values, other: Values) =>
    one.topologyKey === other.topologyKey && one.whenUnsatisfiable === other.whenUnsatisfiable;
  return added(
    own?.filter((each) => !more?.some((other) => isSame(each, other))),
    more,
  );
}

type Probe = 'startupProbe' | 'livenessProbe' | 'readinessProbe';
const probes: readonly Probe[] = ['startupProbe', 'livenessProbe', 'readinessProbe'];

function withContainerFields(container: Container, fields: ContainerFields): Container {
  const { env, envFrom, securityContext, volumeMounts } = fields;
  const timed = probes.filter((probe) => fields[probe]);
  const own = container as unknown as Readonly<Record<Probe, object | undefined>>;
  return {
    ...container,
    ...given({
      env: added(container.env, env),
      envFrom,
      securityContext,
      volumeMounts: added(container.volumeMounts, volumeMounts),
    }),
    ...Object.fromEntries(timed.map((probe) => [probe, { ...own[probe], ...fields[probe] }])),
  };
}

/** What is not there stays not there. */
const added = <Item extends object>(first?: readonly Item[], second?: readonly (Item | Values)[]) =>
  first || second ? ([...(first ?? []), ...(second ?? [])] as readonly Item[]) : undefined;

/** The fields that have a value. */
export const given = <Given extends object>(values: Given): Given =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given;
