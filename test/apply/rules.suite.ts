import type { Manifest } from '../synth';
import { Api } from './api';
import { badSpecs } from './bad-specs';
import { crdOf, limits, textCases } from './cases';
import { good } from './good';
import { TestNamespace } from './namespace';
import { changed, fieldOf, isServed } from './schema';

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

const pathOf = (kind: string) =>
  `/apis/cdk8s-etcd.dev/v1alpha1/namespaces/${namespace.name}/${crdOf(kind).spec.names.plural}`;
/** With the key of a map after a dot, as it is only where no rule is broken. */
const refusalsOf = async (manifest: Manifest) => {
  const { refusals } = await api.tryCreate(pathOf(manifest.kind), manifest);
  return refusals.map((refusal) => refusal.replace(/^([^:]*?)\[([^\]\d][^\]]*)\]/, '$1.$2'));
};

test.each(Object.entries(good).filter(([, manifest]) => isServed(manifest)))('accepts %s', async (_, manifest) => {
  expect(await refusalsOf(manifest)).toEqual([]);
});

test.each(limits.filter(([, { manifest }]) => isServed(manifest)))(
  'refuses %s',
  async (_, { manifest, says, field }) => {
    const found = (await refusalsOf(manifest)).filter((refusal) => refusal.startsWith(field) && says.test(refusal));
    expect(found.length > 0 ? [] : await refusalsOf(manifest)).toEqual([]);
    expect(found).not.toEqual([]);
  },
);

test.each(textCases.filter(({ manifest }) => isServed(manifest)))(
  "refuses $field '$value'",
  async ({ manifest, says, path }) => {
    expect(await refusalsOf(manifest)).toContainEqual(expect.stringContaining(`${fieldOf(path)}: `));
    expect(await refusalsOf(manifest)).toContainEqual(expect.stringContaining(says));
  },
);

test.each(badSpecs.filter(([, manifest]) => isServed(manifest)))('refuses %s', async (_, manifest, says) => {
  expect(await refusalsOf(manifest)).toContainEqual(expect.stringContaining(says));
});

test('refuses a field that does not exist', async () => {
  const manifest = changed(good['the smallest cluster'], ['spec', 'replicas'], 3);
  expect(await refusalsOf(manifest)).toEqual([expect.stringContaining('unknown field "spec.replicas"')]);
});

test('repeats no secret that is in the wrong place', async () => {
  const secret = 'AGE-SECRET-KEY-1QQQ';
  const found = badSpecs.filter(([, manifest]) => isServed(manifest) && JSON.stringify(manifest).includes(secret));
  const answers = await Promise.all(found.map(([, manifest]) => refusalsOf(manifest)));
  expect(answers).toHaveLength(2);
  expect(JSON.stringify(answers)).not.toContain(secret);
});
