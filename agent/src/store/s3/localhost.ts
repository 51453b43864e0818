import { lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** Names below `localhost`, such as `bucket.localhost`, are this machine (RFC 6761); few resolvers know that. */
export function localhostLookup(endpoint: URL | undefined): { lookup?: LookupFunction } {
  if (!endpoint || !/(^|\.)localhost$/.test(endpoint.hostname)) return {};
  return { lookup: (_name, options, callback) => lookup('localhost', options, callback) };
}
