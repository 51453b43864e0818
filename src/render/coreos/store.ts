import type { BackupStoreSpec } from '../../resource/types';
import type { Fields } from '../fields';
import { objectPath } from '../older-operators';

export interface CoreosObject {
  readonly store: BackupStoreSpec;
  readonly key: string;
}

/** Kinds of store, each with its field of the spec. */
const kinds = { S3: 's3', ABS: 'abs', GCS: 'gcs', OSS: 'oss' } as const;

const instead: { readonly [type: string]: string } = {
  ABS: 'Azure Blob Storage is not supported; use S3, OSS, SFTP, a volume, or a command of your own',
  GCS: 'Google Cloud Storage is not supported; use its S3 API, with S3 and an HMAC key, or another store',
};

/**
 * Reads the store and the key of a backup or a restore.
 *
 * @param typeField the name of the field with the kind of store
 * @param folder returns the folder for a schedule's backups, given the object's key
 */
export function coreosStore(
  spec: Fields,
  typeField: string,
  folder: (key: string) => string | undefined = () => undefined,
): CoreosObject | undefined {
  const type = spec.oneOf(typeField, ['S3', 'ABS', 'GCS', 'OSS']);
  if (type === undefined) {
    if (!spec.has(typeField)) spec.report.error(spec.at(typeField), 'is missing; write S3 or OSS');
    spec.ignore(...Object.values(kinds));
    return undefined;
  }
  for (const [other, field] of Object.entries(kinds)) {
    if (other !== type) spec.lose(field, `has no effect, because ${typeField} is ${type}; remove it`);
  }
  const store = spec.object(kinds[type]);
  if (type === 'ABS' || type === 'GCS') {
    spec.report.error(spec.at(typeField), `${type}: ${instead[type]}`);
    store?.ignore('path', 'absSecret', 'gcpSecret');
    return undefined;
  }
  if (!store) {
    spec.report.error(spec.at(kinds[type]), `is missing, but ${typeField} is ${type}; add it`);
    return undefined;
  }
  return type === 'S3' ? s3(store, folder) : oss(store, folder);
}

function s3(store: Fields, folder: (key: string) => string | undefined): CoreosObject | undefined {
  const path = objectPath(store);
  const secretName = store.required('awsSecret');
  const endpoint = store.text('endpoint');
  const forcePathStyle = store.boolean('forcePathStyle') ?? false;
  if (!path || secretName === '') return undefined;
  if (endpoint !== undefined && !forcePathStyle) {
    const host = `${path.bucket}.${endpoint.replace(/^https?:\/\//, '')}`;
    store.report.note(
      store.at('forcePathStyle'),
      `is not true, so the bucket is reached as ${host}, as with that operator`,
    );
  }
  return {
    key: path.key,
    store: {
      s3: {
        bucket: path.bucket,
        prefix: folder(path.key),
        endpoint,
        // With an endpoint it is always set, because our default differs.
        pathStyle: endpoint !== undefined || forcePathStyle ? forcePathStyle : undefined,
        credentials: { secretName },
      },
    },
  };
}

function oss(store: Fields, folder: (key: string) => string | undefined): CoreosObject | undefined {
  const path = objectPath(store);
  const secretName = store.required('ossSecret');
  const endpoint = store.text('endpoint');
  if (!path || secretName === '') return undefined;
  const credentials = { secretName };
  return {
    key: path.key,
    store: { oss: { bucket: path.bucket, prefix: folder(path.key), endpoint, credentials } },
  };
}
