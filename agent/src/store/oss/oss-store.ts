import type { S3Tuning } from '../s3/connection.ts';
import { openS3 } from '../s3/s3-store.ts';
import type { OssSpec } from '../spec.ts';
import type { Store } from '../store.ts';
import { ossEndpoint } from './endpoint.ts';

/**
 * Alibaba Cloud OSS through its S3-compatible endpoint. It wants the bucket in the host name, and knows neither
 * aws-chunked bodies nor the newer checksums, which the S3 store sends to AWS alone.
 */
export async function openOss(spec: OssSpec, tuning?: Partial<S3Tuning>): Promise<Store> {
  return openS3({ ...spec, ...ossEndpoint(spec), pathStyle: false, scheme: 'oss' }, tuning);
}
