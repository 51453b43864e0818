import type { CaBundle } from '../tls/ca-bundle';
import { problemsOf } from '../validation/problems';
import type { OssCredentials } from './oss-credentials';
import { type StoreDefinition, storeProblems } from './store-definition';

/** Configures `BackupStore.oss`. */
export interface OssStoreProps {
  /** Names the bucket. */
  readonly bucket: string;
  /** Sets the credentials with which the agent signs in. */
  readonly credentials: OssCredentials;
  /**
   * Sets a folder within the bucket, such as `etcd/eu`.
   * @default - the bucket's root
   */
  readonly prefix?: string;
  /**
   * Names the region of the bucket, such as `eu-central-1`.
   * @default - the region of the endpoint, else cn-hangzhou
   */
  readonly region?: string;
  /**
   * Sets the host of OSS, such as `oss-eu-central-1-internal.aliyuncs.com` within Alibaba's network. Without a scheme,
   * https is used.
   * @default - the public endpoint of the region
   */
  readonly endpoint?: string;
  /**
   * Lists the certificate authorities that signed the certificate of a custom endpoint, if they are not public ones.
   * @default - public authorities
   */
  readonly ca?: CaBundle;
}

export function ossStore(props: OssStoreProps): StoreDefinition {
  const { bucket, credentials, ca } = props;
  const region = props.region || undefined;
  const endpoint = props.endpoint || undefined;
  const prefix = props.prefix?.replace(/^\/+|\/+$/g, '') || undefined;
  const pod = { oss: { bucket, prefix, region, endpoint, ca: ca?._files(), credentials: credentials._files() } };
  return {
    pod,
    problems: storeProblems(pod, [
      ...problemsOf(
        region === undefined || /^[a-z0-9-]+$/.test(region)
          ? undefined
          : `region: '${region}' is not a valid region; write it like eu-central-1`,
        endpoint === undefined ? undefined : endpointProblem(endpoint, region),
      ),
      ...credentials._problems(),
      ...(ca?._problems('ca') ?? []),
    ]),
  };
}

function endpointProblem(endpoint: string, region: string | undefined): string | undefined {
  const host = endpoint.replace(/^https?:\/\//, '').replace(/\.?(:\d+)?\/?$/, '');
  const own = /^(?:s3\.)?oss-(.+?)(?:-internal)?\.aliyuncs\.com$/.exec(host)?.[1];
  if (!own && /\.oss-.+\.aliyuncs\.com$/.test(host))
    return `endpoint: '${host}' contains the name of a bucket; remove it`;
  if (!own || !region || own.startsWith('accelerate') || own === region.replace(/^oss-/, '')) return undefined;
  return `region: '${region}' is not the region of endpoint ${host}; correct one of them, or leave region out`;
}
