import { isIP } from 'node:net';
import { usageError } from '../../lib/errors.ts';
import type { OssSpec } from '../spec.ts';

const DEFAULT_REGION = 'cn-hangzhou';
/** `oss-eu-central-1.aliyuncs.com`, optionally after `s3.` (for the S3 protocol) and a bucket. */
const OSS_HOST = /^(?<bucket>.+\.)??(?<s3>s3\.)?oss-(?<name>[a-z0-9-]+?)(?<network>-internal)?\.aliyuncs\.com$/;

const mistake = (message: string) => usageError(`oss: ${message}`);

/** Returns the origin of the S3-compatible endpoint, and the region to sign for. */
export function ossEndpoint(spec: Pick<OssSpec, 'region' | 'endpoint'>): { endpoint: string; region: string } {
  const region = spec.region?.trim().replace(/^oss-/, '') || undefined;
  const text = spec.endpoint?.trim();
  if (!text) {
    const chosen = region ?? DEFAULT_REGION;
    return { endpoint: `https://s3.oss-${chosen}.aliyuncs.com`, region: chosen };
  }
  const url = originOf(text);
  const host = OSS_HOST.exec(url.hostname)?.groups;
  if (!host) return { endpoint: url.origin, region: region ?? DEFAULT_REGION };
  const { bucket, name, network = '' } = host;
  if (bucket) throw mistake(`endpoint ${url.host} contains a bucket; write oss-${name}${network}.aliyuncs.com`);
  // An acceleration endpoint belongs to no region.
  const own = name!.startsWith('accelerate') ? undefined : name;
  if (own && region && own !== region)
    throw mistake(`region ${region} is not the region of endpoint ${url.host}; correct one of them, or omit region`);
  url.hostname = `s3.oss-${name}${network}.aliyuncs.com`;
  return { endpoint: url.origin, region: region ?? own ?? DEFAULT_REGION };
}

function originOf(text: string): URL {
  const url = URL.parse(text.includes('://') ? text : `https://${text}`);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    throw mistake(`endpoint '${text.replace(/^.*@/, '')}' is not a URL; write oss-cn-hangzhou.aliyuncs.com`);
  }
  if (url.username || url.password) {
    throw mistake(`endpoint ${url.host}: credentials do not belong in a URL; use credentialsDirectory`);
  }
  if (url.pathname !== '/' || url.search || url.hash) {
    throw mistake(
      `endpoint '${text}' has a path; write only ${url.origin}, and set bucket and prefix in their own fields`,
    );
  }
  // OSS requires the bucket in the host name.
  if (isIP(url.hostname.replace(/^\[|\]$/g, ''))) {
    throw mistake(`endpoint ${url.host} is an IP address, which cannot be combined with a bucket; write a host name`);
  }
  return url;
}
