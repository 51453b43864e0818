/**
 * The data of a typed class as it appears in YAML: enums and times are strings, and lists are read-only. With this type
 * the compiler checks the specs that we write against our CustomResourceDefinitions.
 */
export type PlainData<T> = T extends Date | string
  ? string
  : T extends number | boolean | undefined
    ? T
    : T extends (infer Item)[]
      ? readonly PlainData<Item>[]
      : { readonly [Key in keyof T]: PlainData<T[Key]> };
