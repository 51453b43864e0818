import { posix, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ossEndpoint } from './oss/endpoint.ts';
import { s3Url } from './s3/endpoint.ts';
import type { SftpSpec, StoreSpec } from './spec.ts';

export const directoryUrl = (path: string): string => pathToFileURL(resolve(path)).href;
export const commandUrl = (path: string): string => directoryUrl(path).replace(/^file:/, 'exec:');

/** The URL of a store, without secrets, as messages and metrics name it. The store need not be open. */
export function storeUrl({ s3, oss, sftp, command, filesystem }: StoreSpec): string {
  if (s3) return bucketUrl('s3', s3.bucket, () => s3Url(s3));
  if (oss) return bucketUrl('oss', oss.bucket, () => s3Url({ ...oss, ...ossEndpoint(oss) }, 'oss'));
  if (sftp) return sftpUrl(sftp);
  return command ? commandUrl(command.path) : directoryUrl(filesystem!.path);
}

/** Ignores a mistake in the endpoint: opening the store reports it. */
function bucketUrl(scheme: string, bucket: string, whole: () => string): string {
  try {
    return whole();
  } catch {
    return `${scheme}://${bucket}`;
  }
}

/** The directory in the form that the server takes: absolute, or relative to the login directory, which is `.`. */
export const sftpRoot = ({ path }: SftpSpec): string => posix.join(path || '.').replace(/(?<=.)\/$/, '');

export function sftpUrl(spec: SftpSpec): string {
  const { host, port, username } = spec;
  const root = sftpRoot(spec);
  const user = username === undefined ? '' : `${encodeURIComponent(username)}@`;
  const server = `${host.includes(':') ? `[${host}]` : host}${port === undefined ? '' : `:${port}`}`;
  const path = root === '.' ? '' : root.startsWith('/') ? root : `/~/${root}`;
  return `sftp://${user}${server}${path.split('/').map(encodeURIComponent).join('/')}`;
}
