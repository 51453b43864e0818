import { isPath } from './names';

/** What is wrong with an object's key within a store; undefined when nothing is. */
export function objectKeyProblem(what: string, key: string): string | undefined {
  if (isPath(key)) return undefined;
  return `${what}: '${key}' is no key within the store; write it like releases/before.db, without '/' at the ends, '.' or '..'`;
}

const fields = ['Namespace', 'Name', 'UID', 'CreationTimestamp'];

/** The same for a key with fields of the resource in it, such as `{{ .Name }}`. */
export function keyTemplateProblem(what: string, template: string): string | undefined {
  const field = new RegExp(`\\{\\{ *\\.(?:${fields.join('|')}) *\\}\\}`, 'g');
  const rest = String(template).replaceAll(field, 'x');
  if (!/[{}]/.test(rest)) return objectKeyProblem(what, rest) && objectKeyProblem(what, template);
  return `${what}: '${template}' has a field that is not known; use ${fields.map((name) => `{{ .${name} }}`).join(', ')}`;
}
