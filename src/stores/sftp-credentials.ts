import type { BackupPodSecret } from '../lib/backup-pod';
import { type INamed, nameOf } from '../validation/named';
import { keyProblem, manifestNameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import * as types from '../validation/property-types';
import { buildIfValid } from '../validation/type-checks';

/**
 * Names the keys of a Secret that holds SFTP credentials, if the agent does not recognize their names. If you name one
 * key, name all keys that the agent needs.
 */
export interface SftpSecretKeys {
  /**
   * Names the key that holds the user's name.
   * @default - the agent finds the key by its name, unless the store has `username`
   */
  readonly usernameKey?: string;
  /**
   * Names the key that holds the user's password.
   * @default - the agent finds the key by its name
   */
  readonly passwordKey?: string;
  /**
   * Names the key that holds the user's private key, in the format of OpenSSH or PEM.
   * @default - the agent finds the key by its name
   */
  readonly privateKeyKey?: string;
  /**
   * Names the key that holds the passphrase of an encrypted private key.
   * @default - the agent finds the key by its name
   */
  readonly passphraseKey?: string;
  /**
   * Names the key that holds the server's host keys, in the format of OpenSSH's known_hosts.
   * @default - the agent finds the key by its name, unless the store has `hostKey`
   */
  readonly knownHostsKey?: string;
}

/**
 * Holds the credentials with which the agent logs in to an SFTP server, and the host keys by which it verifies that
 * server.
 */
export class SftpCredentials {
  /**
   * Reads the credentials from a Secret in the backup's namespace. The agent recognizes these keys: `username`,
   * `password`, `privateKey` or `ssh-privatekey`, `passphrase`, and `knownHosts` or `known_hosts`. Either a password or
   * a private key is enough.
   *
   * @param secret The Secret, or its name.
   * @param keys The keys of the Secret, if they have other names.
   */
  static fromSecret(secret: string | INamed, keys: SftpSecretKeys = {}): SftpCredentials {
    return buildIfValid(
      SftpCredentials.prototype,
      keys,
      types.SftpSecretKeys,
      () => new SftpCredentials(nameOf(secret), keys),
    );
  }

  private constructor(
    private readonly secretName: string,
    private readonly keys: SftpSecretKeys,
  ) {}

  /** @internal */
  _files(): BackupPodSecret {
    const items = this.mapping();
    return items.length > 0 ? { secretName: this.secretName, items } : { secretName: this.secretName };
  }

  /** @internal */
  _problems(store: { readonly username?: string; readonly hostKey?: string }): string[] {
    const { usernameKey, passwordKey, privateKeyKey, passphraseKey, knownHostsKey } = this.keys;
    const mapping = this.mapping();
    const isMapped = mapping.length > 0;
    return problemsOf(
      manifestNameProblem('credentials: Secret', this.secretName),
      ...mapping.map(({ key }) => keyProblem('credentials: key', key)),
      isMapped && !usernameKey && !store.username
        ? 'credentials: the user is missing; give usernameKey, or the username of the store'
        : undefined,
      isMapped && !passwordKey && !privateKeyKey
        ? 'credentials: password and private key are missing; give passwordKey or privateKeyKey'
        : undefined,
      passphraseKey && !privateKeyKey
        ? 'credentials: passphraseKey has no effect without privateKeyKey; give both, or remove it'
        : undefined,
      isMapped && !knownHostsKey && !store.hostKey
        ? 'credentials: the host key is missing; give knownHostsKey, or the hostKey of the store'
        : undefined,
    );
  }

  private mapping(): { readonly key: string; readonly path: string }[] {
    const { usernameKey, passwordKey, privateKeyKey, passphraseKey, knownHostsKey } = this.keys;
    return [
      { key: usernameKey, path: 'username' },
      { key: passwordKey, path: 'password' },
      { key: privateKeyKey, path: 'privateKey' },
      { key: passphraseKey, path: 'passphrase' },
      { key: knownHostsKey, path: 'knownHosts' },
    ].flatMap(({ key, path }) => (key === undefined ? [] : [{ key, path }]));
  }
}
