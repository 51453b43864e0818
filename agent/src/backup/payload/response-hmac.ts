import { createHmac, timingSafeEqual } from 'node:crypto';

/** Header with the HMAC-SHA256 of the exact response body, in hex. */
export const hmacHeader = 'etcd-agent-hmac-sha256';

const digest = (body: string, tokenSha256: string): Buffer =>
  createHmac('sha256', Buffer.from(tokenSha256, 'hex')).update(body).digest();

/** Computes the HMAC. The key is the SHA-256 of the one-time token, which only the reconciler and its Job know. */
export const hmacOf = (body: string, tokenSha256: string): string => digest(body, tokenSha256).toString('hex');

/** Whether the HMAC belongs to the body. */
export function isAuthentic(body: string, proof: unknown, tokenSha256: string): boolean {
  const given = Buffer.from(typeof proof === 'string' ? proof : '', 'hex');
  const wanted = digest(body, tokenSha256);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}
