import type { SftpCredentials } from './sftp-credentials';
import { type StoreDefinition, storeProblems } from './store-definition';

/** Configures `BackupStore.sftp`. */
export interface SftpStoreProps {
  /** Sets the host name or IP address of the server. */
  readonly host: string;
  /**
   * Sets the credentials with which the agent logs in. They also contain the server's host keys, unless `hostKey` is
   * given.
   */
  readonly credentials: SftpCredentials;
  /**
   * Sets the TCP port of the server.
   * @default 22
   */
  readonly port?: number;
  /**
   * Names the user to log in as.
   * @default - `username` from the credentials
   */
  readonly username?: string;
  /**
   * Sets the directory on the server, such as `/backup/etcd`. A path without a leading slash is relative to the login
   * directory. The directory is created if it does not exist.
   * @default - the login directory
   */
  readonly path?: string;
  /**
   * Sets the host key of the server: its fingerprint, `SHA256:…`, or its public key, `ssh-ed25519 AAAA…`. The agent
   * never connects to a server whose key is not configured.
   * @default - `knownHosts` from the credentials
   */
  readonly hostKey?: string;
  /**
   * Allows algorithms with SHA-1 for an old server: `diffie-hellman-group1-sha1`, `diffie-hellman-group14-sha1`, and
   * `ssh-rsa` for the keys of the server and of the user. They no longer protect against an attacker who can intercept
   * the connection and spends some money.
   * @default false
   */
  readonly legacyAlgorithms?: boolean;
}

export function sftpStore(props: SftpStoreProps): StoreDefinition {
  const { host, port, username, path, hostKey, legacyAlgorithms, credentials } = props;
  const pod = { sftp: { host, port, username, path, hostKey, legacyAlgorithms, credentials: credentials._files() } };
  return {
    pod,
    problems: storeProblems(pod, credentials._problems({ username, hostKey })),
  };
}
