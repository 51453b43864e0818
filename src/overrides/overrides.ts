import type { BackupOverrideSpec, JobOverrideSpec, OverrideSpec, ReconcilerOverrideSpec } from '../resource/types';
import { nearest } from '../validation/nearest';
import { ownedProblem, type Target } from './owned-fields';
import { changes, isData, merged, patchProblem, type Shape, shapes, storable } from './strategic-merge';

/** Selects the objects that an `Override` changes. */
export enum OverrideTarget {
  /** Selects the pods of the members: the patch is one of a pod template, with `metadata` and `spec`. */
  MEMBER_PODS = 'MemberPods',
  /**
   * Selects the pods of scheduled backups, and those of every Job of the reconciler, such as restores, and backups before
   * an upgrade or a deletion: the patch is one of a pod template.
   */
  BACKUP_PODS = 'BackupPods',
  /** Selects the pods of an `EtcdReconciler`: the patch is one of a pod template. */
  RECONCILER_PODS = 'ReconcilerPods',
  /** Selects the PersistentVolumeClaims of the members. A change takes effect only when the cluster is created. */
  CLAIMS = 'Claims',
  /** Selects the StatefulSet of the members, without its pods and claims. */
  STATEFUL_SET = 'StatefulSet',
  /** Selects all Services of a cluster, or that of an `EtcdReconciler`. */
  SERVICES = 'Services',
  /** Selects the Service that leads clients to all ready members. */
  CLIENT_SERVICE = 'ClientService',
  /** Selects the Services for clients, one for each possible member. */
  MEMBER_SERVICES = 'MemberServices',
  /** Selects the Service by which the members find each other. */
  PEER_SERVICE = 'PeerService',
  /** Selects the PodDisruptionBudget of the members. */
  POD_DISRUPTION_BUDGET = 'PodDisruptionBudget',
  /** Selects the ServiceAccounts of the members and of the schedules, or that of an `EtcdReconciler`. */
  SERVICE_ACCOUNTS = 'ServiceAccounts',
  /** Selects the CronJobs of the schedules, without their pods. */
  CRON_JOBS = 'CronJobs',
  /** Selects the Deployment of an `EtcdReconciler`, without its pods. */
  DEPLOYMENT = 'Deployment',
}

/** Configures a change of objects that comes after everything else. */
export interface Override {
  /** Selects the objects. */
  readonly target: OverrideTarget;
  /**
   * Holds the fields to change, as a strategic merge patch of Kubernetes does: an item of a list such as `containers` or
   * `env` is found by its name, and other lists are replaced. `null` deletes a field. An item with its name and
   * `$patch: 'delete'` deletes that item.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the type for arbitrary values in jsii
  readonly patch: { readonly [field: string]: any };
}

/** Where the objects of a target are. */
interface Place {
  readonly kind: string;
  readonly shape: Shape;
  /** The part of the object. `*`: each item of a list. */
  readonly path?: readonly string[];
  /** The ids of the objects. */
  readonly ids?: RegExp;
}

const places: Readonly<Record<Target, Place>> = {
  MemberPods: { kind: 'StatefulSet', shape: shapes.PodTemplate, path: ['spec', 'template'] },
  BackupPods: { kind: 'CronJob', shape: shapes.PodTemplate, path: ['spec', 'jobTemplate', 'spec', 'template'] },
  ReconcilerPods: { kind: 'Deployment', shape: shapes.PodTemplate, path: ['spec', 'template'] },
  Claims: { kind: 'StatefulSet', shape: shapes.PersistentVolumeClaim, path: ['spec', 'volumeClaimTemplates', '*'] },
  StatefulSet: { kind: 'StatefulSet', shape: shapes.StatefulSet },
  Services: { kind: 'Service', shape: shapes.Service },
  ClientService: { kind: 'Service', shape: shapes.Service, ids: /^ClientService$/ },
  MemberServices: { kind: 'Service', shape: shapes.Service, ids: /^MemberService\d$/ },
  PeerService: { kind: 'Service', shape: shapes.Service, ids: /^PeerService$/ },
  PodDisruptionBudget: { kind: 'PodDisruptionBudget', shape: shapes.PodDisruptionBudget },
  ServiceAccounts: { kind: 'ServiceAccount', shape: shapes.ServiceAccount },
  CronJobs: { kind: 'CronJob', shape: shapes.CronJob },
  Deployment: { kind: 'Deployment', shape: shapes.Deployment },
};

/** Writes overrides as resources have them. */
export const overrideSpecs = <Spec>(overrides: readonly Override[] | undefined): Spec[] | undefined =>
  overrides?.map(({ target, patch }) => ({ target, patch: storable(patch) })) as Spec[] | undefined;

type AnyOverride = OverrideSpec | BackupOverrideSpec | JobOverrideSpec | ReconcilerOverrideSpec | Override;

interface Overridden<M> {
  readonly manifests: Map<string, M>;
  /** An override that has a problem changes nothing. */
  readonly problems: readonly string[];
}

/**
 * Applies overrides to objects by the ids of their constructs, one after the other.
 *
 * @param targets those that are possible here. Undefined: the schema says it.
 */
export function overridden<M extends { readonly kind: string }>(
  before: ReadonlyMap<string, M>,
  overrides: readonly AnyOverride[] = [],
  targets?: readonly Target[],
): Overridden<M> {
  let manifests = new Map(before);
  const problems: string[] = [];
  for (const [index, override] of overrides.entries()) {
    const target = override.target as Target;
    if (targets && !targets.includes(target)) {
      problems.push(`overrides[${index}].target: '${target}' is not one of ${targets.join(', ')}; use one of these`);
      continue;
    }
    const found = Object.hasOwn(places, target) && applied(manifests, target, override.patch);
    // Another target is reported elsewhere.
    if (typeof found === 'string') problems.push(`overrides[${index}].${found}`);
    else if (found) manifests = found;
  }
  return { manifests, problems };
}

/** Returns the objects with the patch, or what is wrong with it. */
function applied<M extends { readonly kind: string }>(
  before: ReadonlyMap<string, M>,
  target: Target,
  patch: unknown,
): Map<string, M> | string {
  const { kind, shape, path = [], ids } = places[target];
  const wrong = patchProblem(patch, shape, 'patch');
  if (wrong) return wrong;
  const after = new Map(before);
  const problems: string[] = [];
  let [isThere, isChanged] = [false, false];
  for (const [id, manifest] of before) {
    if (manifest.kind !== kind || (ids && !ids.test(id))) continue;
    const change = (part: unknown) => {
      const result = merged(part, patch, shape);
      const all = [...changes(part, result, shape)];
      const problem =
        ownedProblem(target === 'Services' && id === 'PeerService' ? id : target, all, 'patch') ??
        (shape === shapes.PodTemplate ? podProblem(part, result) : undefined);
      if (problem) problems.push(problem);
      isThere = true;
      isChanged ||= all.length > 0;
      return result;
    };
    after.set(id, changedAt(manifest, path, change) as M);
  }
  if (problems[0]) return problems[0];
  if (!isThere) return `patch: changes nothing, because there is no object of ${target}; remove it`;
  if (!isChanged) return `patch: changes nothing, because ${target} already has all of it; correct or remove it`;
  return after;
}

function changedAt(value: unknown, [name, ...rest]: readonly string[], change: (part: unknown) => unknown): unknown {
  if (name === undefined) return change(value);
  if (name === '*') return Array.isArray(value) ? value.map((item) => changedAt(item, rest, change)) : value;
  if (!isData(value) || value[name] === undefined) return value;
  return { ...value, [name]: changedAt(value[name], rest, change) };
}

interface Pod {
  readonly initContainers?: readonly Container[];
  readonly containers?: readonly Container[];
  readonly volumes?: readonly { readonly name: string }[];
}

interface Container {
  readonly name: string;
  readonly image?: unknown;
  readonly volumeMounts?: readonly { readonly name?: string; readonly mountPath: string }[];
}

const specOf = (template: unknown): Pod => (isData(template) && isData(template.spec) ? template.spec : {});
const lists = ['initContainers', 'containers'] as const;
const containersOf = (pod: Pod) => lists.flatMap((list) => pod[list] ?? []);

/** What is incomplete in the pods: a name that is misspelt adds what it names. */
function podProblem(before: unknown, after: unknown): string | undefined {
  const [old, pod] = [specOf(before), specOf(after)];
  const known = containersOf(old).map(({ name }) => name);
  const volumesOf = ({ volumes = [] }: Pod) => volumes.map(({ name }) => name);
  const mounted = containersOf(old).flatMap(({ volumeMounts = [] }) => volumeMounts.map(({ name }) => name ?? ''));
  const claims = mounted.filter((name) => !volumesOf(old).includes(name));
  const volumes = new Set<string | undefined>([...claims, ...volumesOf(pod)]);
  for (const list of lists) {
    for (const { name, image, volumeMounts = [] } of pod[list] ?? []) {
      const at = `patch.spec.${list}[${name}]`;
      if (image === undefined) return `${at}: has no image; ${meant(name, known)}`;
      const lost = volumeMounts.find((each) => !volumes.has(each.name));
      if (lost)
        return `${at}.volumeMounts[${lost.mountPath}]: there is no volume '${lost.name}'; add it to spec.volumes`;
    }
  }
  for (const { name, ...sources } of pod.volumes ?? []) {
    const kinds = Object.entries(sources).flatMap(([kind, value]) => (value === undefined ? [] : [kind]));
    const at = `patch.spec.volumes[${name}]`;
    if (kinds.length === 0) return `${at}: has no source; add one, such as emptyDir: {}`;
    if (kinds.length > 1) return `${at}: has ${kinds.join(' and ')}; delete one of them with null`;
  }
  return undefined;
}

function meant(name: string, known: readonly string[]): string {
  const found = nearest(name, known);
  const all = `the containers are ${known.join(', ')}`;
  return found && found !== name
    ? `did you mean ${found}?`
    : `give one to add the container, or correct its name: ${all}`;
}
