import type { CaBundle } from '../tls/ca-bundle';
import { choiceProblem } from '../validation/choice';
import { pathProblem, problemsOf } from '../validation/names';
import type { S3Credentials } from './s3-credentials';
import { ServerSideEncryption } from './server-side-encryption';
import type { SseCustomerKey } from './sse-customer-key';
import type { StoreDefinition } from './store-definition';

/** Properties of `BackupStore.s3`. */
export interface S3StoreProps {
  /** The bucket's name. */
  readonly bucket: string;
  /** How the agent signs in. */
  readonly credentials: S3Credentials;
  /**
   * The folder within the bucket, such as `etcd/eu`.
   * @default - the bucket's root
   */
  readonly prefix?: string;
  /**
   * The bucket's region.
   * @default - from the AWS shared files, or as the workload identity says; us-east-1 for a custom endpoint
   */
  readonly region?: string;
  /**
   * The URL of an S3 server other than AWS. Without a scheme https is meant.
   * @default - AWS
   */
  readonly endpoint?: string;
  /**
   * Whether the bucket is named in the URL's path rather than in its host.
   * @default - true for a custom endpoint, false on AWS
   */
  readonly pathStyle?: boolean;
  /**
   * The authorities that signed the server's certificate, when they are not public ones.
   * @default - public authorities
   */
  readonly ca?: CaBundle;
  /**
   * How the server encrypts what it stores.
   * @default - as the bucket says
   */
  readonly serverSideEncryption?: ServerSideEncryption;
  /**
   * The key of `ServerSideEncryption.KMS`.
   * @default - the bucket's, or the one that the server manages
   */
  readonly kmsKeyId?: string;
  /**
   * SSE-C: the server encrypts with this key, which goes along with every object and which it does not keep. Needs TLS.
   * @default - no key of ours
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
          ? 'endpoint: is no S3 server; write https://HOST:PORT, without user, password or path'
          : undefined,
        ca && url?.protocol === 'http:'
          ? 'ca: is of no use with an http:// endpoint; write https://, or remove it'
          : undefined,
        choiceProblem('serverSideEncryption', serverSideEncryption, ServerSideEncryption),
        kmsKeyId !== undefined && serverSideEncryption !== ServerSideEncryption.KMS
          ? 'kmsKeyId: needs serverSideEncryption: ServerSideEncryption.KMS'
          : undefined,
        sseCustomerKey && serverSideEncryption
          ? 'sseCustomerKey: excludes serverSideEncryption; remove one of them'
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

/** Names of its buckets are the same everywhere. */
const isAws = ({ hostname }: URL): boolean => /(^|\.)amazonaws\.com(\.cn)?$/.test(hostname);

function bucketProblem(bucket: string): string | undefined {
  const valid =
    typeof bucket === 'string' &&
    /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) &&
    !bucket.includes('..') &&
    !/^[\d.]+$/.test(bucket);
  if (valid) return undefined;
  return `bucket: '${bucket}' is no bucket name; use 3 to 63 lower-case letters, digits, '-' and '.', and put a path into prefix`;
}

function regionProblem({ region, endpoint, credentials }: S3StoreProps): string | undefined {
  if (region !== undefined && !/^[\w-]+$/.test(region))
    return `region: '${region}' is no region; write it like eu-west-1`;
  // Elsewhere it may come from the AWS shared files, or with the workload identity.
  if (region === undefined && !endpoint && credentials._isMapped())
    return "region: none given; name the bucket's, such as eu-west-1";
  return undefined;
}
