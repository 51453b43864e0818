import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';

/** A real S3 server with one user. */
export interface S3Server extends AsyncDisposable {
  readonly endpoint: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** A Secret's files: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY. */
  readonly credentialsDirectory: string;
  /** Directory with its objects as plain files, if it has one. */
  readonly directory?: string;
  stop(): Promise<void>;
}

/** For requests that the agent never sends. */
export function s3Client({ endpoint, region, accessKeyId, secretAccessKey }: Omit<S3Server, 'stop'>): S3Client {
  return new S3Client({ endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } });
}

export async function makeBucket(client: S3Client, Bucket: string, ObjectLockEnabledForBucket = false): Promise<void> {
  await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket }));
}
