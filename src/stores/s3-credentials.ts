import type { BackupPodSecret } from '../lib/backup-pod';
import { type INamed, nameOf } from '../validation/named';
import { keyProblem, manifestNameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import * as types from '../validation/property-types';
import { buildIfValid } from '../validation/type-checks';

/** Names the keys of a Secret that holds S3 credentials, if the agent does not recognize their names. */
export interface S3SecretOptions {
  /**
   * Names the key that holds the id of the access key. Requires `secretAccessKeyKey`.
   * @default - the agent finds the key by its name
   */
  readonly accessKeyIdKey?: string;
  /**
   * Names the key that holds the secret access key. Requires `accessKeyIdKey`.
   * @default - the agent finds the key by its name
   */
  readonly secretAccessKeyKey?: string;
  /**
   * Names the key that holds the session token of temporary credentials. Requires the other two keys.
   * @default - the agent finds the key by its name
   */
  readonly sessionTokenKey?: string;
  /**
   * Names the profile to use, if the Secret holds the AWS shared files `credentials` and `config`.
   * @default default
   */
  readonly profile?: string;
}

/** Configures `S3Credentials.workloadIdentity`. */
export interface S3WorkloadIdentityOptions {
  /**
   * Adds annotations to the backup's ServiceAccount, such as `eks.amazonaws.com/role-arn`.
   * @default - none. EKS Pod Identity needs no annotations.
   */
  readonly serviceAccountAnnotations?: { readonly [name: string]: string };
}

/** Holds the credentials with which the agent signs in to an S3 server. */
export class S3Credentials {
  /**
   * Reads the credentials from a Secret in the backup's namespace. The agent recognizes these keys: `AWS_ACCESS_KEY_ID`
   * and `AWS_SECRET_ACCESS_KEY` (with `AWS_SESSION_TOKEN`), `accessKeyID` and `accessKeySecret` or `secretAccessKey`,
   * `MINIO_ACCESS_KEY` and `MINIO_SECRET_KEY`, or the AWS shared files `credentials` and `config`. Name any other keys
   * in the options.
   *
   * @param secret The Secret, or its name.
   * @param options The keys of the Secret, if they have other names.
   */
  static fromSecret(secret: string | INamed, options: S3SecretOptions = {}): S3Credentials {
    // JavaScript callers may pass undefined: that must not select workload identity.
    return buildIfValid(
      S3Credentials.prototype,
      options,
      types.S3SecretOptions,
      () => new S3Credentials(nameOf(secret) ?? '', options, {}),
    );
  }

  /**
   * Uses no Secret: IAM Roles for Service Accounts, EKS Pod Identity, or another identity that the AWS SDK finds by
   * itself.
   */
  static workloadIdentity(options: S3WorkloadIdentityOptions = {}): S3Credentials {
    return buildIfValid(
      S3Credentials.prototype,
      options,
      types.S3WorkloadIdentityOptions,
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
   * True if the options name keys. The Secret then holds no AWS shared files.
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
      this.secretName === undefined ? undefined : manifestNameProblem('credentials: Secret', this.secretName),
      ...mapping.map(({ key }) => keyProblem('credentials: key', key)),
      mapping.length > 0 && !(accessKeyIdKey && secretAccessKeyKey)
        ? 'credentials: give accessKeyIdKey and secretAccessKeyKey together, or neither'
        : undefined,
      mapping.length > 0 && profile
        ? `credentials: profile '${profile}' belongs to the AWS shared files, which named keys exclude; remove it, or the keys`
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
