// Which spec the manifests of a cluster were made from: the reconciler finds a spec that was changed without them.
import { createHash } from 'node:crypto';
import { defaults } from './defaults.ts';
import type { EtcdClusterSpec, TlsSpec } from './types.ts';

/** Annotation of the StatefulSet. Its pods do not have it, so no change of it restarts them. */
export const madeFromAnnotation = 'cdk8s-etcd.dev/made-from';

/** Returns each field on which the manifests depend, with a hash of its value: `labels=1b2c3d4e,storage=5f607182`. */
export function madeFrom(spec: EtcdClusterSpec): string {
  return Object.entries(fieldsOf(spec))
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${hash(value)}`)
    .sort()
    .join(',');
}

/** Returns the fields that are not as in the spec that the manifests were made from. */
export function changedFields(before: string, now: string): string[] {
  const [old, present] = [before.split(','), now.split(',')];
  const differing = [
    ...old.filter((each) => !present.includes(each)),
    ...present.filter((each) => !old.includes(each)),
  ];
  return [...new Set(differing.map((each) => each.split('=')[0]!))].filter(Boolean).sort();
}

/**
 * What the reconciler carries out without other manifests is left out. So is the version, which it compares with that of the template. A
 * default that the API server fills in does not count, and no new endpoint in a CronJob: the others suffice.
 */
function fieldsOf(spec: EtcdClusterSpec): Readonly<Record<string, unknown>> {
  const { size = usual.size, tls, storage, pvcPolicy, backup, externalServices, reconciler, ...others } = spec;
  const { serviceAccountName = usual.reconciler.serviceAccountName, name = serviceAccountName } = reconciler ?? {};
  const rest = Object.entries(others).filter(([name]) => !carriedOut.includes(name));
  const { alsoTrust } = tls ?? {};
  return {
    ...Object.fromEntries(rest),
    reconciler: { serviceAccountName, name },
    externalServices,
    // One for each member.
    size: externalServices && size,
    tls: tls && {
      ...sourceOf(tls),
      disabling: undefined,
      acceptPlaintextFor: undefined,
      alsoTrust: alsoTrust && sourceOf(alsoTrust),
    },
    storage: storage && { ...storage, ephemeral: storage.ephemeral || undefined },
    // Its right to delete the record.
    'pvcPolicy.onDelete': pvcPolicy?.onDelete === 'Delete' || undefined,
    'backup.schedules': backup?.schedules?.length ? backup.schedules : undefined,
  };
}

const usual = defaults.EtcdClusterSpec;

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

const hash = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value, inOrder)).digest('hex').slice(0, 8);

/** An API server returns fields in another order, and none that is null. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const entries = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
