import type { SftpSpec } from './spec.ts';

/** `root` as it is given to the server: absolute, or below the login directory, which is `.`. */
export function urlOf({ host, port, username }: SftpSpec, root: string): string {
  const user = username === undefined ? '' : `${encodeURIComponent(username)}@`;
  const server = `${host.includes(':') ? `[${host}]` : host}${port === undefined ? '' : `:${port}`}`;
  const path = root === '.' ? '' : root.startsWith('/') ? root : `/~/${root}`;
  return `sftp://${user}${server}${path.split('/').map(encodeURIComponent).join('/')}`;
}
