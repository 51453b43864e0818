import type { BackupPodSecret } from '../lib/backup-pod';
import { built } from '../validation/kinds';
import { keyProblem, nameProblem, problemsOf } from '../validation/names';
import { s3IdentityKinds, s3SecretKinds } from '../validation/property-kinds';

/** What a Secret with S3 credentials holds, when its keys are not among the names that the agent knows. */
export interface S3SecretOptions {
  /**
   * The key that holds the access key's id. Needs `secretAccessKeyKey`.
   * @default - found by name
   */
  readonly accessKeyIdKey?: string;
  /**
   * The key that holds the secret access key. Needs `accessKeyIdKey`.
   * @default - found by name
   */
  readonly secretAccessKeyKey?: string;
  /**
   * The key that holds the session token of temporary credentials. Needs the other two keys.
   * @default - found by name
   */
  readonly sessionTokenKey?: string;
  /**
   * The profile to use, when the Secret holds the AWS shared files `credentials` and `config`.
   * @default default
   */
  readonly profile?: string;
}

/** Options of workload identity. */
export interface S3WorkloadIdentityOptions {
  /**
   * Annotations for the backup's ServiceAccount, such as `eks.amazonaws.com/role-arn`.
   * @default - none; EKS Pod Identity needs none
   */
  readonly serviceAccountAnnotations?: { readonly [name: string]: string };
}

/** Who the agent is towards an S3 server. */
export class S3Credentials {
  /**
   * A Secret of the backup's namespace. Its keys are found by name: `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`
   * (with `AWS_SESSION_TOKEN`), `accessKeyID` and `accessKeySecret` or `secretAccessKey`, `MINIO_ACCESS_KEY` and
   * `MINIO_SECRET_KEY`, or the AWS shared files `credentials` and `config`. Keys of any other name are given in the
   * options.
   */
  static fromSecret(secretName: string, options: S3SecretOptions = {}): S3Credentials {
    // Not to be taken for a workload identity when JavaScript gives none.
    return built(
      S3Credentials.prototype,
      options,
      s3SecretKinds,
      () => new S3Credentials(secretName ?? '', options, {}),
    );
  }

  /** No Secret: IAM Roles for Service Accounts, EKS Pod Identity, or another identity that the AWS SDK finds by itself. */
  static workloadIdentity(options: S3WorkloadIdentityOptions = {}): S3Credentials {
    return built(
      S3Credentials.prototype,
      options,
      s3IdentityKinds,
      () => new S3Credentials(undefined, {}, options.serviceAccountAnnotations ?? {}),
    );
  }

  private constructor(
    private readonly secretName: string | undefined,
    private readonly options: S3SecretOptions,
    private readonly annotations: { readonly [name: string]: string },
  ) {}

  /** @internal */
  _files(): BackupPodSecret | undefined {
    if (!this.secretName) return undefined;
    const items = this.mapping();
    return items.length > 0 ? { secretName: this.secretName, items } : { secretName: this.secretName };
  }

  /**
   * Whether the keys have been named, so that there are no AWS shared files.
   * @internal
   */
  _isMapped(): boolean {
    return this.mapping().length > 0;
  }

  /** @internal */
  _profile(): string | undefined {
    return this.options.profile;
  }

  /** @internal */
  _serviceAccountAnnotations(): { readonly [name: string]: string } {
    return this.annotations;
  }

  /** @internal */
  _problems(): string[] {
    const { accessKeyIdKey, secretAccessKeyKey, profile } = this.options;
    const mapping = this.mapping();
    return problemsOf(
      this.secretName === undefined ? undefined : nameProblem('credentials: Secret', this.secretName),
      ...mapping.map(({ key }) => keyProblem('credentials: key', key)),
      mapping.length > 0 && !(accessKeyIdKey && secretAccessKeyKey)
        ? 'credentials: give accessKeyIdKey and secretAccessKeyKey together, or neither'
        : undefined,
      mapping.length > 0 && profile
        ? `credentials: profile '${profile}' is of the AWS shared files; remove it, or the keys`
        : undefined,
    );
  }

  private mapping(): { readonly key: string; readonly path: string }[] {
    const { accessKeyIdKey, secretAccessKeyKey, sessionTokenKey } = this.options;
    return [
      { key: accessKeyIdKey, path: 'AWS_ACCESS_KEY_ID' },
      { key: secretAccessKeyKey, path: 'AWS_SECRET_ACCESS_KEY' },
      { key: sessionTokenKey, path: 'AWS_SESSION_TOKEN' },
    ].flatMap(({ key, path }) => (key === undefined ? [] : [{ key, path }]));
  }
}
