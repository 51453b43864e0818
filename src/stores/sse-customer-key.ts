import type { BackupPodSecret } from '../lib/backup-pod';
import { keyProblem, nameProblem, problemsOf } from '../validation/names';

/**
 * A key for SSE-C: the S3 server encrypts with it and does not keep it. 32 bytes, raw or in base64
 * (`openssl rand -base64 32`). Without it no backup can be read again, so keep a copy where etcd's end does not reach it.
 */
export class SseCustomerKey {
  /**
   * @param secretName a Secret of the backup's namespace
   * @param key `key` unless told otherwise
   */
  static fromSecret(secretName: string, key: string = 'key'): SseCustomerKey {
    return new SseCustomerKey(secretName, key);
  }

  private constructor(
    private readonly secretName: string,
    private readonly key: string,
  ) {}

  /** @internal */
  _files(): BackupPodSecret {
    return { secretName: this.secretName, items: [{ key: this.key, path: 'key' }] };
  }

  /** @internal */
  _problems(): string[] {
    return problemsOf(
      nameProblem('sseCustomerKey: Secret', this.secretName),
      keyProblem('sseCustomerKey: key', this.key),
    );
  }
}
