/** Removes the `undefined` entries: a check returns undefined if it finds no problem. */
export function problemsOf(...found: readonly (string | undefined)[]): string[] {
  return found.filter((problem) => problem !== undefined);
}

/** Problem with a value that must be one of `choices`, or undefined if the value is valid or not given. */
export function choiceProblem(what: string, value: string | undefined, choices: object): string | undefined {
  const values: unknown[] = Object.values(choices);
  if (value === undefined || values.includes(value)) return undefined;
  return `${what}: '${value}' is not one of ${values.join(', ')}; use one of these, or leave it out`;
}
