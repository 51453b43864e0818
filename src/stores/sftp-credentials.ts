import type { BackupPodSecret } from '../lib/backup-pod';
import { built } from '../validation/kinds';
import { keyProblem, nameProblem, problemsOf } from '../validation/names';
import { sftpSecretKinds } from '../validation/property-kinds';

/**
 * What a Secret with SFTP credentials holds, when its keys are not among the names that the agent knows. When one is given,
 * the others that the Secret holds have to be given too.
 */
export interface SftpSecretKeys {
  /**
   * The user's name.
   * @default - found by name, unless `username` is given to the store
   */
  readonly usernameKey?: string;
  /**
   * The user's password.
   * @default - found by name
   */
  readonly passwordKey?: string;
  /**
   * The user's private key, in the format of OpenSSH or PEM.
   * @default - found by name
   */
  readonly privateKeyKey?: string;
  /**
   * The passphrase of an encrypted private key.
   * @default - found by name
   */
  readonly passphraseKey?: string;
  /**
   * The server's host keys, in the format of OpenSSH's known_hosts.
   * @default - found by name, unless `hostKey` is given to the store
   */
  readonly knownHostsKey?: string;
}

/** Who the agent is towards an SFTP server, and how it knows that server. */
export class SftpCredentials {
  /**
   * A Secret of the backup's namespace. Its keys are found by name: `username`, `password`, `privateKey` or
   * `ssh-privatekey`, `passphrase`, and `knownHosts` or `known_hosts`. Either a password or a private key is enough.
   */
  static fromSecret(secretName: string, keys: SftpSecretKeys = {}): SftpCredentials {
    return built(SftpCredentials.prototype, keys, sftpSecretKinds, () => new SftpCredentials(secretName, keys));
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
      nameProblem('credentials: Secret', this.secretName),
      ...mapping.map(({ key }) => keyProblem('credentials: key', key)),
      isMapped && !usernameKey && !store.username
        ? 'credentials: no user; give usernameKey, or username to the store'
        : undefined,
      isMapped && !passwordKey && !privateKeyKey
        ? 'credentials: no way to log in; give passwordKey or privateKeyKey'
        : undefined,
      passphraseKey && !privateKeyKey ? 'credentials: passphraseKey is of no use without privateKeyKey' : undefined,
      isMapped && !knownHostsKey && !store.hostKey
        ? 'credentials: no host key; give knownHostsKey, or hostKey to the store'
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
