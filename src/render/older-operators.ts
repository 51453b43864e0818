import { clientServiceName } from '../etcd/client-service-name';
import { newestPatches, oldestPatches } from '../lib/defaults';
import { defaults } from '../resource/defaults';
import type { EtcdClusterSpec } from '../resource/types';
import type { Document } from './documents';
import type { Fields } from './fields';
import type { OldCluster } from './plan';

export type Images = Pick<EtcdClusterSpec, 'version' | 'image'>;

/** Where the fields of the resource come from in the document: the first pattern counts, and may have groups. */
export type OldFields = readonly (readonly [path: RegExp, field: string])[];

export function oldField(fields: OldFields, path: string): string {
  const [pattern, field] = fields.find(([each]) => each.test(path)) ?? [/^spec[.]?/, ''];
  return path.replace(pattern, field);
}

/** Reads `size` of an older operator's cluster. */
export function oldSize({ spec, report }: Document): Pick<EtcdClusterSpec, 'size' | 'allowEvenSize'> {
  const size = spec.integer('size');
  if (size === undefined) {
    const { size: usual } = defaults.EtcdClusterSpec;
    report.note('spec.size', `is missing; it becomes ${usual}`);
    return { size: usual };
  }
  if (size % 2 !== 0) return { size };
  report.note('spec.size', `${size} members survive no more failures than ${size - 1}; prefer an odd size`);
  return { size, allowEvenSize: true };
}

/** Adds the notes for a move from another operator's cluster. */
export function noteMove({ name, report }: Document, objects: string, clientHost: string): void {
  report.note(
    'metadata.name',
    `the old cluster has ${objects} '${name}', and so does the new one; apply this to another namespace (--namespace), or after the old cluster has been deleted`,
  );
  report.note(
    'metadata.name',
    `clients reach the new cluster at ${clientServiceName(`${name}-0`)}:2379 and so on, or at ${name}:2379, and no longer at ${clientHost}`,
  );
}

/** Recognizes the names by which clients reach a cluster: `host`, `host.NAMESPACE`, `host.NAMESPACE.svc…`. */
export function hostsOf(document: Document, isHost: (host: string) => boolean): OldCluster {
  const suffix = /\.(?<namespace>[^.]+)(?:\.svc(?:\..+)?)?$/;
  return {
    isEndpoint(endpoint) {
      const [, name] = /^(?:https?:\/\/)?([^/:]+)(?::\d+)?\/?$/.exec(endpoint) ?? [];
      if (name === undefined) return false;
      if (isHost(name)) return true;
      const namespace = suffix.exec(name)?.groups?.namespace;
      const own = document.namespace === undefined || namespace === document.namespace;
      return own && isHost(name.replace(suffix, ''));
    },
  };
}

export interface SupportedVersion {
  readonly version: string;
  /** Note for the user if it is not the requested version. */
  readonly note?: string;
}

const lowestMinor = Object.keys(newestPatches)[0] as keyof typeof newestPatches;

/**
 * Returns the version itself, or the oldest supported version if it is older. Returns undefined if it is not a version
 * of etcd 3 up to the newest supported minor version.
 */
export function supportedVersion(text: string): SupportedVersion | undefined {
  const [, minorText, patchText, more] = /^v?3\.(\d+)(?:\.(\d+)(-.*)?)?$/.exec(text) ?? [];
  if (minorText === undefined) return undefined;
  const minor = `3.${minorText}`;
  const oldest = oldestPatches[minor];
  if (oldest === undefined) return isOlder(minor) ? moved(text, lowestMinor, olderMinor(minor)) : undefined;
  const isPreRelease = /^-(alpha|beta|rc)/.test(more ?? '');
  if (patchText === undefined || isPreRelease || Number(patchText) < Number(oldest.split('.')[2])) {
    return moved(text, minor as keyof typeof newestPatches, '');
  }
  return { version: `${minor}.${patchText}` };
}

function moved(text: string, minor: keyof typeof newestPatches, advice: string): SupportedVersion {
  const version = oldestPatches[minor]!;
  const note = `${text} is older than ${version}, the oldest supported version of ${minor}, and becomes ${version}; prefer ${newestPatches[minor]}, the newest`;
  return { version, note: `${note}${advice}` };
}

function olderMinor(minor: string): string {
  const path = `. Members cannot be upgraded in place from ${minor}: a backup and a restore carry the data over`;
  if (minor === '3.4') return path;
  return `${path}. Restores are tested from 3.4 on: upgrade the old cluster to 3.4 first, one minor version at a time`;
}

const minorOf = (minor: string) => Number(minor.split('.')[1]);

const isOlder = (minor: string) => minorOf(minor) < minorOf(lowestMinor);

/** Adds the note for a single backup with its own key. */
export function noteOneBackup({ report }: Document): void {
  report.note(
    'spec',
    'is one plain snapshot under exactly this key; if the key already exists, the backup is refused and nothing is overwritten, so give each backup its own key',
  );
}

export interface ObjectPath {
  readonly bucket: string;
  readonly key: string;
}

/** Reads `bucket/key`, the path of a snapshot in both older operators. */
export function objectPath(store: Fields): ObjectPath | undefined {
  const path = store.required('path');
  if (path === '') return undefined;
  const [, bucket, key] = /^([^/{}]+)\/(.+)$/.exec(path) ?? [];
  if (bucket !== undefined && key !== undefined) return { bucket, key };
  const what = path.includes('{{') ? 'has a template in its bucket' : 'is not the path of an object in a bucket';
  store.report.error(store.at('path'), `${what}; write it like BUCKET/etcd/orders.db`);
  return undefined;
}
