import { insteadOf } from './other-names';
import { isReserved } from './plain-object';
import { isToken, knownLater } from './tokens';

/**
 * The type that a property must have. TypeScript checks it at compile time, but not for callers that write JavaScript
 * or `any`.
 */
export interface PropertyType {
  /** Name of the type, with its article. */
  readonly name: string;
  readonly accepts: (value: unknown) => boolean;
  /** Returns the text to write instead of a value that is not accepted. */
  readonly remedy: (value: unknown) => string;
  readonly required?: boolean;
  /** It stands in a manifest as it is. */
  readonly isData?: boolean;
  /** Types of an object's fields. */
  readonly fields?: PropertyTypes;
  /** Type of a list's items. */
  readonly items?: PropertyType;
}

/** The types of all properties of an object. A property that is not listed is unknown. */
export type PropertyTypes = Readonly<Record<string, PropertyType>>;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isPlain = (value: unknown): boolean => isObject(value) && !Array.isArray(value) && !isToken(value);

/** A class, recognized by one of its members: another copy of this library or of cdk8s may have created the value. */
export const instance = (name: string, member: string, example: string): PropertyType => ({
  name,
  accepts: (value) => isObject(value) && (member in value || mistakesOf(value).length > 0),
  remedy: () => example,
});

export const text: PropertyType = {
  name: 'text',
  accepts: (value) => typeof value === 'string',
  remedy: (value) => (typeof value === 'number' ? `'${value}'` : 'text in quotes'),
};

/** A text that stands unchanged in a manifest, so that it may be known only when cdk8s writes it. */
export const manifestText: PropertyType = { ...text, accepts: (value) => text.accepts(value) || isToken(value) };

/** The name of an object of Kubernetes in a manifest, or the object itself. */
export const manifestName: PropertyType = {
  name: 'a name or an object with a name',
  accepts: (value) => objectName.accepts(value) || isToken(value),
  remedy: text.remedy,
};

/** The name of an object of Kubernetes, or the object itself. */
export const objectName: PropertyType = {
  ...text,
  name: 'a name or an object with a name',
  accepts: (value) => text.accepts(value) || (isObject(value) && text.accepts(Reflect.get(value, 'name'))),
};

export const number: PropertyType = {
  name: 'a number',
  accepts: (value) => typeof value === 'number',
  remedy: (value) => (typeof value === 'string' && value.trim() && !Number.isNaN(Number(value)) ? value : 'a number'),
};

export const boolean: PropertyType = {
  name: 'true or false',
  accepts: (value) => typeof value === 'boolean',
  remedy: (value) => (value === 'true' || value === 'false' ? value : 'true or false'),
};

/** An object whose values are strings. Those of labels and annotations are checked by the schema. */
export const stringMap: PropertyType = {
  name: 'an object whose values are text',
  accepts: (value) => isPlain(value) && Object.values(value as object).every((each) => typeof each === 'string'),
  remedy: () => "it like { name: 'value' }",
};

export const object: PropertyType = { name: 'an object', accepts: isPlain, remedy: () => '{ … }', isData: true };

/** Any value, because another check validates this property whatever its type is. */
export const anything: PropertyType = { name: 'anything', accepts: () => true, remedy: () => '' };

export const list = (items: PropertyType): PropertyType => ({
  name: 'a list',
  accepts: Array.isArray,
  remedy: () => 'it in brackets, […]',
  items: required(items),
});

export const shape = (fields: PropertyTypes): PropertyType => ({ ...object, fields });

export const required = (type: PropertyType): PropertyType => ({ ...type, required: true });

export const withExample = (type: PropertyType, example: string): PropertyType => ({ ...type, remedy: () => example });

/** Problems with the types of properties, each with the value to write instead. */
export function typeProblems(props: unknown, types: PropertyTypes): string[] {
  if (!isPlain(props)) return [`${shown(props)} is not an object of properties; write { … }`];
  return fieldProblems('', props as Readonly<Record<string, unknown>>, types);
}

function fieldProblems(prefix: string, values: Readonly<Record<string, unknown>>, types: PropertyTypes): string[] {
  const unknown = isLiteral(values) ? Object.keys(values).filter((key) => !Object.hasOwn(types, key)) : [];
  return [
    ...Object.entries(types).flatMap(([key, type]) => valueProblems(`${prefix}${key}`, values[key], type)),
    ...unknown
      .filter((key) => values[key] !== undefined)
      .map((key) => `${prefix}${key}: is not a property; ${insteadOf(key, Object.keys(types))}`),
  ];
}

/**
 * Returns false for an instance of a class, which may have more members, such as a cluster passed as its own
 * attributes.
 */
const isLiteral = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value));

function valueProblems(path: string, value: unknown, type: PropertyType): string[] {
  if (value === undefined) return type.required ? [`${path}: is missing; give ${type.remedy(value)}`] : [];
  if (!type.accepts(value)) {
    if (isToken(value)) return [`${path}: ${knownLater}`];
    return [
      `${path}: ${shown(value)} is not ${type.name}; write ${type.remedy(value)}${type.required ? '' : ', or leave it out'}`,
    ];
  }
  const { fields, items, isData } = type;
  if (fields) return fieldProblems(`${path}.`, value as Readonly<Record<string, unknown>>, fields);
  if (items) return (value as unknown[]).flatMap((each, index) => valueProblems(`${path}[${index}]`, each, items));
  return [...mistakesOf(value).map((mistake) => `${path}: ${mistake}`), ...(isData ? cannotWrite(path, value) : [])];
}

/** What cdk8s cannot write into a manifest: it reports it without the property. */
function cannotWrite(path: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((each, index) => cannotWrite(`${path}[${index}]`, each));
  if (!isObject(value) || isToken(value) || isUnion(value)) return [];
  if (!isLiteral(value))
    return [`${path}: ${shown(value)} cannot be written in a manifest; write text, a number or { … }`];
  return Object.entries(value).flatMap(([name, each]) =>
    isReserved(name)
      ? [`${path}: '${name}' is a name that cdk8s cannot write; choose another`]
      : cannotWrite(`${path}.${name}`, each),
  );
}

/** A text or a number in a class of `cdk8s import`, such as its Quantity, which cdk8s resolves. */
const isUnion = (value: object): boolean => ['string', 'number'].includes(typeof Reflect.get(value, 'value'));

function shown(value: unknown): string {
  if (Array.isArray(value)) return 'a list';
  if (isObject(value)) {
    const name = value.constructor?.name ?? 'Object';
    return name === 'Object' ? 'a plain object' : `an object of ${name}`;
  }
  return typeof value === 'string' ? `'${value}'` : String(value);
}

const mistakes = Symbol.for('cdk8s-etcd.mistakes');

function mistakesOf(value: unknown): readonly string[] {
  return isObject(value) ? ((value as { [mistakes]?: readonly string[] })[mistakes] ?? []) : [];
}

/**
 * Calls `build` if the properties have the right types. Otherwise returns a value that holds only the mistakes: the
 * construct that receives the value reports them with its own path.
 */
export function buildIfValid<Value extends object>(
  prototype: Value,
  props: unknown,
  types: PropertyTypes,
  build: () => Value,
): Value {
  const found = typeProblems(props, types);
  return found.length === 0 ? build() : Object.assign(Object.create(prototype), { [mistakes]: found });
}

/** A construct, or one that does not exist yet. */
interface HasPath {
  readonly node: { readonly path: string };
}

/**
 * Checks the types of a construct's properties before anything uses them: later the only message would be that
 * something is not a function.
 *
 * @throws with one line per problem, each with the construct's path
 */
export function requireTypes({ node }: HasPath, props: unknown, types: PropertyTypes): void {
  const found = typeProblems(props, types);
  if (found.length > 0) throw new Error(found.map((problem) => `${node.path}: ${problem}`).join('\n'));
}
