import { valueProblems } from '../resource/prop-problems';
import { nameProblem } from '../validation/names';
import type { Labels } from './manifest';

/** The annotations in the metadata of an object. Without any, it has no such field. */
export const annotated = (annotations: Labels = {}): { readonly annotations?: Labels } =>
  Object.keys(annotations).length > 0 ? { annotations } : {};

/** Problems that Kubernetes would report for labels or for a label selector. */
export function labelProblems(what: string, labels: Labels = {}): string[] {
  const own = Object.entries(labels).flatMap(
    ([name, value]) => qualifiedNameProblem(what, name) ?? missingProblem(what, name, value) ?? [],
  );
  return own.length > 0 ? own : valueProblems(what, 'spec.labels', labels);
}

/** Problems that Kubernetes would report for annotations. Their values may be any text. */
export function annotationProblems(what: string, annotations: Labels = {}): string[] {
  const own = Object.entries(annotations).flatMap(
    ([name, value]) => qualifiedNameProblem(what, name.toLowerCase()) ?? missingProblem(what, name, value) ?? [],
  );
  return own.length > 0 ? own : valueProblems(what, 'spec.podAnnotations', annotations);
}

/** A schema takes it as if the name were not there either. */
const missingProblem = (what: string, name: string, value: unknown): string | undefined =>
  value === undefined || value === null ? `${what}: '${name}' is ${value}; give it a text, or remove it` : undefined;

const word = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;

/** Problem with the name of a label or annotation, such as `team` or `example.com/team`, or undefined. */
export function qualifiedNameProblem(what: string, name: string): string | undefined {
  const [last = '', ...prefix] = String(name).split('/').reverse();
  if (word.test(last) && prefix.length <= 1 && prefix.every((domain) => !nameProblem('', domain))) return undefined;
  return `${what}: '${name}' is not a valid name of a label or annotation; write it like team or example.com/team`;
}

/** The value of a label for a name, which may be longer than a label. */
export const labelOf = (name: string): string => name.slice(0, 63).replace(/[^A-Za-z0-9]+$/, '');
