import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

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

export const bearerRefusal = (request: IncomingMessage, tokenSha256: string): string | undefined =>
  hasToken(request, tokenSha256) ? undefined : 'the token is missing or wrong\n';
