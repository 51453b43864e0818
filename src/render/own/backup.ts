import { Compression } from '../../backup/compression';
import { EtcdAuth } from '../../etcd/etcd-auth';
import { EtcdClientTls } from '../../tls/etcd-client-tls';
import type { Document } from '../documents';
import type { Fields } from '../fields';
import type { PlannedBackup } from '../plan';
import { durationField, quantitiesOf } from '../units';
import { ownEncryption } from './encryption';
import { caBundle, secretFiles } from './files';
import { jobOptions } from './job';
import { ownStore } from './store';

export function ownBackup(document: Document): PlannedBackup {
  const { spec } = document;
  const store = spec.object('store');
  const auth = spec.object('auth');
  const timeouts = spec.object('timeouts');
  return {
    becomes: 'backup',
    document,
    ...jobOptions(document),
    clusterName: spec.text('clusterName'),
    endpoints: spec.strings('endpoints'),
    tls: tlsOf(spec.object('tls')),
    auth: auth && authOf(auth),
    schedule: spec.text('schedule'),
    store: store && ownStore(store),
    key: spec.text('key'),
    prefix: spec.text('prefix'),
    compression: spec.oneOf('compression', Object.values(Compression)),
    encryption: ownEncryption(spec),
    dialTimeout: durationField(timeouts, 'dial'),
    timeout: durationField(timeouts, 'total'),
    serviceAccountName: spec.text('serviceAccountName'),
    image: spec.text('image'),
    resources: quantitiesOf(spec.object('resources')),
  };
}

export function authOf(fields: Fields): EtcdAuth {
  const { secretName, keyOf } = secretFiles(fields, ['username', 'password']);
  return EtcdAuth.fromSecret(secretName, { usernameKey: keyOf('username'), passwordKey: keyOf('password') });
}

export function tlsOf(fields: Fields | undefined): EtcdClientTls | undefined {
  const clientCertificate = fields?.boolean('clientCertificate') ?? true;
  const files = fields?.object('files');
  if (!fields || !files) return undefined;
  if (!clientCertificate) {
    const ca = caBundle(files);
    return ca && EtcdClientTls.fromCa(ca);
  }
  const { secretName, keyOf } = secretFiles(files, ['ca.crt', 'tls.crt', 'tls.key']);
  return EtcdClientTls.fromSecret(secretName, {
    caKey: keyOf('ca.crt'),
    certKey: keyOf('tls.crt'),
    keyKey: keyOf('tls.key'),
  });
}
