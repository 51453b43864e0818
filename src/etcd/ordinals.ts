/** Largest number of members that a cluster can have. */
export const maxSize = 7;

/**
 * Every ordinal that a member can ever have. Objects are created for all of them, so they do not depend on the size.
 */
export const ordinals: readonly number[] = Array.from({ length: maxSize }, (_, ordinal) => ordinal);
