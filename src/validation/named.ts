/**
 * Represents an object of Kubernetes to which another one refers by its name: an `ApiObject`, or an object of cdk8s-plus,
 * such as an `ISecret`, an `IServiceAccount`, an `INamespace` or an `IPersistentVolumeClaim`.
 */
export interface INamed {
  /** Names the object. */
  readonly name: string;
}

/** Returns the name of an object. What has no name stays, for the check that reports it. */
export function nameOf(named: string | INamed): string;
export function nameOf(named: string | INamed | undefined): string | undefined;
export function nameOf(named: string | INamed | undefined): string | undefined {
  return typeof named === 'object' && named !== null && 'name' in named ? named.name : (named as string | undefined);
}

type NameIn<Value> = Value extends readonly (infer Item)[]
  ? INamed extends Item
    ? readonly Exclude<Item, INamed>[]
    : Value
  : Value;

/** Properties with the names in them instead of the objects. */
export type WithNames<Props> = {
  readonly [Key in keyof Props]: INamed extends Props[Key] ? Exclude<Props[Key], INamed> : NameIn<Props[Key]>;
};

/** Replaces the objects in these properties by their names. */
export function withNames<Props extends object>(props: Props, ...keys: (keyof Props)[]): WithNames<Props> {
  const named = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(named) : nameOf(value as string | INamed | undefined);
  const given = keys.filter((key) => props[key] !== undefined);
  return { ...props, ...Object.fromEntries(given.map((key) => [key, named(props[key])])) } as WithNames<Props>;
}
