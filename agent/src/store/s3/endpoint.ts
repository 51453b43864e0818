import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { codeOf, usageError } from '../../lib/errors.ts';
import type { S3Spec } from '../spec.ts';

/** The custom endpoint, or undefined for AWS. Without a scheme https is meant. The SDK would take one from the environment too. */
export function endpointOf(spec: S3Spec): URL | undefined {
  const { AWS_ENDPOINT_URL, AWS_ENDPOINT_URL_S3 } = process.env;
  const text = (spec.endpoint ?? AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL)?.trim();
  if (!text) return undefined;
  const url = URL.parse(text.includes('://') ? text : `https://${text}`);
  if (!url || !['http:', 'https:'].includes(url.protocol) || url.hostname === '') {
    throw usageError(`s3: endpoint '${withoutUser(text)}' is no URL; write https://host:port`);
  }
  if (url.username || url.password) {
    throw usageError(`s3: endpoint ${url.host}: credentials do not belong in a URL; use credentialsDirectory`);
  }
  if (url.pathname !== '/' || url.search || url.hash) {
    throw usageError(
      `s3: endpoint '${text}' has a path; write only ${url.origin}, and bucket and prefix in their own fields`,
    );
  }
  return url;
}

/** Of the bucket, without secrets. */
export function s3Url(spec: S3Spec, scheme = 's3'): string {
  const endpoint = endpointOf(spec);
  const prefix = spec.prefix?.replaceAll(/^\/+|\/+$/g, '');
  const place = `${scheme}://${spec.bucket}${prefix ? `/${prefix}` : ''}`;
  return endpoint ? `${place}?endpoint=${endpoint.origin}` : place;
}

const withoutUser = (text: string) => text.replace(/^.*@/, '');

/** Whether the bucket stands in the path. It cannot be part of an IP address, and few own servers resolve it in a host name. */
export function isPathStyle(spec: S3Spec, endpoint: URL | undefined): boolean {
  if (!endpoint) return spec.pathStyle ?? false;
  if (isIP(endpoint.hostname.replace(/^\[|\]$/g, ''))) return true;
  return spec.pathStyle ?? true;
}

export async function readAuthorities(file: string | undefined): Promise<Buffer | undefined> {
  if (!file) return undefined;
  const pem = await readFile(file).catch((error) => {
    throw usageError(`s3: caFile ${file} cannot be read (${codeOf(error)})`);
  });
  try {
    new X509Certificate(pem);
  } catch {
    throw usageError(`s3: caFile ${file} holds no PEM certificate`);
  }
  return pem;
}
