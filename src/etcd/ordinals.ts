/** The most members that a cluster may have. */
export const maxSize = 7;

/** Every ordinal that a cluster may ever have, so that what is made for them never changes with its size. */
export const ordinals: readonly number[] = Array.from({ length: maxSize }, (_, ordinal) => ordinal);

/** What is wrong with the number of a member; undefined when nothing is. */
export function ordinalProblem(what: string, ordinal: number): string | undefined {
  if (ordinals.includes(ordinal)) return undefined;
  return `${what}: ${ordinal} is no member's number; use 0 to ${maxSize - 1}, the end of its pod's name`;
}
