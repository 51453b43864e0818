import type { ErrorDetails } from '../../src/lib/errors.ts';

/** Matches an error by its message and, if they are given, by the setting that is wrong and by what was found. */
export const errorLike = (message: RegExp | string, details: Pick<ErrorDetails, 'at' | 'finding'> = {}) =>
  expect.objectContaining({
    message: typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
    ...details,
  });
