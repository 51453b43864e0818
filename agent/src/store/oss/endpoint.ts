import { isIP } from 'node:net';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { OssSpec } from '../spec.ts';

const DEFAULT_REGION = 'cn-hangzhou';
/** `oss-eu-central-1.aliyuncs.com`, with `s3.` before it for the S3 protocol, with a bucket before that in its own URL. */
const OSS_HOST = /^(?<bucket>.+\.)??(?<s3>s3\.)?oss-(?<name>[a-z0-9-]+?)(?<network>-internal)?\.aliyuncs\.com$/;

const mistake = (message: string) => new AgentError(ExitCode.usage, `oss: ${message}`);

/** The origin that speaks S3, and the region to sign for. */
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
  if (bucket) throw mistake(`endpoint ${url.host} names a bucket; write oss-${name}${network}.aliyuncs.com`);
  // Acceleration is of no region.
  const own = name!.startsWith('accelerate') ? undefined : name;
  if (own && region && own !== region)
    throw mistake(`region ${region} is not that of endpoint ${url.host}; correct one of them, or leave region out`);
  url.hostname = `s3.oss-${name}${network}.aliyuncs.com`;
  return { endpoint: url.origin, region: region ?? own ?? DEFAULT_REGION };
}

function originOf(text: string): URL {
  const url = URL.parse(text.includes('://') ? text : `https://${text}`);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    throw mistake(`endpoint '${text.replace(/^.*@/, '')}' is no URL; write oss-cn-hangzhou.aliyuncs.com`);
  }
  if (url.username || url.password) {
    throw mistake(`endpoint ${url.host}: credentials do not belong in a URL; use credentialsDirectory`);
  }
  if (url.pathname !== '/' || url.search || url.hash) {
    throw mistake(`endpoint '${text}' has a path; write only ${url.origin}, and bucket and prefix in their own fields`);
  }
  // OSS wants the bucket in the host name.
  if (isIP(url.hostname.replace(/^\[|\]$/g, ''))) {
    throw mistake(`endpoint ${url.host} is an address, before which no bucket can stand; give its host name`);
  }
  return url;
}
