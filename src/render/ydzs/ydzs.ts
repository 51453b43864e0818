import { Compression } from '../../backup/compression';
import type { EtcdClusterProps } from '../../cluster/etcd-cluster-props';
import { EtcdVersion } from '../../etcd/etcd-version';
import { BackupStore } from '../../stores/backup-store';
import { OssCredentials } from '../../stores/oss-credentials';
import { S3Credentials } from '../../stores/s3-credentials';
import { EtcdTls } from '../../tls/etcd-tls';
import type { Document } from '../documents';
import type { Fields } from '../fields';
import { metadataLabels } from '../metadata';
import { hostsOf, noteMove, noteOneBackup, objectPath, oldSize, supportedVersion } from '../older-operators';
import type { Api, PlannedBackup, PlannedCluster } from '../plan';

/** A small operator from a tutorial, and its derivatives. */
export const ydzs: Api = {
  apiVersion: 'etcd.ydzs.io/v1alpha1',
  kinds: { EtcdCluster: ydzsCluster, EtcdBackup: ydzsBackup },
  unknownField: (report, path) => report.lost(path, 'is not a field of that API; remove it'),
};

function ydzsCluster(document: Document): PlannedCluster {
  const { name, report } = document;
  noteMove(document, 'a StatefulSet and a Service', `${name}-0.${name}:2379`);
  report.note('spec', 'each member had a volume of 1Gi; each now has one of 8Gi');
  return {
    becomes: 'cluster',
    document,
    props: { ...oldSize(document), ...imageProps(document), tls: EtcdTls.none(), labels: metadataLabels(document) },
    schedules: [],
    old: hostsOf(document, (host) => host === name || new RegExp(`^${name}-\\d+\\.${name}$`).test(host)),
  };
}

function imageProps({ spec, report }: Document): Pick<EtcdClusterProps, 'version' | 'image'> {
  const image = spec.required('image');
  if (image === '') return {};
  const [, tag] = /:([^/:@]+)(?:@.+)?$/.exec(image) ?? [];
  const supported = supportedVersion(tag ?? '');
  const instead = (version: EtcdVersion) =>
    `etcd's own image of ${version.version} replaces it; --registry selects a mirror`;
  if (!supported) {
    report.lost(
      'spec.image',
      `'${image}' does not show which supported version of etcd it contains; ${instead(EtcdVersion.V3_6)}`,
    );
    return {};
  }
  if (!supported.note) return { image, version: EtcdVersion.of(supported.version) };
  const version = EtcdVersion.of(supported.version);
  report.note('spec.image', supported.note);
  report.lost('spec.image', `'${image}': ${instead(version)}`);
  return { version };
}

function ydzsBackup(document: Document): PlannedBackup | undefined {
  const { spec, report } = document;
  const labels = metadataLabels(document);
  const endpoint = spec.required('etcdUrl');
  const stored = storedObject(spec);
  if (!stored) return undefined;
  noteOneBackup(document);
  report.note('spec.etcdUrl', 'still belongs to the old cluster; to back up an EtcdCluster, write spec.clusterName');
  return { becomes: 'backup', document, labels, endpoints: [endpoint], ...stored, compression: Compression.NONE };
}

function storedObject(spec: Fields): { readonly store: BackupStore; readonly key: string } | undefined {
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
  if (type === 'oss') {
    return { key, store: BackupStore.oss({ bucket, endpoint, credentials: OssCredentials.fromSecret(secretName) }) };
  }
  return { key, store: BackupStore.s3({ bucket, endpoint, credentials: S3Credentials.fromSecret(secretName) }) };
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
