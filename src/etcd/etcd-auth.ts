import type { BackupPodSecret } from '../lib/backup-pod';
import { built } from '../validation/kinds';
import { keyProblem, nameProblem, problemsOf } from '../validation/names';
import { authKinds } from '../validation/property-kinds';

/** The keys of a Secret that holds an etcd user. */
export interface EtcdAuthKeys {
  /**
   * The user's name.
   * @default username
   */
  readonly usernameKey?: string;
  /**
   * The user's password.
   * @default password
   */
  readonly passwordKey?: string;
}

/** The user to log in as, when etcd's password authentication is on. It needs the root role, as snapshots do. */
export class EtcdAuth {
  /**
   * A user from a Secret of the backup's namespace. The default keys are those of Kubernetes' basic-auth Secrets and of
   * `kubectl create secret generic NAME --from-file=username --from-file=password`.
   */
  static fromSecret(secretName: string, keys: EtcdAuthKeys = {}): EtcdAuth {
    return built(
      EtcdAuth.prototype,
      keys,
      authKinds,
      () => new EtcdAuth(secretName, keys.usernameKey ?? 'username', keys.passwordKey ?? 'password'),
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
      nameProblem('auth: Secret', this.secretName),
      keyProblem('auth: usernameKey', this.usernameKey),
      keyProblem('auth: passwordKey', this.passwordKey),
    );
  }
}
