// The annotation by which the reconciler finds a spec that was changed without its manifests: it changes exactly when they do.
import fc from 'fast-check';
import { manifestsOf } from '../../src/cluster/manifests/cluster-manifests';
import { changedFields, madeFrom } from '../../src/cluster/manifests/made-from';
import { resourceProblems } from '../../src/resource/resource-problems';
import { type Schema, schemaOf } from '../../src/resource/schema';
import type { EtcdClusterSpec } from '../../src/resource/types';
import type { Manifest } from '../synth';
import { drawnSpec } from './specs';

const of = (spec: object): string => madeFrom(spec as EtcdClusterSpec);

// Fewer would not have every field.
const specs = fc.sample(drawnSpec, { numRuns: 150, seed: 1 }) as unknown as EtcdClusterSpec[];

test('the defaults of the API server and the order of fields are no difference', () => {
  const filled = (value: unknown, schema: Schema): unknown => {
    if (Array.isArray(value)) return value.map((each) => filled(each, schema.items ?? {}));
    if (typeof value !== 'object' || value === null) return value;
    const { properties = {} } = schema;
    const defaulted = Object.entries(properties).flatMap(([name, { default: usual }]) =>
      usual === undefined ? [] : [[name, usual]],
    );
    const given = Object.entries(value).map(([name, each]) => [name, filled(each, properties[name] ?? {})]);
    return Object.fromEntries([...defaulted, ...given.reverse()]);
  };
  const schema = schemaOf('EtcdCluster').properties!.spec!;
  for (const spec of specs) {
    const returned = filled(spec, schema) as EtcdClusterSpec;
    expect(changedFields(of(spec), of(returned))).toEqual([]);
  }
});

/** The version is compared with that of the template, and new members are no reason to ask them for backups. */
const otherwise = ['version', 'size'];

/** Paths of the fields of a spec. Deeper ones count as a whole, except those that the reconciler reads apart. */
const pathsOf = (spec: object): string[][] =>
  Object.entries(spec).flatMap(([name, value]) => {
    const isApart = ['tls', 'alsoTrust', 'managed', 'storage', 'pvcPolicy', 'backup'].includes(name);
    return [[name], ...(isApart ? pathsOf(value).map((rest) => [name, ...rest]) : [])];
  });

const without = (value: Manifest, [name, ...rest]: string[]): Manifest => {
  const { [name!]: field, ...others } = value;
  return rest.length === 0 ? others : { ...others, [name!]: without(field, rest) };
};

/** Without the resource itself. Undefined: such a spec is refused. */
function objectsOf(spec: Manifest): string | undefined {
  if (resourceProblems('EtcdCluster', spec, { name: 'orders' }).length > 0) return undefined;
  const all = [...manifestsOf({ metadata: { name: 'orders', namespace: 'shop' }, spec, madeFrom: '' }).values()];
  return JSON.stringify(all.filter(({ kind }) => kind !== 'EtcdCluster'));
}

test('a field counts if other manifests follow from it, and only then', () => {
  const [changing, counting] = [new Set<string>(), new Set<string>()];
  for (const spec of specs) {
    const objects = objectsOf(spec);
    if (objects === undefined) continue;
    for (const path of pathsOf(spec)) {
      if (otherwise.includes(path.join('.'))) continue;
      const changed = without(spec, path);
      const others = objectsOf(changed);
      if (others === undefined) continue;
      const counts = changedFields(of(spec), of(changed)).length > 0;
      if (counts) counting.add(path.join('.'));
      if (others === objects) continue;
      changing.add(path.join('.'));
      expect([path.join('.'), counts]).toEqual([path.join('.'), true]);
    }
  }
  expect([...counting].filter((path) => !changing.has(path))).toEqual([]);
});
