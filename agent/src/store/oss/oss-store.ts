import type { S3Tuning } from '../s3/connection.ts';
import { openS3 } from '../s3/s3-store.ts';
import type { OssSpec } from '../spec.ts';
import type { Store } from '../store.ts';
import { ossEndpoint } from './endpoint.ts';

/**
 * Opens a bucket of Alibaba Cloud OSS through its S3-compatible endpoint. OSS requires the bucket in the host name. It
 * supports neither aws-chunked bodies nor the newer checksums, which the S3 store sends only to AWS.
 */
export async function openOss(spec: OssSpec, tuning?: Partial<S3Tuning>): Promise<Store> {
  return openS3({ ...spec, ...ossEndpoint(spec), pathStyle: false, scheme: 'oss' }, tuning);
}
