// Which spec the manifests of a cluster were made from: the reconciler finds a spec that was changed without them.
import { createHash } from 'node:crypto';
import { defaults } from '../../resource/defaults.ts';
import type { EtcdClusterSpec, TlsSpec } from '../../resource/types.ts';
import { canonical } from '../../validation/plain-object.ts';

/** Annotation of the StatefulSet. Its pods do not have it, so no change of it restarts them. */
export const madeFromAnnotation = 'cdk8s-etcd.dev/made-from';

/** Increase it whenever another string follows from the same spec: strings of different formats are not compared. */
const format = '1';

/** Returns each field on which the manifests depend, with a hash of its text: `format=1,labels=1b2c3d4e,storage=5f607182`. */
export function madeFrom(spec: EtcdClusterSpec): string {
  const fields = Object.entries(fieldsOf(spec))
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${hash(value)}`);
  return [`format=${format}`, ...fields.sort()].join(',');
}

/** Returns the fields that are not as in the spec that the manifests were made from, even if they mean the same. */
export function changedFields(before: string, now: string): string[] {
  const [old, present] = [parsed(before), parsed(now)];
  if (old.get('format') !== present.get('format')) return [];
  const names = [...new Set([...old.keys(), ...present.keys()])].sort();
  const changed = names.filter((name) => old.get(name) !== present.get(name) && old.get(name) !== anything);
  // Where the size is in only one of them, the field to which it matters is new or gone.
  return changed.filter((name) => name !== 'size' || (old.has(name) && present.has(name)));
}

const parsed = (source: string): Map<string, string> =>
  new Map(source.split(',').map((each) => each.split('=') as [string, string]));

/**
 * What the reconciler carries out without other manifests is left out. So are the version, which it compares with that of the template, and
 * the defaults that the API server fills in.
 */
function fieldsOf(spec: EtcdClusterSpec): Readonly<Record<string, unknown>> {
  const { size = usual.size, tls, storage, pvcPolicy, backup, externalServices, ...others } = spec;
  const rest = Object.entries(others).filter(([name]) => !carriedOut.includes(name));
  return {
    ...Object.fromEntries(rest),
    externalServices,
    // One Service for each member.
    size: externalServices && size,
    tls: tls && sourceOf(tls),
    'tls.alsoTrust': tls?.alsoTrust && sourceOf(tls.alsoTrust),
    storage: storage && { ...storage, ephemeral: storage.ephemeral || undefined },
    // Its right to delete the record.
    'pvcPolicy.onDelete': pvcPolicy?.onDelete === 'Delete' || undefined,
    // New members are no reason to ask its CronJob for other endpoints.
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

/** The reconciler issues and rotates the certificates, and switches TLS; the manifests have only the Secrets. */
function sourceOf({ managed, disabling, acceptPlaintextFor, alsoTrust, ...source }: TlsSpec): object {
  const { peerAuthority, clientAuthority } = managed ?? {};
  return { ...source, managed: managed && { peerAuthority, clientAuthority } };
}

/** What replaces a variable after synthesis replaces it in the objects too, but cannot in a hash. */
const anything = '*';

function hash(value: unknown): string {
  const text = canonical(value);
  return text.includes('${') ? anything : createHash('sha256').update(text).digest('hex').slice(0, 8);
}
