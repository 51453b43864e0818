import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { usageError } from '../../lib/errors.ts';
import { readFault } from '../../lib/files/file-faults.ts';
import { pemProblem } from '../../lib/pem-problem.ts';
import type { S3Spec } from '../spec.ts';

/**
 * Returns the custom endpoint, or undefined for AWS. The default scheme is https. Like the SDK, it reads the endpoint
 * from the environment if the spec has none.
 */
export function endpointOf(spec: S3Spec): URL | undefined {
  const { AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3 } = process.env;
  const text = (spec.endpoint ?? AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL)?.trim();
  if (!text) return undefined;
  const url = URL.parse(text.includes('://') ? text : `https://${text}`);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    throw usageError(`s3: endpoint '${withoutUser(text)}' is not a URL; write https://host:port`);
  }
  if (url.username || url.password) {
    throw usageError(`s3: endpoint ${url.host}: credentials do not belong in a URL; use credentialsDirectory`);
  }
  if (url.pathname !== '/' || url.search || url.hash) {
    throw usageError(
      `s3: endpoint '${text}' has a path; write only ${url.origin}, and set bucket and prefix in their own fields`,
    );
  }
  return url;
}

/** URL of the bucket, without secrets. */
export function s3Url(spec: S3Spec, scheme = 's3'): string {
  const endpoint = endpointOf(spec);
  const prefix = spec.prefix?.replaceAll(/^\/+|\/+$/g, '');
  const place = `${scheme}://${spec.bucket}${prefix ? `/${prefix}` : ''}`;
  return endpoint ? `${place}?endpoint=${endpoint.origin}` : place;
}

const withoutUser = (text: string) => text.replace(/^.*@/, '');

/**
 * True if the bucket belongs into the path of a request instead of the host name. An IP address cannot be combined with
 * a bucket, and few self-hosted servers resolve host names with one.
 */
export function isPathStyle(spec: S3Spec, endpoint: URL | undefined): boolean {
  if (!endpoint) return spec.pathStyle ?? false;
  if (isIP(endpoint.hostname.replace(/^\[|\]$/g, ''))) return true;
  return spec.pathStyle ?? true;
}

export async function readAuthorities(file: string | undefined): Promise<Buffer | undefined> {
  if (!file) return undefined;
  const pem = await readFile(file).catch((error) => {
    throw usageError(`s3: caFile ${file} cannot be read ${readFault(error)}`);
  });
  const problem = isCertificate(pem)
    ? undefined
    : (pemProblem(pem, 'certificate') ?? 'does not contain a PEM certificate');
  if (problem !== undefined) throw usageError(`s3: caFile ${file} ${problem}`);
  return pem;
}

/** TLS takes PEM only, also under the names that OpenSSL gives a certificate. */
function isCertificate(pem: Buffer): boolean {
  try {
    new X509Certificate(pem);
    return pem.includes('-----BEGIN ');
  } catch {
    return false;
  }
}
