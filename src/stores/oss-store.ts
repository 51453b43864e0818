import type { CaBundle } from '../tls/ca-bundle';
import { pathProblem, problemsOf } from '../validation/names';
import type { OssCredentials } from './oss-credentials';
import type { StoreDefinition } from './store-definition';

/** Properties of `BackupStore.oss`. */
export interface OssStoreProps {
  /** The bucket's name. */
  readonly bucket: string;
  /** How the agent signs in. */
  readonly credentials: OssCredentials;
  /**
   * The folder within the bucket, such as `etcd/eu`.
   * @default - the bucket's root
   */
  readonly prefix?: string;
  /**
   * The bucket's region, such as `eu-central-1`.
   * @default - the endpoint's, else cn-hangzhou
   */
  readonly region?: string;
  /**
   * The host of OSS, such as `oss-eu-central-1-internal.aliyuncs.com` within Alibaba's network. Without a scheme https is
   * meant.
   * @default - the region's public one
   */
  readonly endpoint?: string;
  /**
   * The authorities that signed the certificate of a custom endpoint, when they are not public ones.
   * @default - public authorities
   */
  readonly ca?: CaBundle;
}

export function ossStore(props: OssStoreProps): StoreDefinition {
  const { bucket, credentials, ca } = props;
  const region = props.region || undefined;
  const endpoint = props.endpoint || undefined;
  const prefix = props.prefix?.replace(/^\/+|\/+$/g, '') || undefined;
  return {
    pod: { oss: { bucket, prefix, region, endpoint, ca: ca?._files(), credentials: credentials._files() } },
    place: ['oss:/', bucket, prefix].filter(Boolean).join('/'),
    problems: [
      ...problemsOf(
        bucketProblem(bucket),
        prefix === undefined ? undefined : pathProblem('prefix', prefix),
        region === undefined || /^[a-z0-9-]+$/.test(region)
          ? undefined
          : `region: '${region}' is no region; write it like eu-central-1`,
        endpoint === undefined ? undefined : endpointProblem(endpoint, region),
      ),
      ...credentials._problems(),
      ...(ca?._problems('ca') ?? []),
    ],
  };
}

function bucketProblem(bucket: string): string | undefined {
  if (/^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(bucket)) return undefined;
  return `bucket: '${bucket}' is no bucket name; use 3 to 63 lower-case letters, digits and '-', and put a path into prefix`;
}

function endpointProblem(endpoint: string, region: string | undefined): string | undefined {
  const match = /^(https?:\/\/)?([a-z0-9.-]*[a-z][a-z0-9-]*)(:\d{1,5})?\/?$/.exec(endpoint);
  if (!match) {
    return 'endpoint: is no host of OSS; write it like oss-eu-central-1.aliyuncs.com, without user, password or path';
  }
  const host = match[2] ?? '';
  const own = /^(?:s3\.)?oss-(.+?)(?:-internal)?\.aliyuncs\.com$/.exec(host)?.[1];
  if (!own && /\.oss-.+\.aliyuncs\.com$/.test(host)) return `endpoint: '${host}' names a bucket; remove that from it`;
  if (!own || !region || own.startsWith('accelerate') || own === region.replace(/^oss-/, '')) return undefined;
  return `region: '${region}' is not that of endpoint ${host}; correct one of them, or leave region out`;
}
