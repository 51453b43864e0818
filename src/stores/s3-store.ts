import type { CaBundle } from '../tls/ca-bundle';
import { choiceProblem, problemsOf } from '../validation/problems';
import { pathProblem } from '../validation/store-paths';
import type { S3Credentials } from './s3-credentials';
import type { SseCustomerKey } from './s3-encryption';
import { ServerSideEncryption } from './s3-encryption';
import type { StoreDefinition } from './store-definition';

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
  const url = endpoint === undefined ? undefined : endpointUrl(endpoint);
  return {
    pod: {
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
    },
    place: `s3://${[url && isAws(url) ? undefined : url?.host, bucket, prefix].filter(Boolean).join('/')}`,
    problems: [
      ...problemsOf(
        bucketProblem(bucket),
        prefix === undefined ? undefined : pathProblem('prefix', prefix),
        regionProblem(props),
        endpoint && !url
          ? 'endpoint: is not a valid S3 server; write https://HOST:PORT, without user, password or path'
          : undefined,
        ca && url?.protocol === 'http:'
          ? 'ca: has no effect with an http:// endpoint; write https://, or remove it'
          : undefined,
        choiceProblem('serverSideEncryption', serverSideEncryption, ServerSideEncryption),
        kmsKeyId !== undefined && serverSideEncryption !== ServerSideEncryption.KMS
          ? 'kmsKeyId: needs serverSideEncryption: ServerSideEncryption.KMS; set it, or remove kmsKeyId'
          : undefined,
        sseCustomerKey && serverSideEncryption
          ? 'sseCustomerKey: cannot be combined with serverSideEncryption; remove one of them'
          : undefined,
        sseCustomerKey && url?.protocol === 'http:'
          ? 'sseCustomerKey: would cross the network in plain text; write https:// in endpoint'
          : undefined,
      ),
      ...credentials._problems(),
      ...(ca?._problems('ca') ?? []),
      ...(sseCustomerKey?._problems() ?? []),
    ],
    serviceAccountAnnotations: credentials._serviceAccountAnnotations(),
  };
}

function trimSlashes(prefix: string | undefined): string | undefined {
  return prefix?.replace(/^\/+|\/+$/g, '') || undefined;
}

function endpointUrl(endpoint: string): URL | undefined {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(endpoint) ? endpoint : `https://${endpoint}`;
  if (/\s/.test(text) || !URL.canParse(text)) return undefined;
  const url = new URL(text);
  const plain = !url.username && !url.password && url.pathname === '/' && !url.search && !url.hash;
  return plain && /^https?:$/.test(url.protocol) ? url : undefined;
}

/** On AWS the name of a bucket is globally unique, so the endpoint does not matter for the place. */
const isAws = ({ hostname }: URL): boolean => /(^|\.)amazonaws\.com(\.cn)?$/.test(hostname);

function bucketProblem(bucket: string): string | undefined {
  const valid =
    typeof bucket === 'string' &&
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) &&
    !bucket.includes('..') &&
    !/^[\d.]+$/.test(bucket);
  if (valid) return undefined;
  return `bucket: '${bucket}' is not a valid bucket name; use 3 to 63 lower-case letters, digits, '-' and '.', and put a path into prefix`;
}

function regionProblem({ region, endpoint, credentials }: S3StoreProps): string | undefined {
  if (region !== undefined && !/^[\w-]+$/.test(region))
    return `region: '${region}' is not a valid region; write it like eu-west-1`;
  // Without named keys the region may come from the AWS shared files or from the workload identity.
  if (region === undefined && !endpoint && credentials._isMapped())
    return "region: is missing; give the bucket's region, such as eu-west-1";
  return undefined;
}
