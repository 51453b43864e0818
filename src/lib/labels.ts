import { nameProblem } from '../validation/names';
import { isToken } from '../validation/tokens';

type Labels = Readonly<Record<string, string>>;

/** Problems that Kubernetes would report for labels or for a label selector. */
export function labelProblems(what: string, labels: Labels = {}): string[] {
  return Object.entries(labels).flatMap(
    ([name, value]) => qualifiedNameProblem(what, name) ?? labelValueProblem(what, name, value) ?? [],
  );
}

/** Problems that Kubernetes would report for annotations. Their values may be any text. */
export function annotationProblems(what: string, annotations: Labels = {}): string[] {
  return Object.entries(annotations).flatMap(
    ([name, value]) => qualifiedNameProblem(what, name.toLowerCase()) ?? textProblem(what, name, value) ?? [],
  );
}

const word = /^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/;

/** Problem with the name of a label or annotation, such as `team` or `example.com/team`, or undefined. */
export function qualifiedNameProblem(what: string, name: string): string | undefined {
  const [last = '', ...prefix] = String(name).split('/').reverse();
  if (word.test(last) && prefix.length <= 1 && prefix.every((domain) => !nameProblem('', domain))) return undefined;
  return `${what}: '${name}' is not a valid name of a label or annotation; write it like team or example.com/team`;
}

/** The value of a label for a name, which may be longer than a label. */
export const labelOf = (name: string): string => name.slice(0, 63).replace(/[^A-Za-z0-9]+$/, '');

function labelValueProblem(what: string, name: string, value: string): string | undefined {
  if (isToken(value)) return undefined;
  if (typeof value !== 'string') return textProblem(what, name, value);
  if (value === '' || word.test(value)) return undefined;
  return `${what}: '${name}' is '${value}'; use up to 63 letters, digits, '-', '_' and '.', beginning and ending with a letter or digit`;
}

function textProblem(what: string, name: string, value: unknown): string | undefined {
  return typeof value === 'string' || isToken(value)
    ? undefined
    : `${what}: '${name}' is ${value}; give it a text, or remove it`;
}
