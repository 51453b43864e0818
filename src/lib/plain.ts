/**
 * A typed class's data as it stands in YAML: enums and times are strings, and nothing writes into lists. The compiler then
 * checks what we write against our CustomResourceDefinitions.
 */
export type Plain<T> = T extends Date | string
  ? string
  : T extends number | boolean | undefined
    ? T
    : T extends (infer Item)[]
      ? readonly Plain<Item>[]
      : { readonly [Key in keyof T]: Plain<T[Key]> };
