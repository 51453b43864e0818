import { insteadOf } from '../validation/other-names';
import { isReserved } from '../validation/plain-object';
import { isToken, knownLater } from '../validation/tokens';
import { holds } from './cel';
import { isWrong, limitProblems, shown, wrongType } from './limits';
import { type Kind, type Schema, schemaOf } from './schema';

/** What the API server would refuse, and what to do. */
export interface ResourceProblem {
  /** In the notation of the API server, such as `spec.backup.schedules[0].cron`; empty: the resource as a whole. */
  readonly path: string;
  readonly message: string;
}

type Values = Readonly<Record<string, unknown>>;

/**
 * Problems with a resource that the API server would find when it is created: types, limits and unknown fields of the schema, and
 * its rules. Fields that are missing have their defaults. Without `metadata`, rules about the name are left out.
 */
export function resourceProblems(kind: Kind, spec: unknown, metadata?: unknown): ResourceProblem[] {
  const schema = schemaOf(kind);
  if (metadata === undefined) return visit(schema.properties!.spec!, spec, 'spec').problems;
  return visit(schema, { apiVersion: schema.properties!.apiVersion!.const, kind, metadata, spec }, '').problems;
}

/** Problems with the value of one field of a kind, such as `spec.source`, perhaps of the items of a list. Their paths begin there: `store.s3.bucket`. */
export function fieldProblems(kind: Kind, field: string, value: unknown): ResourceProblem[] {
  const schema = field.split('.').reduce((each, name) => (each.items ?? each).properties![name]!, schemaOf(kind));
  return visit(schema, value, '').problems;
}

/** The objects and lists in a spec that are known only later. In what cdk8s writes, they are resolved. */
export const laterProblems = (kind: Kind, spec: unknown): ResourceProblem[] =>
  fieldProblems(kind, 'spec', spec).filter(({ message }) => message === knownLater);

interface Visited {
  readonly problems: ResourceProblem[];
  /** The value with its defaults, as rules see it. */
  readonly value: unknown;
  /** False if the rules of the objects around it cannot be evaluated. */
  readonly isSound: boolean;
}

const nothing: Visited = { problems: [], value: undefined, isSound: true };
const wrong = (path: string, message: string): Visited => ({
  problems: [{ path, message }],
  value: undefined,
  isSound: false,
});

const empty = (path: string) => wrong(path, 'is empty: give a value, or remove it');

function visit(schema: Schema, given: unknown, path: string): Visited {
  const value = given ?? schema.default ?? (isNullable(schema) ? given : undefined);
  if (value === undefined || value === null) return { ...nothing, value };
  // cdk8s resolves it later, and rules around it cannot be evaluated. Objects and lists may be merged before.
  if (isToken(value)) return isWhole(schema) ? wrong(path, knownLater) : { ...nothing, isSound: false };
  if (isWrong(schema, value)) return wrong(path, wrongType(schema, value));
  const { problems, value: seen, isSound } = inside(schema, value, path);
  const limits = limitProblems(schema, value).map((message) => ({ path, message }));
  const sound = isSound && limits.length === 0;
  // A rule says more about a text than its length.
  const broken = sound || typeof value !== 'object' ? brokenRules(schema, seen, path) : [];
  return {
    problems: [...(broken.length > 0 ? broken : limits), ...problems],
    value: seen,
    isSound: sound,
  };
}

const isWhole = ({ type }: Schema) => ['object', 'array'].some((each) => [type].flat().includes(each));
const isNullable = ({ type }: Schema) => Array.isArray(type) && type.includes('null');

/** What is in a list, an object or a map. */
function inside(schema: Schema, value: unknown, path: string): Visited {
  if (Array.isArray(value)) return listOf(schema, value, path);
  if (typeof value === 'object') return objectOf(schema, value as Values, path);
  return { ...nothing, value: scalar(schema, value) };
}

/** A whole number of the schema is an `int` in CEL, any other number a `double`. */
function scalar({ type, format }: Schema, value: unknown): unknown {
  if (format === 'date-time') return new Date(value as string);
  const isInt = type === undefined ? Number.isSafeInteger(value) : type !== 'number' && typeof value === 'number';
  return isInt ? BigInt(value as number) : value;
}

function listOf({ items = {}, ...schema }: Schema, values: readonly unknown[], path: string): Visited {
  // The evaluator knows only the lists of its own realm, which those of structuredClone in a test are not.
  const all = Array.from(values, (each, index) =>
    each === null || each === undefined ? empty(`${path}[${index}]`) : visit(items, each, `${path}[${index}]`),
  );
  const value = all.map((each) => each.value);
  const twice = isSound(all) ? duplicates(schema, value, path) : [];
  return { problems: [...all.flatMap(({ problems }) => problems), ...twice], value, isSound: isSound(all) };
}

const isSound = (all: readonly Visited[]) => all.every((each) => each.isSound);

/** The items of a set, or the keys of a map, that are there twice. */
function duplicates(schema: Schema, values: readonly unknown[], path: string): ResourceProblem[] {
  const kind = schema['x-kubernetes-list-type'];
  if (kind !== 'set' && kind !== 'map') return [];
  const names = schema['x-kubernetes-list-map-keys'] ?? [];
  const keys = values.map((each) => keyOf(kind === 'set' ? [each] : names.map((name) => (each as Values)[name])));
  return keys.flatMap((key, index) => {
    const first = keys.indexOf(key);
    const message = `has the same ${names.join(' and ') || 'value'} as [${first}]: change one, or remove it`;
    return first === index ? [] : [{ path: `${path}[${index}]`, message }];
  });
}

const keyOf = (parts: readonly unknown[]) =>
  JSON.stringify(parts, (_, value) => (typeof value === 'bigint' ? `${value}n` : value));

function objectOf(schema: Schema, values: Values, path: string): Visited {
  const { properties, additionalProperties, required = [] } = schema;
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  const fields = new Map<string, Visited>();
  const unknown: ResourceProblem[] = [];
  for (const [name, field] of Object.entries(properties ?? {})) {
    const found = visit(field, values[name], at(name));
    const isMissing = found.value === undefined && found.isSound && required.includes(name);
    fields.set(name, isMissing ? wrong(at(name), 'is missing: give it') : found);
  }
  for (const [name, value] of Object.entries(values)) {
    if (fields.has(name) || value === undefined) continue;
    if (isReserved(name))
      unknown.push({ path, message: `'${name}' is a name that cdk8s cannot write: choose another` });
    else if (typeof additionalProperties === 'object')
      fields.set(name, value === null ? empty(at(name)) : visit(additionalProperties, value, at(name)));
    else if (additionalProperties === false)
      unknown.push({ path: at(name), message: `is not a field: ${insteadOf(name, Object.keys(properties ?? {}))}` });
    else fields.set(name, visit({}, value, at(name)));
  }
  const given = [...fields].filter(([, { value }]) => value !== undefined);
  return {
    problems: [...[...fields.values()].flatMap(({ problems }) => problems), ...unknown],
    value: Object.fromEntries(given.map(([name, { value }]) => [name, value])),
    isSound: isSound([...fields.values()]),
  };
}

/** The rules that are broken. A rule about a change has no meaning here. */
function brokenRules(schema: Schema, value: unknown, path: string): ResourceProblem[] {
  const rules = schema['x-kubernetes-validations'] ?? [];
  const broken = rules.filter(({ rule }) => !/\boldSelf\b/.test(rule) && !holds(rule, value));
  return broken.map(({ message, fieldPath = '' }) => ({
    path: `${path}${fieldPath}`.replace(/^\./, ''),
    message: typeof value === 'object' ? message : `${shown(value)} ${message}`,
  }));
}
