/** Removes the `undefined` entries: a check returns undefined if it finds no problem. */
export function problemsOf(...found: readonly (string | undefined)[]): string[] {
  return found.filter((problem) => problem !== undefined);
}
