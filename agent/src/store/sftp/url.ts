import { posix } from 'node:path';
import type { SftpSpec } from '../spec.ts';

/** The directory as it is given to the server: absolute, or below the login directory, which is `.`. */
export const rootOf = ({ path }: SftpSpec): string => posix.join(path || '.').replace(/(?<=.)\/$/, '');

export function urlOf(spec: SftpSpec): string {
  const { host, port, username } = spec;
  const root = rootOf(spec);
  const user = username === undefined ? '' : `${encodeURIComponent(username)}@`;
  const server = `${host.includes(':') ? `[${host}]` : host}${port === undefined ? '' : `:${port}`}`;
  const path = root === '.' ? '' : root.startsWith('/') ? root : `/~/${root}`;
  return `sftp://${user}${server}${path.split('/').map(encodeURIComponent).join('/')}`;
}
