import type { BackupPodFiles } from '../lib/backup-pod';
import { type INamed, nameOf } from '../validation/named';
import { keyProblem, manifestNameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';

/**
 * Holds the certificates of the certificate authorities to trust, in PEM. They are stored under one key of a Secret or
 * ConfigMap in the backup's namespace.
 */
export class CaBundle {
  /**
   * Reads the certificates from a Secret.
   *
   * @param secret The Secret, or its name.
   * @param key The key that holds the certificates. Default: `ca.crt`.
   */
  static fromSecret(secret: string | INamed, key: string = 'ca.crt'): CaBundle {
    return new CaBundle('Secret', nameOf(secret), key);
  }

  /**
   * Reads the certificates from a ConfigMap.
   *
   * @param configMap The ConfigMap, or its name.
   * @param key The key that holds the certificates. Default: `ca.crt`.
   */
  static fromConfigMap(configMap: string | INamed, key: string = 'ca.crt'): CaBundle {
    return new CaBundle('ConfigMap', nameOf(configMap), key);
  }

  private constructor(
    private readonly kind: string,
    private readonly objectName: string,
    private readonly key: string,
  ) {}

  /** @internal */
  _files(): BackupPodFiles {
    const items = [{ key: this.key, path: 'ca.crt' }];
    return this.kind === 'Secret' ? { secretName: this.objectName, items } : { configMapName: this.objectName, items };
  }

  /** @internal */
  _problems(what: string): string[] {
    return problemsOf(
      manifestNameProblem(`${what}: ${this.kind}`, this.objectName),
      keyProblem(`${what}: key`, this.key),
    );
  }
}
