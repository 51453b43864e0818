import type { Manifest } from '../synth';
import { Api } from './api';
import { badSpecs } from './bad-specs';
import { badTexts } from './bad-texts';
import { good } from './good';
import { type BadValue, badValues } from './limits';
import { TestNamespace } from './namespace';
import { changed, crds, fieldOf, type Place, placesOf, schemaOf } from './schema';

let api: Api;
let namespace: TestNamespace;
beforeAll(async () => {
  namespace = await TestNamespace.create('rules');
  api = await Api.connect();
});
afterAll(async () => {
  api?.close();
  await namespace?.delete();
});

const crdOf = (kind: string): Manifest => crds.find((crd) => crd.spec.names.kind === kind);
const pathOf = (kind: string) =>
  `/apis/cdk8s-etcd.dev/v1alpha1/namespaces/${namespace.name}/${crdOf(kind).spec.names.plural}`;
const refusalsOf = async (manifest: Manifest) => (await api.tryCreate(pathOf(manifest.kind), manifest)).refusals;

const valueAt = (manifest: Manifest, { path }: Place): Manifest =>
  path.reduce((inner: Manifest, step) => inner?.[step], manifest);

/** Each field of each resource's spec once, in the first good resource that has it. */
const fields = new Map<string, { manifest: Manifest; place: Place }>();
for (const manifest of Object.values(good)) {
  const { spec } = schemaOf(crdOf(manifest.kind)).properties;
  for (const place of placesOf(spec, manifest.spec, ['spec'])) {
    const key = `${manifest.kind} ${fieldOf(place.path).replace(/\[\d+\]/g, '[]')}`;
    if (valueAt(manifest, place) !== undefined && !fields.has(key)) fields.set(key, { manifest, place });
  }
}

const limits: [string, BadValue][] = [...fields].flatMap(([field, { manifest, place }]) =>
  badValues(manifest, place, valueAt(manifest, place)).map((bad): [string, BadValue] => [`${field}: ${bad.what}`, bad]),
);

const isText = ({ schema }: Place): boolean => schema.type === 'string';
/** Any text will do, or it is validated elsewhere: by Kubernetes, a registry or the store. */
const freeTexts = [
  'again',
  'cron',
  'cronJobName',
  'endpoint',
  'image',
  'from',
  'key',
  'kmsKeyId',
  'profile',
  'prefix',
  'recipients[]',
  'region',
  'schedule',
  'to',
  'username',
];

const rulesOf = (schema: Manifest): Manifest[] => schema['x-kubernetes-validations'] ?? [];
const texts = [...fields].filter(([, { place }]) => isText(place) && rulesOf(place.schema).length > 0);
const textCases = texts.flatMap(([field, { manifest, place }]) =>
  rulesOf(place.schema).flatMap(({ message }) =>
    Object.entries(badTexts)
      .filter(([says]) => message.startsWith(says))
      .flatMap(([says, values]) =>
        values.map((value) => ({
          field,
          value,
          says,
          manifest: changed(manifest, place.path, value),
          path: place.path,
        })),
      ),
  ),
);

test.each(Object.entries(good))('accepts %s', async (_, manifest) => {
  expect(await refusalsOf(manifest)).toEqual([]);
});

test.each(limits)('refuses %s', async (_, { manifest, says, field }) => {
  const found = (await refusalsOf(manifest)).filter((refusal) => refusal.startsWith(field) && says.test(refusal));
  expect(found.length > 0 ? [] : await refusalsOf(manifest)).toEqual([]);
  expect(found).not.toEqual([]);
});

test.each(textCases)("refuses $field '$value'", async ({ manifest, says, path }) => {
  expect(await refusalsOf(manifest)).toContainEqual(expect.stringContaining(`${fieldOf(path)}: `));
  expect(await refusalsOf(manifest)).toContainEqual(expect.stringContaining(says));
});

test.each(badSpecs)('refuses %s', async (_, manifest, says) => {
  expect(await refusalsOf(manifest)).toContainEqual(expect.stringContaining(says));
});

test('refuses a field that does not exist', async () => {
  const manifest = changed(good['the smallest cluster'], ['spec', 'replicas'], 3);
  expect(await refusalsOf(manifest)).toEqual([expect.stringContaining('unknown field "spec.replicas"')]);
});

test('repeats no secret that is in the wrong place', async () => {
  const secret = 'AGE-SECRET-KEY-1QQQ';
  const found = badSpecs.filter(([, manifest]) => JSON.stringify(manifest).includes(secret));
  const answers = await Promise.all(found.map(([, manifest]) => refusalsOf(manifest)));
  expect(answers).toHaveLength(2);
  expect(JSON.stringify(answers)).not.toContain(secret);
});

describe('completeness', () => {
  test.each(crds.map((crd) => [crd.spec.names.kind, crd]))('every field of %s is in a valid resource', (kind, crd) => {
    const all = schemaFields(schemaOf(crd).properties.spec, 'spec');
    expect(all.filter((path) => !fields.has(`${kind} ${path}`))).toEqual([]);
  });

  test('every rule about a text has an invalid example', () => {
    const tried = new Set(textCases.map(({ field, says }) => `${field}: ${says}`));
    const untried = texts.flatMap(([field, { place }]) =>
      rulesOf(place.schema).filter(
        ({ message }) =>
          ![...tried].some((key) => key.startsWith(`${field}: `) && message.startsWith(key.slice(field.length + 2))),
      ),
    );
    expect(untried).toEqual([]);
  });

  test('every other text is free by intention', () => {
    const free = [...fields].filter(
      ([, { place }]) =>
        isText(place) && rulesOf(place.schema).length === 0 && !place.schema.enum && !place.schema.format,
    );
    const names = free.map(([field]) => field.split('.').at(-1));
    expect(new Set(names)).toEqual(new Set(freeTexts));
  });

  test('every number has a minimum, and every small number a maximum', () => {
    const numbers = [...fields].filter(([, { place }]) => place.schema.type === 'integer');
    expect(numbers.length).toBeGreaterThan(10);
    for (const [, { place }] of numbers) {
      expect(place.schema.minimum).toBeGreaterThanOrEqual(0);
      expect(place.schema.maximum ?? place.schema.format).toEqual(expect.anything());
    }
  });

  test.each(crds.map((crd) => [crd.spec.names.kind, crd]))(
    'every other rule of %s has an invalid example',
    (kind, crd) => {
      const said = badSpecs.filter(([, manifest]) => manifest.kind === kind).map(([, , says]) => says);
      const rules = otherRules(schemaOf(crd)).filter(({ rule }) => !rule.includes('oldSelf'));
      expect(rules.length).toBeGreaterThan(2);
      expect(rules.filter(({ message }) => !said.some((says) => message.includes(says)))).toEqual([]);
    },
  );
});

function schemaFields(schema: Manifest, path: string): string[] {
  const inner = Object.entries<Manifest>(schema.properties ?? {}).flatMap(([name, field]) =>
    schemaFields(field, `${path}.${name}`),
  );
  return [path, ...inner, ...(schema.items ? schemaFields(schema.items, `${path}[]`) : [])];
}

/** The rules that are not about one text. */
function otherRules(schema: Manifest): Manifest[] {
  const own = schema.type === 'string' ? [] : rulesOf(schema);
  const inner = Object.values<Manifest>(schema.properties ?? {}).flatMap(otherRules);
  return [...own, ...inner, ...(schema.items ? otherRules(schema.items) : [])];
}
