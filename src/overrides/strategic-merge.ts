// A strategic merge patch, as the API server of Kubernetes applies it. The constructs use it at synthesis, and the reconciler for its
// Jobs.
import { isToken, knownLater } from '../validation/tokens.ts';

type Values = Readonly<Record<string, unknown>>;

/** What a value is made of. Undefined `fields`: anything, such as labels. */
export interface Shape {
  /** The type of a value. `strings`: an object of texts. */
  readonly value?: string;
  readonly isList?: boolean;
  /** The items of this list are found by this field. Any other list is replaced as a whole. */
  readonly key?: string;
  readonly fields?: ReadonlyMap<string, Shape>;
  /** Returns the field that was probably meant. */
  readonly meant?: (name: string) => string | undefined;
}

type Nearest = (word: string, words: Iterable<string>) => string | undefined;

/** Returns the shape of a type of Kubernetes: `types` are those of kubernetes-types.ts. */
export function shapeOf(types: Readonly<Record<string, string>>, name: string, nearest?: Nearest): Shape {
  const all = types[name]!.split(' ').map((field): [string, Shape] => {
    const [, own = '', type, list, key] = /^(\w+)(?::(\w*)(\[(\w*)\])?)?$/.exec(field) ?? [];
    const shape = type === undefined || type in types ? type && shapeOf(types, type, nearest) : { value: type };
    return [own, { ...shape, ...(list && { isList: true }), ...(key && { key }) }];
  });
  const fields = new Map(all);
  return { fields, meant: nearest && ((word) => nearest(word, fields.keys())) };
}

/** Objects with a prototype of their own are values. */
export const isData = (value: unknown): value is Values =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** What cdk8s resolves later. It could be anything, a field that may not be overridden too. */
const isLater = (value: unknown): boolean =>
  isToken(value) || (typeof value === 'object' && value !== null && !isData(value) && !Array.isArray(value));

const directiveOf = (value: unknown): unknown => (isData(value) ? value.$patch : undefined);

/** Neither cdk8s nor an API server keeps null, so `storable` writes it as `$patch: delete`. */
const deletes = (value: unknown): boolean => value === null || directiveOf(value) === 'delete';

/** Returns the value with the patch, which has no `patchProblem`. Neither is changed. */
export function merged(original: unknown, patch: unknown, shape: Shape = {}): unknown {
  if (Array.isArray(patch)) return mergedList(Array.isArray(original) ? original : [], patch, shape);
  if (!isData(patch)) return patch;
  const isMerged = isData(original) && patch.$patch !== 'replace';
  const result = new Map(isMerged ? Object.entries(original) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (name === '$patch' || value === undefined) continue;
    if (deletes(value)) result.delete(name);
    else result.set(name, merged(result.get(name), value, shape.fields?.get(name)));
  }
  return Object.fromEntries(result);
}

function mergedList(original: readonly unknown[], patch: readonly unknown[], { key, fields }: Shape): unknown[] {
  if (key === undefined) return patch.map((item) => merged(undefined, item));
  const deleted = new Set(patch.filter(deletes).map((item) => (item as Values)[key]));
  const isReplaced = patch.some((item) => directiveOf(item) === 'replace');
  const before = byId(isReplaced ? [] : original.filter((item) => !deleted.has((item as Values)[key])), key);
  const items = byId(patch.filter(isItem), key);
  const places = [...before.keys()];
  const rest = places.filter((id) => !items.has(id));
  const ids = interleaved(rest, [...items.keys()], (id) => places.indexOf(id));
  return ids.map((id) => (items.has(id) ? merged(before.get(id), items.get(id), { fields }) : before.get(id)));
}

const isItem = (item: unknown): boolean => !['delete', 'replace'].includes(directiveOf(item) as string);

/** Of two items with one key, such as ports of two protocols, each changes its own: `1 53` is the second of 53. */
function byId<Item>(items: readonly Item[], key: string): Map<string, Item> {
  const counts = new Map<unknown, number>();
  return new Map(
    items.map((item) => {
      const name = (item as Values)[key];
      const count = counts.get(name) ?? 0;
      counts.set(name, count + 1);
      return [`${count} ${name}`, item];
    }),
  );
}

/** Both lists keep their order. Beside each other, the items have that of before, and new items come first. */
function interleaved(rest: string[], patched: string[], placeBefore: (id: string) => number): string[] {
  const result: string[] = [];
  while (rest.length > 0 && patched.length > 0) {
    const isNext = placeBefore(patched[0]!) >= 0 && placeBefore(rest[0]!) < placeBefore(patched[0]!);
    result.push((isNext ? rest : patched).shift()!);
  }
  return [...result, ...rest, ...patched];
}

/** Returns the patch in a form that every tool keeps. */
export function storable(patch: unknown): unknown {
  if (patch === null) return { $patch: 'delete' };
  if (Array.isArray(patch)) return patch.map(storable);
  if (!isData(patch)) return patch;
  return Object.fromEntries(Object.entries(patch).map(([name, value]) => [name, storable(value)]));
}

/** What is wrong with a patch, whatever it is applied to. The path is that of the field. */
export function patchProblem(patch: unknown, shape: Shape = {}, path = ''): string | undefined {
  if (!isData(patch)) return `${path}: is not an object; write the fields to change`;
  if (deletes(patch)) return `${path}: would delete the whole object; remove $patch`;
  return fieldsProblem(patch, shape, path);
}

function fieldsProblem(patch: Values, { fields, meant }: Shape, path: string): string | undefined {
  for (const [name, value] of Object.entries(patch)) {
    const problem = name.startsWith('$')
      ? directiveProblem(name, value, path)
      : fields && !fields.has(name)
        ? unknownProblem(at(path, name), meant?.(name))
        : valueProblem(value, fields?.get(name) ?? {}, at(path, name));
    if (problem) return problem;
  }
  return undefined;
}

const unknownProblem = (path: string, meant: string | undefined): string =>
  `${path}: is not a field of Kubernetes; ${meant === undefined ? 'correct or remove it' : `did you mean ${meant}?`}`;

function directiveProblem(name: string, value: unknown, path: string): string | undefined {
  if (name !== '$patch')
    return `${path}: ${name} is not supported; use $patch: delete or $patch: replace, or null for a field`;
  if (['delete', 'replace', 'merge'].includes(value as string)) return undefined;
  return `${path}: $patch is ${JSON.stringify(value)}; write delete or replace, or remove it`;
}

function valueProblem(value: unknown, shape: Shape, path: string): string | undefined {
  const { isList, key, fields, meant, value: type } = shape;
  if (deletes(value) || value === undefined) return undefined;
  if (isLater(value)) return `${path}: ${knownLater}`;
  if (type && !isList) return type === 'strings' ? textsProblem(value, path) : typeProblem(value, type, path);
  if (isList && !Array.isArray(value)) return `${path}: is not a list; write its items in brackets, […]`;
  if (isData(value)) return fieldsProblem(value, shape, path);
  if (!Array.isArray(value)) return fields ? `${path}: is not an object; write the fields to change` : undefined;
  for (const [index, item] of value.entries()) {
    const problem =
      key === undefined
        ? wholeProblem(item, { fields, meant, value: type || undefined }, `${path}[${index}]`)
        : itemProblem(item, shape, path, index);
    if (problem) return problem;
  }
  return key === undefined ? undefined : twinProblem(value.filter(isItem), key, path);
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'a text; write it in quotes',
  integer: 'a whole number; correct it',
  boolean: 'true or false; correct it',
};

function typeProblem(value: unknown, type: string, path: string): string | undefined {
  const isRight = type === 'integer' ? Number.isInteger(value) : typeof value === type;
  return isRight ? undefined : `${path}: ${JSON.stringify(value)} is not ${typeNames[type]}`;
}

function textsProblem(values: unknown, path: string): string | undefined {
  if (!isData(values)) return `${path}: is not an object; write the fields to change`;
  const fields = new Map(Object.keys(values).map((name): [string, Shape] => [name, { value: 'string' }]));
  return fieldsProblem(values, { fields }, path);
}

/** Kubernetes has two items with one of these keys if the other field differs. */
const furtherKeys = new Map([
  ['containerPort', 'protocol'],
  ['port', 'protocol'],
  ['topologyKey', 'whenUnsatisfiable'],
]);

function twinProblem(items: readonly Values[], key: string, path: string): string | undefined {
  const further = furtherKeys.get(key) ?? key;
  const isTwin = (item: Values, index: number) =>
    items.slice(0, index).some((each) => each[key] === item[key] && each[further] === item[further]);
  const twin = items.find(isTwin);
  if (!twin) return undefined;
  const other = further === key ? '' : `, or give each another ${further}`;
  return `${path}[${twin[key]}]: is in this list twice; write it once${other}`;
}

function itemProblem(
  item: unknown,
  { key = '', fields, meant }: Shape,
  path: string,
  index: number,
): string | undefined {
  if (!isData(item)) return `${path}[${index}]: is not an object; write an item with ${key}`;
  if (item.$patch === 'replace')
    return Object.keys(item).length === 1
      ? undefined
      : `${path}[${index}]: has $patch: replace, which replaces the whole list; give it an item of its own`;
  if (item[key] === undefined || item[key] === null)
    return `${path}[${index}]: has no ${key}, by which the items of this list are found; add it`;
  if (isLater(item[key])) return `${path}[${index}].${key}: ${knownLater}`;
  return item.$patch === 'delete' ? undefined : fieldsProblem(item, { fields, meant }, `${path}[${item[key]}]`);
}

/** The items of a list without a key have no directives. */
function wholeProblem(item: unknown, shape: Shape, path: string): string | undefined {
  if (hasDirective(item))
    return `${path}: is in a list that is replaced as a whole; write the complete list, without $patch`;
  return valueProblem(item, shape, path);
}

const hasDirective = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.some(hasDirective);
  return isData(value) && Object.entries(value).some(([name, each]) => name.startsWith('$') || hasDirective(each));
};

/** A value that differs, and where: the steps of `spec.containers[etcd].value` are `spec`, `containers`, `[etcd]`, `value`. */
export interface Change {
  readonly steps: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
}

/** Finds what differs, down to single values. Items that changed places give the path of their list. */
export function* changes(
  before: unknown,
  after: unknown,
  shape: Shape = {},
  steps: readonly string[] = [],
): Generator<Change> {
  if (before === after) return;
  const both = [before, after];
  const { key, fields } = shape;
  if (key !== undefined && both.every((each) => each === undefined || isItems(each, key))) {
    yield* itemChanges(before as Values[], after as Values[], { key, fields }, steps);
  } else if (both.some(isData) && both.every((each) => each === undefined || isData(each))) {
    const [a, b] = both.map((each) => new Map(Object.entries(each ?? {})));
    for (const name of new Set([...a!.keys(), ...b!.keys()]))
      yield* changes(a!.get(name), b!.get(name), fields?.get(name), [...steps, step(name)]);
  } else if (JSON.stringify(before) !== JSON.stringify(after)) {
    yield { steps, before, after };
  }
}

const isItems = (value: unknown, key: string): boolean =>
  Array.isArray(value) && value.every((item) => isData(item) && item[key] !== undefined);

function* itemChanges(
  before: readonly Values[] = [],
  after: readonly Values[] = [],
  { key = '', fields }: Shape,
  steps: readonly string[],
): Generator<Change> {
  const [old, now] = [byId(before, key), byId(after, key)];
  for (const id of new Set([...old.keys(), ...now.keys()])) {
    const [was, is] = [old.get(id), now.get(id)];
    yield* changes(was, is, { fields }, [...steps, `[${(was ?? is)?.[key]}]`]);
  }
  const kept = [...old.keys()].filter((id) => now.has(id)).join();
  const names = (all: readonly Values[]) => all.map((item) => item[key]);
  if (kept !== [...now.keys()].filter((id) => old.has(id)).join())
    yield { steps, before: names(before), after: names(after) };
}

const step = (name: string): string => (/^\w+$/.test(name) ? name : `[${name}]`);
/** Returns the path of what is at these steps. */
export const pathOf = (steps: readonly string[]): string =>
  steps.reduce((path, next) => (path === '' || next.startsWith('[') ? `${path}${next}` : `${path}.${next}`), '');
const at = (path: string, name: string): string => pathOf(path === '' ? [step(name)] : [path, step(name)]);
