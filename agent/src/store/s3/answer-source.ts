/** What an answer of a server shows besides its status. */
export interface Answered {
  readonly $metadata?: { readonly httpStatusCode?: number };
  readonly $response?: { readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown };
}

const headerOf = ({ $response }: Answered, name: string): string | undefined => {
  const found = Object.entries($response?.headers ?? {}).find(([key]) => key.toLowerCase() === name);
  return found?.[1];
};

/** Headers that only a store of objects sends. */
const OF_STORE = /^x-(amz|oss|minio|rgw|obs|cos|bce|tos|wasabi|goog|ibm)-/i;
/** Programs that stand before a store. */
const PROXIES =
  /nginx|openresty|tengine|envoy|istio|haproxy|traefik|caddy|squid|varnish|apache|cloudflare|akamai|awselb|cloudfront|bigip|zscaler|fortinet|kong|apisix/i;

/** Statuses that a store does not send. */
const OF_PROXY = new Set([407, 411, 413, 414, 431, 502, 504, 520, 521, 522, 523, 524, 525, 526, 530]);

/**
 * Names a proxy or firewall that answered in place of the store: with a web page, or with the name of its program and nothing
 * of a store's. Undefined if the store may have answered.
 */
export function proxyThatAnswered(error: Answered, hasCode: boolean): string | undefined {
  const headers = Object.keys(error.$response?.headers ?? {});
  if (hasCode || headers.some((name) => OF_STORE.test(name))) return undefined;
  const server = headerOf(error, 'server')?.slice(0, 60);
  const isPage = /text\/html/i.test(headerOf(error, 'content-type') ?? '');
  // A store may run behind one of these programs, and answers a HEAD request without a body.
  const isProxy = server !== undefined && PROXIES.test(server) && OF_PROXY.has(error.$metadata?.httpStatusCode ?? 0);
  if (!isPage && !isProxy) return undefined;
  return `a proxy or firewall before it${server ? ` (${server})` : ''}`;
}

/** Where the server redirects to, as an endpoint: without the path of the object and without a user. */
export function redirectedTo(error: Answered): URL | undefined {
  const status = error.$metadata?.httpStatusCode ?? 0;
  if (status < 300 || status >= 400) return undefined;
  const url = URL.parse(headerOf(error, 'location') ?? '');
  return url && ['http:', 'https:'].includes(url.protocol) && url.hostname !== '' ? url : undefined;
}

/** The region in a host name of AWS, such as `bucket.s3.eu-west-1.amazonaws.com`. */
export const regionOfHost = (host: string): string | undefined =>
  /(?:^|\.)s3[.-](?:dualstack\.|fips\.)?([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com(?:\.cn)?$/.exec(host)?.[1];
