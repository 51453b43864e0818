import { randomBytes } from 'node:crypto';

/** What an unfinished file's name ends in. */
export const PART = '.part';

/** Only rests with our own random infix are ours to sweep. */
export const OUR_PART = /\.[0-9a-f]{8}\.part$/;

export const partName = (path: string) => `${path}.${randomBytes(4).toString('hex')}${PART}`;
