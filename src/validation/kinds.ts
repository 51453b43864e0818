import { nearest } from './nearest';

/** What a property has to be. TypeScript says so before, but not to those who write JavaScript or `any`. */
export interface Kind {
  /** With its article. */
  readonly name: string;
  readonly is: (value: unknown) => boolean;
  /** What to write in place of a value that is not. */
  readonly remedy: (value: unknown) => string;
  readonly required?: boolean;
  /** Of an object. */
  readonly fields?: Kinds;
  /** Of a list. */
  readonly items?: Kind;
}

/** The kinds of all properties that there are. */
export type Kinds = Readonly<Record<string, Kind>>;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
const isPlain = (value: unknown): boolean => isObject(value) && !Array.isArray(value);

/** A class by one of its members, as another copy of this library or of cdk8s may have made the value. */
export const instance = (name: string, member: string, example: string): Kind => ({
  name,
  is: (value) => isObject(value) && (member in value || mistakesOf(value).length > 0),
  remedy: () => example,
});

export const text: Kind = {
  name: 'text',
  is: (value) => typeof value === 'string',
  remedy: (value) => (typeof value === 'number' ? `'${value}'` : 'text in quotes'),
};

export const number: Kind = {
  name: 'a number',
  is: (value) => typeof value === 'number',
  remedy: (value) => (typeof value === 'string' && value.trim() && !Number.isNaN(Number(value)) ? value : 'a number'),
};

export const boolean: Kind = {
  name: 'true or false',
  is: (value) => typeof value === 'boolean',
  remedy: (value) => (value === 'true' || value === 'false' ? value : 'true or false'),
};

/** Labels and the like. */
export const texts: Kind = {
  name: 'an object of texts',
  is: (value) => isPlain(value) && Object.values(value as object).every((each) => typeof each === 'string'),
  remedy: () => "it like { name: 'value' }",
};

export const object: Kind = { name: 'an object', is: isPlain, remedy: () => '{ … }' };

/** What another check knows how to refuse, whatever it is. */
export const anything: Kind = { name: 'anything', is: () => true, remedy: () => '' };

export const list = (items: Kind): Kind => ({
  name: 'a list',
  is: Array.isArray,
  remedy: () => 'it in brackets, […]',
  items: required(items),
});

export const shape = (fields: Kinds): Kind => ({ ...object, fields });

export const required = (kind: Kind): Kind => ({ ...kind, required: true });

export const like = (kind: Kind, example: string): Kind => ({ ...kind, remedy: () => example });

/** What is wrong with properties, each with the right value. */
export function kindProblems(props: unknown, kinds: Kinds): string[] {
  if (!isPlain(props)) return [`${shown(props)} is not an object of properties; write { … }`];
  return fieldProblems('', props as Readonly<Record<string, unknown>>, kinds);
}

function fieldProblems(prefix: string, values: Readonly<Record<string, unknown>>, kinds: Kinds): string[] {
  const unknown = isLiteral(values) ? Object.keys(values).filter((key) => !(key in kinds)) : [];
  return [
    ...Object.entries(kinds).flatMap(([key, kind]) => valueProblems(`${prefix}${key}`, values[key], kind)),
    ...unknown
      .filter((key) => values[key] !== undefined)
      .map((key) => `${prefix}${key}: is not a property; ${insteadOf(key, kinds)}`),
  ];
}

/** An object of a class may have more to it, as a construct that is imported by what it says of itself. */
const isLiteral = (value: object): boolean => [Object.prototype, null].includes(Object.getPrototypeOf(value));

function insteadOf(key: string, kinds: Kinds): string {
  const meant = nearest(key, Object.keys(kinds));
  return meant === undefined ? 'remove it' : `write ${meant}, or remove it`;
}

function valueProblems(path: string, value: unknown, kind: Kind): string[] {
  if (value === undefined && !kind.required) return [];
  if (!kind.is(value)) {
    return [
      `${path}: ${shown(value)} is not ${kind.name}; write ${kind.remedy(value)}${kind.required ? '' : ', or leave it out'}`,
    ];
  }
  const { fields, items } = kind;
  if (fields) return fieldProblems(`${path}.`, value as Readonly<Record<string, unknown>>, fields);
  if (items) return (value as unknown[]).flatMap((each, index) => valueProblems(`${path}[${index}]`, each, items));
  return mistakesOf(value).map((mistake) => `${path}: ${mistake}`);
}

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
 * Builds a value of properties that are right. Of wrong ones it makes one that can do nothing but hold the mistakes, until
 * the construct that it is given to says them with its path.
 */
export function built<Value extends object>(prototype: Value, props: unknown, kinds: Kinds, build: () => Value): Value {
  const found = kindProblems(props, kinds);
  return found.length === 0 ? build() : Object.assign(Object.create(prototype), { [mistakes]: found });
}

/** A construct, or one that is about to be made. */
interface Placed {
  readonly node: { readonly path: string };
}

/** Says at once, with the construct's path, what is wrong with its properties: later they would only be no functions. */
export function requireKinds({ node }: Placed, props: unknown, kinds: Kinds): void {
  const found = kindProblems(props, kinds);
  if (found.length > 0) throw new Error(found.map((problem) => `${node.path}: ${problem}`).join('\n'));
}
