import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isAuthorized } from './http-listener.ts';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** True if a request has a bearer token with this SHA-256. */
function hasToken({ headers }: IncomingMessage, tokenSha256: string): boolean {
  const [, token] = /^Bearer (\S+)$/i.exec(headers.authorization ?? '') ?? [];
  const wanted = Buffer.from(tokenSha256, 'hex');
  const given = createHash('sha256')
    .update(token ?? '')
    .digest();
  return token !== undefined && wanted.length === given.length && timingSafeEqual(given, wanted);
}

/** Returns why a client may not read a file for members: with TLS it needs their certificate, without TLS the token. */
export function refusalOf(request: IncomingMessage, isTls: boolean, tokenSha256: string): string | undefined {
  if (isTls) return isAuthorized(request) ? undefined : 'a client certificate of a member is required\n';
  return hasToken(request, tokenSha256) ? undefined : 'the token is missing or wrong\n';
}
