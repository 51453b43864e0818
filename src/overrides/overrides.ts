import type { BackupOverrideSpec, JobOverrideSpec, OverrideSpec, ReconcilerOverrideSpec } from '../resource/types';
import { nearest } from '../validation/nearest';
import { kubernetesTypes } from './kubernetes-types';
import { type AnyTarget, type Fault, fieldOf, isOfSchema, ownedProblem, type Pods, podFault } from './owned-fields';
import { changes, isData, merged, patchProblem, pathOf, shapeOf, storable } from './strategic-merge';

/** Selects the objects that an `ObjectOverride` changes. */
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
  /** Selects the PersistentVolumeClaims of the members. Its overrides cannot be changed once the cluster exists. */
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
export interface ObjectOverride {
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
  /** The type of Kubernetes. */
  readonly type: string;
  /** The part of the object. `*`: each item of a list. */
  readonly path?: readonly string[];
  /** The ids of the objects. */
  readonly ids?: RegExp;
}

const template = 'PodTemplateSpec';
const places: Readonly<Record<AnyTarget, Place>> = {
  MemberPods: { kind: 'StatefulSet', type: template, path: ['spec', 'template'] },
  BackupPods: { kind: 'CronJob', type: template, path: ['spec', 'jobTemplate', 'spec', 'template'] },
  ReconcilerPods: { kind: 'Deployment', type: template, path: ['spec', 'template'] },
  Claims: { kind: 'StatefulSet', type: 'PersistentVolumeClaim', path: ['spec', 'volumeClaimTemplates', '*'] },
  StatefulSet: { kind: 'StatefulSet', type: 'StatefulSet' },
  Services: { kind: 'Service', type: 'Service' },
  ClientService: { kind: 'Service', type: 'Service', ids: /^ClientService$/ },
  MemberServices: { kind: 'Service', type: 'Service', ids: /^MemberService\d$/ },
  PeerService: { kind: 'Service', type: 'Service', ids: /^PeerService$/ },
  PodDisruptionBudget: { kind: 'PodDisruptionBudget', type: 'PodDisruptionBudget' },
  ServiceAccounts: { kind: 'ServiceAccount', type: 'ServiceAccount' },
  CronJobs: { kind: 'CronJob', type: 'CronJob' },
  Deployment: { kind: 'Deployment', type: 'Deployment' },
};

/** Writes overrides as resources have them. */
export const overrideSpecs = <Spec>(overrides: readonly ObjectOverride[] | undefined): Spec[] | undefined =>
  overrides?.map(({ target, patch }) => ({ target, patch: storable(patch) })) as Spec[] | undefined;

type AnyOverride = OverrideSpec | BackupOverrideSpec | JobOverrideSpec | ReconcilerOverrideSpec | ObjectOverride;

interface Overridden<M> {
  readonly manifests: Map<string, M>;
  /** An override that has a problem changes nothing. */
  readonly problems: readonly string[];
}

/** What is known of the objects. */
interface Known extends Pick<Pods, 'isOnNode'> {
  /** The targets that are possible. Undefined: the schema says it. */
  readonly targets?: readonly AnyTarget[];
  /** True if the reconciler makes Jobs with the same overrides, which have other resources. */
  readonly hasJobs?: boolean;
  /** The id of a CronJob that there is not: it has the pods of such Jobs. */
  readonly sample?: string;
}

/** Applies overrides to objects by the ids of their constructs, one after the other. */
export function overridden<M extends { readonly kind: string }>(
  before: ReadonlyMap<string, M>,
  overrides: readonly AnyOverride[] = [],
  known: Known = {},
): Overridden<M> {
  const { targets } = known;
  let manifests = new Map(before);
  const problems: string[] = [];
  for (const [index, override] of overrides.entries()) {
    const target = override.target as AnyTarget;
    if (targets && !targets.includes(target)) {
      problems.push(`overrides[${index}].target: '${target}' is not one of ${targets.join(', ')}; use one of these`);
      continue;
    }
    const found = Object.hasOwn(places, target) && applied(manifests, target, override.patch, known);
    // Another target is reported elsewhere.
    if (typeof found === 'string') problems.push(`overrides[${index}].${found}`);
    else if (found) manifests = found;
  }
  return { manifests, problems };
}

/** Returns the objects with the patch, or what is wrong with it. */
function applied<M extends { readonly kind: string }>(
  before: ReadonlyMap<string, M>,
  target: AnyTarget,
  patch: unknown,
  { isOnNode, hasJobs, sample }: Known,
): Map<string, M> | string {
  const { kind, type, path = [], ids } = places[target];
  const shape = shapeOf(kubernetesTypes, type, nearest);
  const wrong = patchProblem(patch, shape, 'patch');
  if (wrong) return wrong;
  const after = new Map(before);
  const problems: string[] = [];
  const differing = (part: unknown) => [...changes(part, merged(part, patch, shape), shape)];
  let [isThere, isChanged] = [false, false];
  for (const [id, manifest] of before) {
    if (manifest.kind !== kind || (ids && !ids.test(id))) continue;
    if (id === sample && target !== 'BackupPods') continue;
    const known = { target: target === 'Services' && id === 'PeerService' ? id : target, isOnNode };
    const change = (part: unknown) => {
      const result = merged(part, patch, shape);
      const all = differing(part);
      const problem =
        ownedProblem(known, all, (steps) => `patch.${pathOf(steps)}`) ??
        (type === template ? newFault(part, result, known) : undefined);
      if (problem) problems.push(problem);
      isThere = true;
      isChanged ||=
        all.length > 0 || (hasJobs === true && type === template && differing(withoutResources(part)).length > 0);
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

/** What was wrong before is not the fault of the override. */
function newFault(before: unknown, after: unknown, known: Pods): string | undefined {
  const [old, fault] = [podFault(before, known), podFault(after, known)];
  if (!fault || (old?.at === fault.at && old.says === fault.says)) return undefined;
  return `patch.${fault.at}: ${fault.says}`;
}

const withoutResources = (template: unknown): unknown =>
  changedAt(template, ['spec', 'containers', '*'], (container) => ({ ...(container as object), resources: undefined }));

/** The first mistake that fields of a resource make in its pods, with the field. */
export function podFieldProblems(manifests: Iterable<{ readonly kind: string }>, known: Pods): string[] {
  const { kind, path = [] } = places[known.target];
  const found: Fault[] = [];
  const look = (template: unknown) => {
    const fault = podFault(template, known);
    if (fault && !isOfSchema(fault)) found.push(fault);
  };
  for (const manifest of manifests) if (manifest.kind === kind) changedAt(manifest, path, look);
  return found.map(({ at, says }) => `${fieldOf(at, known)}: ${says}`);
}
