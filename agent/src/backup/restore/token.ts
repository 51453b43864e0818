import { createHash, randomBytes } from 'node:crypto';

/** Returns a new token. The same token and members give the same cluster id, whatever the data are. */
export const freshToken = (): string => `restored-${randomBytes(8).toString('hex')}`;

/**
 * Names a token to use instead of one that is refused, or missing. All members that restore the same snapshot read the same
 * one in their errors, because with different tokens they would be different clusters.
 */
export function nextToken(snapshot: string, refused = ''): string {
  const derived = createHash('sha256').update(`${snapshot}\n${refused}`).digest('hex').slice(0, 16);
  return `restored-${derived}`;
}
