import type { BackupPodStore } from '../lib/backup-pod';

/** Identifies the place of a store: two stores with the same text store their backups in the same place. */
export function placeOf({ s3, oss, sftp, filesystem, command }: BackupPodStore): string {
  if (s3) return `s3://${path(hostOf(s3.endpoint), s3.bucket, s3.prefix)}`;
  if (oss) return `oss://${path(oss.bucket, oss.prefix)}`;
  if (sftp) return placeOfSftp(sftp);
  if (command) {
    const settings = Object.entries(command.env ?? {}).map(([name, value]) => `${name}=${value}`);
    return [`exec://${command.path}`, ...settings.sort()].join(' ');
  }
  const { persistentVolumeClaim, nfs, hostPath, directory } = filesystem ?? {};
  const volume = nfs ? `nfs://${nfs.server}${nfs.path}` : (hostPath ?? `claim ${persistentVolumeClaim?.claimName}`);
  return path(volume, directory);
}

const path = (...parts: readonly (string | undefined)[]): string => parts.filter(Boolean).join('/');

/**
 * The host and port of an endpoint, without the port that its scheme has anyway. On AWS the name of a bucket is globally unique, so
 * the endpoint does not matter.
 */
function hostOf(endpoint: string | undefined): string | undefined {
  if (!endpoint) return undefined;
  const url = /^https?:\/\//.test(endpoint) ? endpoint : `https://${endpoint}`;
  const host = URL.canParse(url) ? new URL(url).host : undefined;
  return host !== undefined && /(^|\.)amazonaws\.com(\.cn)?(:|$)/.test(host) ? undefined : host;
}

function placeOfSftp({ host, port = 22, path = '' }: NonNullable<BackupPodStore['sftp']>): string {
  const directory = path.replace(/\/+$/, '');
  return `sftp://${String(host).toLowerCase()}:${port}${path.startsWith('/') ? directory : `/~/${directory}`}`;
}
