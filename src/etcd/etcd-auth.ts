import type { BackupPodSecret } from '../lib/backup-pod';
import { type INamed, nameOf } from '../validation/named';
import { keyProblem, manifestNameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import * as types from '../validation/property-types';
import { buildIfValid } from '../validation/type-checks';

/** Names the keys of a Secret that holds the name and password of an etcd user. */
export interface EtcdAuthKeys {
  /**
   * Names the key that holds the user's name.
   * @default username
   */
  readonly usernameKey?: string;
  /**
   * Names the key that holds the user's password.
   * @default password
   */
  readonly passwordKey?: string;
}

/** Selects the etcd user to log in as, if etcd's password authentication is on. Snapshots require the role `root`. */
export class EtcdAuth {
  /**
   * Reads the user from a Secret in the backup's namespace. The default keys are those of Kubernetes' basic-auth
   * Secrets and of `kubectl create secret generic NAME --from-file=username --from-file=password`.
   *
   * @param secret The Secret, or its name.
   * @param keys The keys of the Secret, if they have other names.
   */
  static fromSecret(secret: string | INamed, keys: EtcdAuthKeys = {}): EtcdAuth {
    return buildIfValid(
      EtcdAuth.prototype,
      keys,
      types.EtcdAuthKeys,
      () => new EtcdAuth(nameOf(secret), keys.usernameKey ?? 'username', keys.passwordKey ?? 'password'),
    );
  }

  private constructor(
    private readonly secretName: string,
    private readonly usernameKey: string,
    private readonly passwordKey: string,
  ) {}

  /** @internal */
  _files(): BackupPodSecret {
    return {
      secretName: this.secretName,
      items: [
        { key: this.usernameKey, path: 'username' },
        { key: this.passwordKey, path: 'password' },
      ],
    };
  }

  /** @internal */
  _problems(): string[] {
    return problemsOf(
      manifestNameProblem('auth: Secret', this.secretName),
      keyProblem('auth: usernameKey', this.usernameKey),
      keyProblem('auth: passwordKey', this.passwordKey),
    );
  }
}
