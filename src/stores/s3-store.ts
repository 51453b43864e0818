import type { CaBundle } from '../tls/ca-bundle';
import { problemsOf } from '../validation/problems';
import type { S3Credentials } from './s3-credentials';
import type { ServerSideEncryption, SseCustomerKey } from './s3-encryption';
import { type StoreDefinition, storeProblems } from './store-definition';

/** Configures `BackupStore.s3`. */
export interface S3StoreProps {
  /** Names the bucket. */
  readonly bucket: string;
  /** Sets the credentials with which the agent signs in. */
  readonly credentials: S3Credentials;
  /**
   * Sets a folder within the bucket, such as `etcd/eu`.
   * @default - the bucket's root
   */
  readonly prefix?: string;
  /**
   * Names the region of the bucket, such as `eu-west-1`.
   * @default - taken from the AWS shared files or the workload identity; us-east-1 for a custom endpoint
   */
  readonly region?: string;
  /**
   * Sets the URL of an S3 server other than AWS. Without a scheme, https is used.
   * @default - AWS
   */
  readonly endpoint?: string;
  /**
   * Puts the name of the bucket into the path of the URL instead of its host.
   * @default - true for a custom endpoint, false on AWS
   */
  readonly pathStyle?: boolean;
  /**
   * Lists the certificate authorities that signed the server's certificate, if they are not public ones.
   * @default - public authorities
   */
  readonly ca?: CaBundle;
  /**
   * Selects how the server encrypts the objects that it stores.
   * @default - the bucket's own setting
   */
  readonly serverSideEncryption?: ServerSideEncryption;
  /**
   * Sets the id of the key for `ServerSideEncryption.KMS`.
   * @default - the bucket's key, or the key that the server manages
   */
  readonly kmsKeyId?: string;
  /**
   * Sets the key for SSE-C: the agent sends it with every request, and the server encrypts with it but does not keep
   * it. Requires TLS, and excludes `serverSideEncryption`.
   * @default - no SSE-C
   */
  readonly sseCustomerKey?: SseCustomerKey;
}

export function s3Store(props: S3StoreProps): StoreDefinition {
  const { bucket, region, pathStyle, serverSideEncryption, kmsKeyId, sseCustomerKey, credentials, ca } = props;
  const endpoint = props.endpoint || undefined;
  const prefix = trimSlashes(props.prefix);
  const pod = {
    s3: {
      bucket,
      prefix,
      region,
      endpoint,
      pathStyle,
      profile: credentials._profile(),
      serverSideEncryption,
      kmsKeyId,
      sseCustomerKey: sseCustomerKey?._files(),
      ca: ca?._files(),
      credentials: credentials._files(),
    },
  };
  return {
    pod,
    problems: storeProblems(pod, [
      ...problemsOf(regionProblem(props)),
      ...credentials._problems(),
      ...(ca?._problems('ca') ?? []),
      ...(sseCustomerKey?._problems() ?? []),
    ]),
    serviceAccountAnnotations: credentials._serviceAccountAnnotations(),
  };
}

function trimSlashes(prefix: string | undefined): string | undefined {
  return prefix?.replace(/^\/+|\/+$/g, '') || undefined;
}

function regionProblem({ region, endpoint, credentials }: S3StoreProps): string | undefined {
  if (region !== undefined && !/^[\w-]+$/.test(region))
    return `region: '${region}' is not a valid region; write it like eu-west-1`;
  // Without named keys the region may come from the AWS shared files or from the workload identity.
  if (region === undefined && !endpoint && credentials._isMapped())
    return "region: is missing; give the bucket's region, such as eu-west-1";
  return undefined;
}
