import { BackupStore, S3Credentials } from '../index';

/** A sample bucket, which users change to their own. */
export const s3 = BackupStore.s3({
  bucket: 'etcd-backup',
  region: 'us-east-1',
  credentials: S3Credentials.fromSecret('etcd-backup-s3'),
});

export const s3Secret = `Create the Secret with the keys AWS_ACCESS_KEY_ID=… and AWS_SECRET_ACCESS_KEY=… in s3.env.
     kubectl create secret generic etcd-backup-s3 -n NAMESPACE --from-env-file=s3.env`;
