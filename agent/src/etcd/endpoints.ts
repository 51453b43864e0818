import { usageError } from '../lib/errors.ts';
import type { Finding } from '../lib/finding.ts';

/** Parses endpoints into URLs: comma-separated; `host:port` is allowed and means https if TLS files are given. */
export function parseEndpoints(endpoints: readonly string[], tls: boolean): string[] {
  const urls = endpoints
    .flatMap((list) => list.split(','))
    .map((text) => text.trim())
    .filter(Boolean)
    .map((text) => parseEndpoint(text, tls));
  if (urls.length === 0) {
    throw usageError('name at least one etcd endpoint, such as https://etcd-0:2379', { at: 'endpoints' });
  }
  return [...new Set(urls)];
}

function parseEndpoint(text: string, tls: boolean): string {
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `${tls ? 'https' : 'http'}://${text}`);
  const wrong = (why: string, finding?: Finding) => usageError(`'${text}' ${why}`, { at: 'endpoints', finding });
  if (!url || !['http:', 'https:'].includes(url.protocol) || !url.hostname) {
    throw wrong('is not an etcd endpoint; write https://host:2379');
  }
  if (url.username || url.password) throw wrong('contains a user', { kind: 'userInEndpoint' });
  if (url.pathname !== '/' || url.search || url.hash)
    throw wrong('has a path; an endpoint has only a scheme, a host and a port');
  // A URL without a port would lead to 80 or 443.
  if (!/:\d+\/?$/.test(text)) throw wrong(`has no port; write ${text.replace(/[:/]+$/, '')}:2379`);
  if (url.protocol === 'http:' && tls) throw wrong('uses plain http, but TLS files are given; write https://');
  return url.origin;
}
