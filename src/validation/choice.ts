/** What is wrong with a value that must be one of a few; undefined when nothing is. */
export function choiceProblem(what: string, value: string | undefined, choices: object): string | undefined {
  const values: unknown[] = Object.values(choices);
  if (value === undefined || values.includes(value)) return undefined;
  return `${what}: '${value}' is none of ${values.join(', ')}; use one of these, or leave it out`;
}
