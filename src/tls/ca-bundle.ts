import type { BackupPodFiles } from '../lib/backup-pod';
import { keyProblem, nameProblem, problemsOf } from '../validation/names';

/** The certificates of the authorities to trust, in PEM: one key of a Secret or ConfigMap in the backup's namespace. */
export class CaBundle {
  /**
   * @param secretName the Secret
   * @param key `ca.crt` unless told otherwise
   */
  static fromSecret(secretName: string, key: string = 'ca.crt'): CaBundle {
    return new CaBundle('Secret', secretName, key);
  }

  /**
   * @param configMapName the ConfigMap
   * @param key `ca.crt` unless told otherwise
   */
  static fromConfigMap(configMapName: string, key: string = 'ca.crt'): CaBundle {
    return new CaBundle('ConfigMap', configMapName, key);
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
    return problemsOf(nameProblem(`${what}: ${this.kind}`, this.objectName), keyProblem(`${what}: key`, this.key));
  }
}
