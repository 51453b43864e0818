import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ossEndpoint } from './oss/endpoint.ts';
import { s3Url } from './s3/endpoint.ts';
import { urlOf } from './sftp/url.ts';
import type { StoreSpec } from './spec.ts';

export const directoryUrl = (path: string): string => pathToFileURL(resolve(path)).href;
export const commandUrl = (path: string): string => directoryUrl(path).replace(/^file:/, 'exec:');

/** The URL of a store that was not opened yet, without secrets: what messages and metrics name it by. */
export function storeUrl({ s3, oss, sftp, command, filesystem }: StoreSpec): string {
  if (s3) return bucketUrl('s3', s3.bucket, () => s3Url(s3));
  if (oss) return bucketUrl('oss', oss.bucket, () => s3Url({ ...oss, ...ossEndpoint(oss) }, 'oss'));
  if (sftp) return urlOf(sftp);
  return command ? commandUrl(command.path) : directoryUrl(filesystem!.path);
}

/** What is wrong with the endpoint, its opening tells. */
function bucketUrl(scheme: string, bucket: string, whole: () => string): string {
  try {
    return whole();
  } catch {
    return `${scheme}://${bucket}`;
  }
}
