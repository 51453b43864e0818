import { problemsOf } from '../validation/names';
import type { SftpCredentials } from './sftp-credentials';
import type { StoreDefinition } from './store-definition';

/** Properties of `BackupStore.sftp`. */
export interface SftpStoreProps {
  /** The server's host name or address. */
  readonly host: string;
  /** How the agent logs in, and the server's host keys, unless `hostKey` is given. */
  readonly credentials: SftpCredentials;
  /**
   * The server's port.
   * @default 22
   */
  readonly port?: number;
  /**
   * The user to log in as.
   * @default - `username` from the credentials
   */
  readonly username?: string;
  /**
   * The directory, such as `/backup/etcd`; without a slash at its beginning it lies below the directory of the login. It
   * is created where missing.
   * @default - the directory of the login
   */
  readonly path?: string;
  /**
   * The server's key: its fingerprint, `SHA256:…`, or its public key, `ssh-ed25519 AAAA…`. The agent never talks to a
   * server whose key it was not told.
   * @default - `knownHosts` from the credentials
   */
  readonly hostKey?: string;
  /**
   * Lets an old server use SHA-1: `diffie-hellman-group1-sha1`, `diffie-hellman-group14-sha1`, and `ssh-rsa` for its key
   * and for the user's. They no longer protect against somebody who can listen and invest some money.
   * @default false
   */
  readonly legacyAlgorithms?: boolean;
}

export function sftpStore(props: SftpStoreProps): StoreDefinition {
  const { host, port, username, path, hostKey, legacyAlgorithms, credentials } = props;
  return {
    pod: { sftp: { host, port, username, path, hostKey, legacyAlgorithms, credentials: credentials._files() } },
    place: placeOf(props),
    problems: [
      ...problemsOf(
        typeof host === 'string' && /^[^\s/@?#[\]]+$/.test(host)
          ? undefined
          : `host: '${host}' is no host name or address; give only that`,
        port === undefined || (Number.isInteger(port) && port >= 1 && port <= 65_535)
          ? undefined
          : `port: ${port} is no port; give one from 1 to 65535`,
        username === '' ? "username: '' is no user; name one, or leave it out" : undefined,
        path === undefined || isPath(path)
          ? undefined
          : `path: '${path}' is no directory; write it like /backup/etcd, without '.', '..' or double slashes`,
        hostKey === undefined || isHostKey(hostKey)
          ? undefined
          : `hostKey: '${hostKey}' is no host key; write SHA256:… or ssh-ed25519 AAAA…, as ssh-keyscan and ssh-keygen -lf print it`,
      ),
      ...credentials._problems({ username, hostKey }),
    ],
  };
}

function placeOf({ host, port = 22, path = '' }: SftpStoreProps): string {
  const directory = path.replace(/\/+$/, '');
  return `sftp://${String(host).toLowerCase()}:${port}${path.startsWith('/') ? directory : `/~/${directory}`}`;
}

function isPath(path: string): boolean {
  const segments = path.replace(/^\//, '').replace(/\/$/, '').split('/');
  if (path === '/') return true;
  return segments.every((segment) => !['', '.', '..'].includes(segment)) && !/\p{Cc}/u.test(path);
}

function isHostKey(hostKey: string): boolean {
  return /^(SHA256:[A-Za-z0-9+/]{43}=?|(ssh|ecdsa)-\S+ +[A-Za-z0-9+/]{40,}=*( .*)?)$/.test(hostKey);
}
