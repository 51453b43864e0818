import type { BackupPodSecret } from '../lib/backup-pod';
import { type INamed, nameOf } from '../validation/named';
import { keyProblem, manifestNameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';

/** Selects the server-side encryption of the objects in an S3 bucket. */
export enum ServerSideEncryption {
  /** Uses SSE-S3: the server encrypts with a key of its own. */
  AES256 = 'AES256',
  /** Uses SSE-KMS: the server encrypts with a key of its key management service. */
  KMS = 'aws:kms',
}

/**
 * Holds a key for SSE-C: the S3 server encrypts with this key and does not keep it. The key has 32 bytes, raw or in
 * base64 (`openssl rand -base64 32`). Without the key no backup can be read again: keep a copy in a place that survives
 * the loss of etcd.
 */
export class SseCustomerKey {
  /**
   * Reads the key from a Secret in the backup's namespace.
   *
   * @param secret The Secret, or its name.
   * @param key The key of the Secret that holds it. Default: `key`.
   */
  static fromSecret(secret: string | INamed, key: string = 'key'): SseCustomerKey {
    return new SseCustomerKey(nameOf(secret), key);
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
      manifestNameProblem('sseCustomerKey: Secret', this.secretName),
      keyProblem('sseCustomerKey: key', this.key),
    );
  }
}
