// Which spec the manifests of a cluster were made from: the reconciler finds a spec that was changed without them.
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { completeResources } from '../../lib/backup-pod.ts';
import { storable } from '../../overrides/strategic-merge.ts';
import { defaults } from '../../resource/defaults.ts';
import type { EtcdClusterSpec, TlsSpec } from '../../resource/types.ts';
import { withDefaultNames } from '../../tls/default-names.ts';

/** A resource, or what is known of it. */
interface Cluster {
  readonly metadata: { readonly name: string };
  readonly spec: EtcdClusterSpec;
}

/** Annotation of the StatefulSet. Its pods do not have it, so no change of it restarts them. */
export const madeFromAnnotation = 'cdk8s-etcd.dev/made-from';

/** Increase it whenever another string follows from the same spec: strings of different formats are not compared. */
const format = '1';

/** Returns each field on which the manifests depend, with a hash of its value: `format=1,labels=1b2c3d4e,storage=5f607182`. */
export function madeFrom({ metadata: { name }, spec }: Cluster): string {
  const fields = Object.entries(fieldsOf(name, withoutDefaults(spec, implied) as EtcdClusterSpec))
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${hash(value)}`);
  return [`format=${format}`, ...fields.sort()].join(',');
}

/** Returns the fields that are not as in the spec that the manifests were made from. */
export function changedFields(before: string, now: string): string[] {
  const [old, present] = [parsed(before), parsed(now)];
  if (old.get('format') !== present.get('format')) return [];
  const names = [...new Set([...old.keys(), ...present.keys()])].sort();
  return names.filter((name) => old.get(name) !== present.get(name) && old.get(name) !== anything);
}

const parsed = (source: string): Map<string, string> =>
  new Map(source.split(',').map((each) => each.split('=') as [string, string]));

/** Drops each default that is written out. */
function withoutDefaults(value: unknown, usually: unknown): unknown {
  if (usually === undefined) return value;
  if (!isObject(value) || !isObject(usually)) return isDeepStrictEqual(value, usually) ? undefined : value;
  const entries = Object.entries(value).map(([name, each]) => [name, withoutDefaults(each, usually[name])] as const);
  const rest = entries.filter(([, each]) => each !== undefined);
  return rest.length > 0 ? Object.fromEntries(rest) : undefined;
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * What the reconciler carries out without other manifests is left out. So is the version, which it compares with that of the template. New
 * endpoints in a CronJob do not count, unless it had only one.
 */
function fieldsOf(cluster: string, spec: EtcdClusterSpec): Readonly<Record<string, unknown>> {
  const { size = usual.size, storage, protect, spread, externalServices, reconciler = {}, ...others } = spec;
  const { tls, pvcPolicy, backup, overrides, monitoring, ...rest } = others;
  const { serviceAccountName, name = serviceAccountName ?? usual.reconciler.serviceAccountName } = reconciler;
  const schedules = backup?.schedules?.map((each) => withoutDefaults(each, defaults.BackupScheduleSpec));
  const hasSchedules = schedules !== undefined && schedules.length > 0;
  const { alsoTrust, ...source } = tls ? withDefaultNames(cluster, tls) : {};
  return {
    ...Object.fromEntries(Object.entries(rest).filter(([field]) => !carriedOut.includes(field))),
    ...{ storage, externalServices, 'reconciler.serviceAccountName': serviceAccountName },
    protect: protect === !storage?.ephemeral ? undefined : protect,
    resources: withoutDefaults(completeResources(spec.resources ?? {}, usual.resources), usual.resources),
    spread: isDeepStrictEqual(spread, usual.spread) ? undefined : spread,
    monitoring: monitoring && { name, ...(withoutDefaults(monitoring, defaults.ClusterMonitoringSpec) as object) },
    // One for each member.
    size: externalServices ? size : hasSchedules ? Math.min(size, 2) : undefined,
    tls: tls && {
      ...sourceOf(source),
      disabling: undefined,
      acceptPlaintextFor: undefined,
      alsoTrust: alsoTrust && sourceOf(alsoTrust),
    },
    // Its right to delete the record.
    'pvcPolicy.onDelete': pvcPolicy?.onDelete,
    'backup.schedules': hasSchedules ? schedules : undefined,
    overrides: overrides?.map(({ target, patch }) => ({ target, patch: storable(patch) })),
  };
}

const usual = defaults.EtcdClusterSpec;

/** Without those that are not of each field by itself, and those that are in an object only if they are given. */
const { resources: _, spread: __, imagePullPolicy, revisionHistoryLimit, ...implied } = usual;

const carriedOut: readonly string[] = [
  'version',
  'allowEvenSize',
  'paused',
  'auth',
  'replace',
  'origin',
  'recovery',
  'finalBackup',
  'maintenance',
] satisfies (keyof EtcdClusterSpec)[];

/** The reconciler issues and rotates the certificates; the manifests have only the Secrets. */
function sourceOf<Source extends Pick<TlsSpec, 'managed'>>(source: Source): Source {
  const { peerAuthority, clientAuthority } = source.managed ?? {};
  return { ...source, managed: source.managed && { peerAuthority, clientAuthority } };
}

/** What replaces such a variable after synthesis replaces it in the objects too, but cannot in a hash. */
const anything = '*';

function hash(value: unknown): string {
  const text = JSON.stringify(value, inOrder);
  return text.includes('${') ? anything : createHash('sha256').update(text).digest('hex').slice(0, 8);
}

/** An API server returns fields in another order, and none that is null. */
function inOrder(_: string, value: unknown): unknown {
  if (!isObject(value)) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
