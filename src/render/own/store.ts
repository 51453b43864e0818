import { BackupStore } from '../../stores/backup-store';
import { OssCredentials } from '../../stores/oss-credentials';
import { S3Credentials } from '../../stores/s3-credentials';
import { ServerSideEncryption, SseCustomerKey } from '../../stores/s3-encryption';
import { SftpCredentials } from '../../stores/sftp-credentials';
import type { Fields } from '../fields';
import { durationField } from '../units';
import { caBundle, secretFiles } from './files';

const kinds: { readonly [kind: string]: (fields: Fields) => BackupStore } = { s3, oss, sftp, filesystem, command };

/** Reads a store, in the shape that the custom resources and `BackupStore` share. */
export function ownStore(fields: Fields): BackupStore | undefined {
  const given = Object.keys(kinds).flatMap((kind) => {
    const store = fields.object(kind);
    return store ? [{ make: kinds[kind]!, store }] : [];
  });
  const stores = given.map(({ make, store }) => make(store));
  if (stores.length === 1) return stores[0];
  fields.report.error(fields.path, `needs exactly one of ${Object.keys(kinds).join(', ')}; give one of them`);
  return undefined;
}

function s3(fields: Fields): BackupStore {
  const profile = fields.text('profile');
  const credentials = fields.object('credentials');
  const sse = fields.object('sseCustomerKey');
  return BackupStore.s3({
    bucket: fields.required('bucket'),
    prefix: fields.text('prefix'),
    region: fields.text('region'),
    endpoint: fields.text('endpoint'),
    pathStyle: fields.boolean('pathStyle'),
    serverSideEncryption: fields.oneOf('serverSideEncryption', Object.values(ServerSideEncryption)),
    kmsKeyId: fields.text('kmsKeyId'),
    sseCustomerKey: sse && sseCustomerKey(sse),
    ca: caBundle(fields.object('ca')),
    credentials: credentials ? s3Credentials(credentials, profile) : S3Credentials.workloadIdentity(),
  });
}

function s3Credentials(fields: Fields, profile: string | undefined): S3Credentials {
  const paths = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];
  const { secretName, keyOf } = secretFiles(fields, paths);
  const [accessKeyIdKey, secretAccessKeyKey, sessionTokenKey] = paths.map(keyOf);
  return S3Credentials.fromSecret(secretName, { accessKeyIdKey, secretAccessKeyKey, sessionTokenKey, profile });
}

function sseCustomerKey(fields: Fields): SseCustomerKey {
  const { secretName, keyOf } = secretFiles(fields, ['key']);
  return SseCustomerKey.fromSecret(secretName, keyOf('key'));
}

function oss(fields: Fields): BackupStore {
  return BackupStore.oss({
    bucket: fields.required('bucket'),
    prefix: fields.text('prefix'),
    region: fields.text('region'),
    endpoint: fields.text('endpoint'),
    ca: caBundle(fields.object('ca')),
    credentials: credentialsOf(fields, ['accessKeyID', 'accessKeySecret'], (secretName, [id, secret]) =>
      OssCredentials.fromSecret(secretName, { accessKeyIdKey: id, accessKeySecretKey: secret }),
    ),
  });
}

function sftp(fields: Fields): BackupStore {
  const paths = ['username', 'password', 'privateKey', 'passphrase', 'knownHosts'];
  return BackupStore.sftp({
    host: fields.required('host'),
    port: fields.integer('port'),
    username: fields.text('username'),
    path: fields.text('path'),
    hostKey: fields.text('hostKey'),
    legacyAlgorithms: fields.boolean('legacyAlgorithms'),
    credentials: credentialsOf(fields, paths, (secretName, keys) => {
      const [usernameKey, passwordKey, privateKeyKey, passphraseKey, knownHostsKey] = keys;
      return SftpCredentials.fromSecret(secretName, {
        usernameKey,
        passwordKey,
        privateKeyKey,
        passphraseKey,
        knownHostsKey,
      });
    }),
  });
}

function credentialsOf<T>(
  fields: Fields,
  paths: readonly string[],
  make: (secretName: string, keys: readonly (string | undefined)[]) => T,
): T {
  const credentials = fields.object('credentials');
  if (!credentials) {
    if (!fields.has('credentials')) fields.report.error(fields.at('credentials'), 'is missing; add it');
    return make('missing', []);
  }
  const { secretName, keyOf } = secretFiles(credentials, paths);
  return make(secretName, paths.map(keyOf));
}

function filesystem(fields: Fields): BackupStore {
  const nfs = fields.object('nfs');
  return BackupStore.filesystem({
    claimName: fields.object('persistentVolumeClaim')?.required('claimName'),
    nfs: nfs && { server: nfs.required('server'), path: nfs.required('path') },
    directory: fields.text('directory'),
  });
}

function command(fields: Fields): BackupStore {
  const credentials = fields.object('credentials');
  return BackupStore.command({
    path: fields.required('path'),
    env: fields.map('env'),
    idleTimeout: durationField(fields, 'idleTimeout'),
    credentialsSecretName: credentials && everyKey(credentials),
  });
}

function everyKey(credentials: Fields): string {
  if (credentials.has('items')) {
    credentials.report.error(credentials.at('items'), 'the executables read every key under its own name; remove it');
  }
  return credentials.required('secretName');
}
