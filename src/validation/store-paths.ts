/** Problem with a folder within a store, or undefined. */
export function pathProblem(what: string, path: string): string | undefined {
  if (isPath(path)) return undefined;
  return `${what}: '${path}' is not a valid folder within the store; write it like etcd/eu, without '/' at the ends, '.' or '..'`;
}

/** Problem with the key of an object within a store, or undefined. */
export function objectKeyProblem(what: string, key: string): string | undefined {
  if (isPath(key)) return undefined;
  return `${what}: '${key}' is not a valid key within the store; write it like releases/before.db, without '/' at the ends, '.' or '..'`;
}

const fields = ['Namespace', 'Name', 'UID', 'CreationTimestamp'];

/** Problem with an object's key that may contain fields of the resource, such as `{{ .Name }}`, or undefined. */
export function keyTemplateProblem(what: string, template: string): string | undefined {
  const field = new RegExp(`\\{\\{ *\\.(?:${fields.join('|')}) *\\}\\}`, 'g');
  const rest = String(template).replaceAll(field, 'x');
  if (!/[{}]/.test(rest)) return objectKeyProblem(what, rest) && objectKeyProblem(what, template);
  return `${what}: '${template}' has an unknown field; use ${fields.map((name) => `{{ .${name} }}`).join(', ')}`;
}

/** Returns true for a path that every kind of store accepts. */
function isPath(path: unknown): boolean {
  if (typeof path !== 'string' || /\p{Cc}/u.test(path)) return false;
  return path.split('/').every((segment) => !['', '.', '..'].includes(segment));
}
