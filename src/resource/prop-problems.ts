import type { ApiObject } from 'cdk8s';
import { Memo } from '../validation/memo';
import { fieldProblems, type ResourceProblem, resourceProblems } from './resource-problems';
import type { Kind } from './schema';

/** Properties by the fields with another name. What is below a field is below its property; `''`: the field has none. */
export type PropNames = Readonly<Record<string, string>>;

/** Problems with fields, each with the property that is wrong. */
export function propProblems(problems: readonly ResourceProblem[], names: PropNames = {}): string[] {
  return problems.map(({ path, message }) => {
    const prop = propOf(path, names);
    const text = withPropNames(prop === '' ? message : withoutField(path, message), path, names);
    return prop === '' ? text : `${prop}: ${text}`;
  });
}

/** A message that follows the path of its field need not begin with its name, as that of a rule about several fields does. */
export function withoutField(path: string, message: string): string {
  const field = path.slice(path.lastIndexOf('.') + 1);
  return message.startsWith(`${field} `) ? message.slice(field.length + 1) : message;
}

/** A message that names other fields names their properties instead. */
function withPropNames(text: string, at: string, names: PropNames): string {
  const mentions = new Map(Object.entries(names).flatMap(([path, name]) => mentionsOf(path, name, at)));
  if (mentions.size === 0) return text;
  const longestFirst = [...mentions.keys()].sort((a, b) => b.length - a.length);
  const known = new RegExp(`\\b(${longestFirst.join('|').replaceAll('.', '[.]')})\\b`, 'g');
  return text.replace(known, (mention) => mentions.get(mention)!);
}

/** A message names a field by its path, and one of the same object by its name, unless that is a word of English. */
function mentionsOf(path: string, prop: string, at: string): [mention: string, prop: string][] {
  const whole = path.replace(/^spec\./, '');
  if (prop === '' || !/^[\w.]+$/.test(whole)) return [];
  const field = path.slice(path.lastIndexOf('.') + 1);
  const isNear = [at, parentOf(at)].includes(parentOf(path));
  return [whole.includes('.') && whole, isNear && /[A-Z]/.test(field) && field]
    .filter((mention) => mention !== false)
    .map((mention) => [mention, prop]);
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('.')));

function propOf(path: string, names: PropNames): string {
  const parts = path.split(/(?=[.[])/);
  for (let length = parts.length; length > 0; length--) {
    const name = names[parts.slice(0, length).join('')];
    if (name !== undefined) return `${name}${parts.slice(length).join('')}`.replace(/^\./, '');
  }
  return path;
}

/**
 * Adds the problems that the API server would find to those of a construct: only those of other properties, because a construct
 * knows more, such as what else is in the app.
 */
export function withFound(own: readonly string[], found: readonly string[]): string[] {
  const known = new Set(own.map(propOfText));
  return [...own, ...new Set(found.filter((problem) => !known.has(propOfText(problem))))];
}

/** Problems with the value of a property that no resource has, but of which the schema says the same as of this field. */
export const valueProblems = (prop: string, field: string, value: unknown, names: PropNames = {}): string[] =>
  value === undefined
    ? []
    : propProblems(
        fieldProblems('EtcdCluster', field, value).map(({ path, message }) => ({
          path: path === '' || path.startsWith('[') ? `${prop}${path}` : `${prop}.${path}`,
          message,
        })),
        inside(prop, names),
      );

/** The first word: the property of `resources.cpu: …` is `resources`. */
const propOfText = (problem: string) => /^\w*/.exec(problem)![0];

/** The names of properties below a field that is a property too. */
export const inside = (prop: string, names: PropNames): PropNames =>
  below(
    prop,
    Object.fromEntries(Object.entries(names).map(([path, name]) => [path, name === '' ? prop : `${prop}.${name}`])),
  );

/** The names of properties below a field. */
export const below = (field: string, names: PropNames): PropNames =>
  Object.fromEntries(Object.entries(names).map(([path, name]) => [`${field}.${path}`, name]));

/**
 * Problems of the resource that a construct emits, patches included.
 *
 * @param isMisnamed the cluster reports its own name, from which those of the resource and its Secret follow
 */
export function emittedProblems(resource: ApiObject, names: PropNames, isMisnamed: boolean): string[] {
  const found = propProblems(problemsOf(resource), { spec: '', 'metadata.name': 'name', ...names });
  return isMisnamed ? found.filter((problem) => !/^(name|cluster|secretName):/.test(problem)) : found;
}

/** cdk8s validates the whole app once for each chart. A patch may come between two validations, so the content is the key. */
const known = new WeakMap<ApiObject, Memo<ResourceProblem[]>>();

function problemsOf(resource: ApiObject): ResourceProblem[] {
  const { kind, spec, metadata } = resource.toJson() as {
    readonly kind: Kind;
    readonly spec: unknown;
    readonly metadata: unknown;
  };
  const memo = known.get(resource) ?? new Memo<ResourceProblem[]>();
  known.set(resource, memo);
  return memo.get(JSON.stringify([spec, metadata]), () => resourceProblems(kind, spec, metadata));
}
