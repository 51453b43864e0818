// A new field of a custom resource must be read by all that read custom resources: by `render` and by the reconciler.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { good } from '../apply/good';
import { fieldOf, kinds, placesOf, schemaOf } from '../apply/schema';
import { root } from '../guides';
import { errorsOf, rendering } from '../rendering';
import type { Manifest } from '../synth';

const normal = (field: string) => field.replaceAll(/\[\d+\]/g, '[]');

/** Yields the path of every field of a schema. */
function* fieldsOf(schema: Manifest, path: string): Generator<string> {
  yield path;
  if (schema.items) yield* fieldsOf(schema.items, `${path}[]`);
  for (const [name, field] of Object.entries<Manifest>(schema.properties ?? {}))
    yield* fieldsOf(field, `${path}.${name}`);
}

const specs = kinds.map((crd) => ({ kind: crd.spec.names.kind, schema: schemaOf(crd).properties.spec }));

test.each(specs)(
  'test/apply/good.ts has a value for every field of $kind, so that the tests of render read it',
  ({ kind, schema }) => {
    const given = Object.values(good)
      .filter((manifest) => manifest.kind === kind)
      .flatMap((manifest) =>
        [...placesOf(schema, manifest.spec, ['spec'])].flatMap(({ path }) => {
          const value = path.reduce((inner: Manifest, step) => inner?.[step], manifest);
          return value === undefined ? [] : [normal(fieldOf(path))];
        }),
      );
    const declared = [...fieldsOf(schema, 'spec')];
    expect(declared.length).toBeGreaterThan(10);
    expect(declared.filter((field) => !given.includes(field))).toEqual([]);
  },
);

test('render refuses a field that it does not read', () => {
  const orders = good['the smallest cluster']!;
  expect(rendering([orders]).manifests).not.toEqual([]);
  expect(errorsOf([{ ...orders, spec: { ...orders.spec, newField: 1 } }])).toEqual([
    expect.stringContaining('newField: is not a field'),
  ]);
});

/** What reads specs in the reconciler, and what makes objects of them. */
const readers = [
  ...['agent/src/controllers', 'agent/src/store', 'src/lib', 'src/cluster', 'src/backup', 'src/tls'],
  ...['src/monitoring', 'src/reconciler', 'src/control-plane'],
]
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => /(?<!\.test|\.fixture)\.ts$/.test(file))
      .map((file) => readFileSync(join(root, folder, file), 'utf8')),
  )
  .join('\n');
const withoutComments = readers.replaceAll(/\/\*.*?\*\/|^ *\/\/[^\n]*$/gms, '');

/** Fields of objects that are passed on as they are. */
const passedOn = ['claimName'];

test.each(specs)('the reconciler, or what makes the objects, names every field of $kind', ({ schema }) => {
  const unknown = [...fieldsOf(schema, 'spec')].filter((field) => {
    const name = field.match(/\w+(?=(\[\])*$)/)![0];
    return !passedOn.includes(name) && !new RegExp(`\\b${name}\\b`).test(withoutComments);
  });
  expect(unknown).toEqual([]);
});
