import type { BackupPodSecret } from '../lib/backup-pod';
import { built } from '../validation/kinds';
import { keyProblem, nameProblem, problemsOf } from '../validation/names';
import { ossSecretKinds } from '../validation/property-kinds';

/** What a Secret with an AccessKey of Alibaba Cloud holds, when its keys have other names. */
export interface OssSecretOptions {
  /**
   * The key that holds the AccessKey's id. Needs `accessKeySecretKey`.
   * @default accessKeyID
   */
  readonly accessKeyIdKey?: string;
  /**
   * The key that holds the AccessKey's secret. Needs `accessKeyIdKey`.
   * @default accessKeySecret
   */
  readonly accessKeySecretKey?: string;
}

/** Who the agent is towards Alibaba Cloud OSS. */
export class OssCredentials {
  /** A Secret of the backup's namespace. Its keys are `accessKeyID` and `accessKeySecret`, or those in the options. */
  static fromSecret(secretName: string, options: OssSecretOptions = {}): OssCredentials {
    return built(OssCredentials.prototype, options, ossSecretKinds, () => new OssCredentials(secretName, options));
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
      nameProblem('credentials: Secret', this.secretName),
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
