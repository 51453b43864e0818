import { EtcdVersion } from '../../etcd/etcd-version';
import { defaultVolume } from '../../lib/defaults';
import type { BackupStoreSpec } from '../../resource/types';
import type { Document } from '../documents';
import type { Fields } from '../fields';
import { annotationsLost, metadataLabels } from '../metadata';
import {
  hostsOf,
  type Images,
  noteMove,
  noteOneBackup,
  type OldFields,
  objectPath,
  oldField,
  oldSize,
  supportedVersion,
} from '../older-operators';
import type { Api, PlannedBackup, PlannedCluster } from '../plan';

const fields: OldFields = [
  [/^spec[.](name|cluster)$/, 'metadata.name'],
  [/^spec[.](size|allowEvenSize)/, 'spec.size'],
  [/^spec[.](image|version)/, 'spec.image'],
  [/^spec[.]labels/, 'metadata.labels'],
  [/^spec[.]endpoints.*/, 'spec.etcdUrl'],
  [/^spec[.]store[.](s3|oss)[.]bucket/, 'spec.$1.path'],
  [/^spec[.]store[.](s3|oss)[.]credentials.*/, 'spec.$1.secret'],
  [/^spec[.]store/, 'spec'],
];

/** A small operator from a tutorial, and its derivatives. */
export const ydzs: Api = {
  apiVersion: 'etcd.ydzs.io/v1alpha1',
  kinds: { EtcdCluster: ydzsCluster, EtcdBackup: ydzsBackup },
  fieldOf: (path, { spec }) => (path === 'spec.key' ? `spec.${spec.text('storageType')}.path` : oldField(fields, path)),
  unknownField: (report, path) => report.lost(path, 'is not a field of that API; remove it'),
};

function ydzsCluster(document: Document): PlannedCluster {
  const { name, report } = document;
  noteMove(document, 'a StatefulSet and a Service', `${name}-0.${name}:2379`);
  annotationsLost(document);
  report.note('spec', `each member had a volume of 1Gi; each now has one of ${defaultVolume}`);
  const labels = metadataLabels(document);
  return {
    kind: 'EtcdCluster',
    name,
    document,
    spec: { ...oldSize(document), ...imagesOf(document), storage: { size: defaultVolume }, labels },
    old: hostsOf(document, (host) => host === name || new RegExp(`^${name}-\\d+\\.${name}$`).test(host)),
  };
}

function imagesOf({ spec, report }: Document): Images {
  const { version: usual } = EtcdVersion.V3_6;
  const image = spec.required('image');
  if (image === '') return { version: usual };
  const [, tag] = /:([^/:@]+)(?:@.+)?$/.exec(image) ?? [];
  const supported = supportedVersion(tag ?? '');
  const instead = (version: string) => `etcd's own image of ${version} replaces it; --registry selects a mirror`;
  if (!supported) {
    report.lost(
      'spec.image',
      `'${image}' does not show which supported version of etcd it contains; ${instead(usual)}`,
    );
    return { version: usual };
  }
  const { version } = supported;
  if (!supported.note) return { image, version };
  report.note('spec.image', supported.note);
  report.lost('spec.image', `'${image}': ${instead(version)}`);
  return { version };
}

function ydzsBackup(document: Document): PlannedBackup | undefined {
  const { name, spec, report } = document;
  const labels = metadataLabels(document);
  annotationsLost(document);
  const endpoint = spec.required('etcdUrl');
  const stored = storedObject(spec);
  if (!stored) return undefined;
  noteOneBackup(document);
  report.note('spec.etcdUrl', 'still belongs to the old cluster; to back up an EtcdCluster, write spec.clusterName');
  return {
    kind: 'EtcdBackup',
    name,
    document,
    labels,
    spec: { endpoints: [endpoint], ...stored, compression: 'none' },
  };
}

function storedObject(spec: Fields): { readonly store: BackupStoreSpec; readonly key: string } | undefined {
  const type = spec.oneOf('storageType', ['s3', 'oss']);
  if (type === undefined) {
    if (!spec.has('storageType')) spec.report.error(spec.at('storageType'), 'is missing; write s3 or oss');
    spec.ignore('s3', 'oss');
    return undefined;
  }
  const other = type === 's3' ? 'oss' : 's3';
  spec.lose(other, `has no effect, because storageType is ${type}; remove it`);
  const store = spec.object(type);
  if (!store) {
    spec.report.error(spec.at(type), `is missing, but storageType is ${type}; add it`);
    return undefined;
  }
  const path = objectPath(store);
  const secretName = secret(store, `${type}Secret`);
  const endpoint = store.text('endpoint');
  if (!path || !secretName) return undefined;
  if (path.key.includes('.CreationTimestamp')) {
    store.report.note(store.at('path'), 'the creation time is written like 20261121T023807Z');
  }
  const { bucket, key } = path;
  return { key, store: { [type]: { bucket, endpoint, credentials: { secretName } } } };
}

/** Reads the name of the Secret. That operator renamed this field once. */
function secret(store: Fields, formerly: string): string | undefined {
  const [now, former] = [store.text('secret'), store.text(formerly)];
  if (now === undefined && former === undefined) store.report.error(store.at('secret'), 'is missing; add it');
  if (now !== undefined && former !== undefined && now !== former) {
    store.report.error(store.at(formerly), 'differs from secret; remove one of them');
  }
  return now ?? former;
}
