/** Largest number of members that a cluster can have. */
export const maxSize = 7;

/**
 * Every ordinal that a member can ever have. Objects are created for all of them, so they do not depend on the size.
 */
export const ordinals: readonly number[] = Array.from({ length: maxSize }, (_, ordinal) => ordinal);

/** Problem with the ordinal of a member, or undefined. */
export function ordinalProblem(what: string, ordinal: number): string | undefined {
  if (ordinals.includes(ordinal)) return undefined;
  return `${what}: ${ordinal} is not the ordinal of a member; use 0 to ${maxSize - 1}, the number at the end of the pod's name`;
}
