/** The value of an enum of the public API as the schema has it: a text. */
export const enumText = <T extends string>(value: T | undefined) => value as `${T}` | undefined;
