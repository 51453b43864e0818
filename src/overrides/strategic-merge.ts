// A strategic merge patch, as the API server of Kubernetes applies it. This file has no imports: the constructs use it at
// synthesis, and the reconciler for its Jobs.

type Values = Readonly<Record<string, unknown>>;

/** Where lists are merged item by item: `key` identifies an item. Every other list is replaced as a whole. */
export interface Shape {
  readonly key?: string;
  readonly fields?: Readonly<Record<string, Shape>>;
}

const list = (key: string, fields?: Shape['fields']): Shape => ({ key, ...(fields && { fields }) });
const inside = (field: string, shape: Shape): Shape => ({ fields: { [field]: shape } });

const containers = list('name', {
  env: list('name'),
  ports: list('containerPort'),
  volumeDevices: list('devicePath'),
  volumeMounts: list('mountPath'),
});

const podTemplate = inside('spec', {
  fields: {
    containers,
    ephemeralContainers: containers,
    hostAliases: list('ip'),
    imagePullSecrets: list('name'),
    initContainers: containers,
    resourceClaims: list('name'),
    schedulingGates: list('name'),
    topologySpreadConstraints: list('topologyKey'),
    volumes: list('name'),
  },
});
const withPods = inside('spec', inside('template', podTemplate));

/** From `x-kubernetes-patch-merge-key` in the OpenAPI of Kubernetes, with which test/apply/ compares it. */
export const shapes = {
  PodTemplate: podTemplate,
  StatefulSet: withPods,
  Deployment: withPods,
  CronJob: inside('spec', inside('jobTemplate', withPods)),
  Service: inside('spec', inside('ports', list('port'))),
  ServiceAccount: inside('secrets', list('name')),
  PersistentVolumeClaim: {},
  PodDisruptionBudget: {},
} as const satisfies Readonly<Record<string, Shape>>;

/** Objects with a prototype of their own, such as what cdk8s resolves later, are values. */
export const isData = (value: unknown): value is Values =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value));

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
    else result.set(name, merged(result.get(name), value, shape.fields?.[name]));
  }
  return Object.fromEntries(result);
}

function mergedList(original: readonly unknown[], patch: readonly unknown[], { key, fields }: Shape): unknown[] {
  if (key === undefined) return patch.map((item) => merged(undefined, item));
  const keyOf = (item: unknown) => (item as Values)[key];
  const deleted = new Set(patch.filter(deletes).map(keyOf));
  const isReplaced = patch.some((item) => directiveOf(item) === 'replace');
  const before = isReplaced ? [] : original.filter((item) => !deleted.has(keyOf(item)));
  const items = patch.filter((item) => !['delete', 'replace'].includes(directiveOf(item) as string));
  const result = [...before];
  for (const item of items) {
    const index = result.findIndex((each) => keyOf(each) === keyOf(item));
    if (index < 0) result.push(merged(undefined, item, { fields }));
    else result[index] = merged(result[index], item, { fields });
  }
  const place = (all: readonly unknown[], item: unknown) => all.findIndex((each) => keyOf(each) === keyOf(item));
  const rest = result.filter((item) => place(items, item) < 0);
  const patched = result.filter((item) => place(items, item) >= 0).sort((a, b) => place(items, a) - place(items, b));
  return interleaved(rest, patched, (item) => place(before, item));
}

/** Both lists keep their order. Beside each other, the items have that of before, and new items come first. */
function interleaved(rest: unknown[], patched: unknown[], placeBefore: (item: unknown) => number): unknown[] {
  const result: unknown[] = [];
  while (rest.length > 0 && patched.length > 0) {
    const isNext = placeBefore(patched[0]) >= 0 && placeBefore(rest[0]) < placeBefore(patched[0]);
    result.push((isNext ? rest : patched).shift());
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

function fieldsProblem(patch: Values, shape: Shape, path: string): string | undefined {
  for (const [name, value] of Object.entries(patch)) {
    const problem = name.startsWith('$')
      ? directiveProblem(name, value, path)
      : valueProblem(value, shape.fields?.[name] ?? {}, at(path, name));
    if (problem) return problem;
  }
  return undefined;
}

function directiveProblem(name: string, value: unknown, path: string): string | undefined {
  if (name !== '$patch')
    return `${path}: ${name} is not supported; use $patch: delete or $patch: replace, or null for a field`;
  if (['delete', 'replace', 'merge'].includes(value as string)) return undefined;
  return `${path}: $patch is ${JSON.stringify(value)}; write delete or replace, or remove it`;
}

function valueProblem(value: unknown, { key, fields }: Shape, path: string): string | undefined {
  if (deletes(value) || value === undefined) return undefined;
  if (key !== undefined && !Array.isArray(value)) return `${path}: is not a list; write its items in brackets, […]`;
  if (isData(value)) return fieldsProblem(value, { fields }, path);
  if (!Array.isArray(value)) return fields ? `${path}: is not an object; write the fields to change` : undefined;
  for (const [index, item] of value.entries()) {
    const problem =
      key === undefined ? wholeProblem(item, `${path}[${index}]`) : itemProblem(item, { key, fields }, path, index);
    if (problem) return problem;
  }
  return undefined;
}

function itemProblem(item: unknown, { key = '', fields }: Shape, path: string, index: number): string | undefined {
  if (!isData(item)) return `${path}[${index}]: is not an object; write an item with ${key}`;
  if (item.$patch === 'replace')
    return Object.keys(item).length === 1
      ? undefined
      : `${path}[${index}]: has $patch: replace, which replaces the whole list; give it an item of its own`;
  if (item[key] === undefined || item[key] === null)
    return `${path}[${index}]: has no ${key}, by which the items of this list are found; add it`;
  return item.$patch === 'delete' ? undefined : fieldsProblem(item, { fields }, `${path}[${item[key]}]`);
}

/** The items of a list without a key have no directives. */
function wholeProblem(item: unknown, path: string): string | undefined {
  if (Array.isArray(item)) return item.map((each, index) => wholeProblem(each, `${path}[${index}]`)).find(Boolean);
  if (!isData(item)) return undefined;
  if (Object.keys(item).some((name) => name.startsWith('$')))
    return `${path}: is in a list that is replaced as a whole; write the complete list, without $patch`;
  const problems = Object.entries(item).map(([name, value]) => wholeProblem(value, at(path, name)));
  return problems.find(Boolean);
}

/** A value that differs, and where: `spec.containers[etcd].env[A].value`. */
export interface Change {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Finds what differs, down to single values. Items that changed places give the path of their list. */
export function* changes(before: unknown, after: unknown, shape: Shape = {}, path = ''): Generator<Change> {
  if (before === after) return;
  const both = [before, after];
  const { key, fields = {} } = shape;
  if (key !== undefined && both.every((each) => each === undefined || isItems(each, key))) {
    yield* itemChanges(before as Values[], after as Values[], { key, fields }, path);
  } else if (both.some(isData) && both.every((each) => each === undefined || isData(each))) {
    const [a = {}, b = {}] = both as (Values | undefined)[];
    for (const name of new Set([...Object.keys(a), ...Object.keys(b)]))
      yield* changes(a[name], b[name], fields[name], at(path, name));
  } else if (JSON.stringify(before) !== JSON.stringify(after)) {
    yield { path, before, after };
  }
}

const isItems = (value: unknown, key: string): boolean =>
  Array.isArray(value) && value.every((item) => isData(item) && item[key] !== undefined);

function* itemChanges(
  before: readonly Values[] = [],
  after: readonly Values[] = [],
  { key = '', fields }: Shape,
  path: string,
): Generator<Change> {
  const names = (all: readonly Values[]) => all.map((item) => item[key]);
  const [old, now] = [names(before), names(after)];
  for (const name of new Set([...old, ...now])) {
    const item = (all: readonly Values[]) => all.find((each) => each[key] === name);
    yield* changes(item(before), item(after), { fields }, `${path}[${name}]`);
  }
  const kept = old.filter((name) => now.includes(name)).join();
  if (kept !== now.filter((name) => old.includes(name)).join()) yield { path, before: old, after: now };
}

const at = (path: string, name: string): string => {
  if (!/^\w+$/.test(name)) return `${path}[${name}]`;
  return path === '' ? name : `${path}.${name}`;
};
