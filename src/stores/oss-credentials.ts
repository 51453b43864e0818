import type { BackupPodSecret } from '../lib/backup-pod';
import { type INamed, nameOf } from '../validation/named';
import { keyProblem, manifestNameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import * as types from '../validation/property-types';
import { buildIfValid } from '../validation/type-checks';

/** Names the keys of a Secret that holds an AccessKey of Alibaba Cloud, if they differ from the defaults. */
export interface OssSecretOptions {
  /**
   * Names the key that holds the id of the AccessKey. Requires `accessKeySecretKey`.
   * @default accessKeyID
   */
  readonly accessKeyIdKey?: string;
  /**
   * Names the key that holds the secret of the AccessKey. Requires `accessKeyIdKey`.
   * @default accessKeySecret
   */
  readonly accessKeySecretKey?: string;
}

/** Holds the credentials with which the agent signs in to Alibaba Cloud OSS. */
export class OssCredentials {
  /**
   * Reads the AccessKey from a Secret in the backup's namespace. The keys are `accessKeyID` and `accessKeySecret`,
   * unless the options name others.
   *
   * @param secret The Secret, or its name.
   * @param options The keys of the Secret, if they have other names.
   */
  static fromSecret(secret: string | INamed, options: OssSecretOptions = {}): OssCredentials {
    return buildIfValid(
      OssCredentials.prototype,
      options,
      types.OssSecretOptions,
      () => new OssCredentials(nameOf(secret), options),
    );
  }

  private constructor(
    private readonly secretName: string,
    private readonly options: OssSecretOptions,
  ) {}

  /** @internal */
  _files(): BackupPodSecret {
    const items = this.mapping();
    return items.length > 0 ? { secretName: this.secretName, items } : { secretName: this.secretName };
  }

  /** @internal */
  _problems(): string[] {
    const mapping = this.mapping();
    return problemsOf(
      manifestNameProblem('credentials: Secret', this.secretName),
      ...mapping.map(({ key }) => keyProblem('credentials: key', key)),
      mapping.length === 1 ? 'credentials: give accessKeyIdKey and accessKeySecretKey together, or neither' : undefined,
    );
  }

  private mapping(): { readonly key: string; readonly path: string }[] {
    const { accessKeyIdKey, accessKeySecretKey } = this.options;
    return [
      { key: accessKeyIdKey, path: 'accessKeyID' },
      { key: accessKeySecretKey, path: 'accessKeySecret' },
    ].flatMap(({ key, path }) => (key === undefined ? [] : [{ key, path }]));
  }
}
