// What the API server refuses, synth refuses too, with the same message: the cases are those of `npm run suite -- apply`, and every
// rule of every CustomResourceDefinition has one.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { checkOf } from '../../src/resource/cel';
import { resourceProblems } from '../../src/resource/resource-problems';
import { type Kind, schemaOf as schemaOfKind } from '../../src/resource/schema';
import { badSpecs } from '../apply/bad-specs';
import { crdOf, fields, limits, rulesOf, textCases, texts } from '../apply/cases';
import { good } from '../apply/good';
import { changed, crdDirectory, fieldIn, fieldOf, isServed, kinds, schemaOf } from '../apply/schema';
import type { Manifest } from '../synth';

const problemsOf = ({ kind, spec, metadata }: Manifest) => resourceProblems(kind, spec, metadata);
const shownOf = (manifest: Manifest) => problemsOf(manifest).map(({ path, message }) => `${path}: ${message}`);

/** Any text will do, or it is validated elsewhere: by Kubernetes, a registry or the store. */
const freeTexts = [
  '*',
  'again',
  'agentImage',
  'cron',
  'cronJobName',
  'endpoint',
  'exclude[]',
  'image',
  'fileName',
  'from',
  'key',
  'kmsKeyId',
  'profile',
  'recipients[]',
  'region',
  'runbookUrl',
  'schedule',
  'to',
  'username',
];

const schemas = kinds.map((crd): [string, Manifest] => [crd.spec.names.kind, schemaOf(crd)]);

/** The definitions as the API server has them. */
const definitions = readdirSync(crdDirectory).map((file): [Kind, Manifest] => {
  const { spec } = parse(readFileSync(join(crdDirectory, file), 'utf8'));
  return [spec.names.kind, spec.versions[0].schema.openAPIV3Schema];
});
const limitKeywords = /^(m(ax|in)|pattern|enum|required|x-kubernetes-(validations|list))/;

/** A rule and the field that it is about: `EtcdBackup spec.store.s3: message`. */
const ruleAt = (kind: string, field: string, message: string) => `${kind} ${field}: ${message}`;
const rules = schemas.flatMap(([kind, schema]) => rulesBelow(kind, schema, ''));
const creationRules = rules.filter(({ rule }) => !/\boldSelf\b/.test(rule));
const messages = [...new Set(creationRules.map(({ message }) => message))];

test.each(Object.entries(good))('accepts %s', (_, manifest) => {
  expect(shownOf(manifest)).toEqual([]);
});

test.each(limits)('refuses %s', (_, { manifest, field }) => {
  expect(problemsOf(manifest).filter(({ path }) => path.startsWith(field))).not.toEqual([]);
});

test.each(textCases)("refuses $field '$value'", ({ manifest, message, path, value }) => {
  expect(problemsOf(manifest)).toContainEqual({ path: fieldOf(path), message: `'${value}' ${message}` });
});

test.each(badSpecs)('refuses %s', (_, manifest, says) => {
  const isRule = messages.some((message) => message.includes(says));
  expect(shownOf(manifest)).toContainEqual(expect.stringContaining(isRule ? says : ': '));
});

test('refuses a field that does not exist', () => {
  const manifest = changed(good['the smallest cluster'], ['spec', 'replicas'], 3);
  expect(shownOf(manifest)).toEqual(['spec.replicas: is not a field: write size']);
});

test('repeats no secret that is in the wrong place', () => {
  const secret = 'AGE-SECRET-KEY-1QQQ';
  const found = badSpecs.filter(([, manifest]) => JSON.stringify(manifest).includes(secret));
  expect(found).toHaveLength(4);
  for (const [, manifest] of found) expect(JSON.stringify(problemsOf(manifest))).not.toContain(secret);
});

describe('completeness', () => {
  test.each(schemas)('every field of %s is in a valid resource', (kind, schema) => {
    const all = schemaFields(schema.properties.spec, 'spec');
    expect(all.filter((path) => !fields.has(`${kind} ${path}`))).toEqual([]);
  });

  test('every rule is broken by a case', () => {
    const refused = [...textCases.map(({ manifest }) => manifest), ...badSpecs.map(([, manifest]) => manifest)];
    const broken = refused.flatMap((manifest) =>
      problemsOf(manifest).flatMap(({ path, message }) => {
        const field = fieldIn(schemaOf(crdOf(manifest.kind)), path);
        return messages.filter((each) => message.endsWith(each)).map((each) => ruleAt(manifest.kind, field, each));
      }),
    );
    const found = new Set(broken);
    expect(creationRules.length).toBeGreaterThan(250);
    expect(creationRules.map(({ key }) => key).filter((key) => !found.has(key))).toEqual([]);
  });

  test.each(definitions)('the JSON Schema of %s has every limit of the definition', (kind, schema) => {
    const whole = schemaOfKind(kind).properties!.spec!;
    expect(otherLimits(schema.properties.spec, whole, 'spec')).toEqual([]);
  });

  test('every rule can be evaluated', () => {
    for (const { rule } of rules) expect(() => checkOf(rule)).not.toThrow();
  });

  test('every rule means the same in JavaScript', () => {
    const all = rules.map(({ rule }) => rule);
    const patterns = all.flatMap((rule) =>
      [...rule.matchAll(/matches\((?:r?'([^']*)')\)/g)].map(([, pattern]) => pattern!),
    );
    expect(new Set(patterns).size).toBeGreaterThan(20);
    // Groups with flags, classes by name, and what stands for the ends of the text.
    expect(patterns.filter((pattern) => /\(\?|\\[pPzAQECbB]|\[\[:/.test(pattern))).toEqual([]);
    // The order of texts is that of their bytes, and durations have one.
    const ordered = all.flatMap((rule) => [...rule.replace(/r?'[^']*'/g, "''").matchAll(/(\S+) [<>]=? (\S+)/g)]);
    expect(ordered.length).toBeGreaterThan(10);
    expect(
      ordered
        .filter(([, left, right]) => !/^(\d|duration[(])/.test(right!) && !left!.startsWith('bytes('))
        .map(([it]) => it),
    ).toEqual([]);
  });

  test('every other text is free by intention', () => {
    const free = texts.filter(
      ([
        ,
        {
          place: { schema },
        },
      ]) => rulesOf(schema).length === 0 && !schema.enum && !schema.format,
    );
    const names = free.map(([field]) => field.split('.').at(-1));
    expect(new Set(names)).toEqual(new Set(freeTexts));
  });

  test('every number has a minimum, and every small number a maximum', () => {
    // The schemas of what only render reads lack the formats.
    const numbers = [...fields].filter(
      ([, { manifest, place }]) => place.schema.type === 'integer' && isServed(manifest),
    );
    expect(numbers.length).toBeGreaterThan(10);
    for (const [, { place }] of numbers) {
      // Kubernetes takes any number of seconds.
      if (place.path.at(-1) !== 'tolerationSeconds') expect(place.schema.minimum).toBeGreaterThanOrEqual(0);
      expect(place.schema.maximum ?? place.schema.format).toEqual(expect.anything());
    }
  });
});

/** The keywords that only the API server would check, or otherwise. */
function otherLimits(schema: Manifest, whole: Manifest | undefined, path: string): string[] {
  const absent = Object.keys(schema).filter(
    (keyword) => limitKeywords.test(keyword) && !isDeepStrictEqual(schema[keyword], whole?.[keyword]),
  );
  const below = Object.entries<Manifest>(schema.properties ?? {}).flatMap(([name, each]) =>
    otherLimits(each, whole?.properties?.[name], `${path}.${name}`),
  );
  const { items, additionalProperties } = schema;
  return [
    ...absent.map((keyword) => `${path}: ${keyword}`),
    ...below,
    ...(items ? otherLimits(items, whole?.items, `${path}[]`) : []),
    ...(additionalProperties ? otherLimits(additionalProperties, whole?.additionalProperties, `${path}.*`) : []),
  ];
}

function schemaFields(schema: Manifest, path: string): string[] {
  const inner = Object.entries<Manifest>(schema.properties ?? {}).flatMap(([name, field]) =>
    schemaFields(field, `${path}.${name}`),
  );
  const below = { '[]': schema.items, '.*': schema.additionalProperties };
  return [
    path,
    ...inner,
    ...Object.entries(below).flatMap(([end, each]) => (each ? schemaFields(each, path + end) : [])),
  ];
}

interface FoundRule {
  readonly key: string;
  readonly rule: string;
  readonly message: string;
}

/** Every rule of a schema, with the field that it is about. */
function rulesBelow(kind: string, schema: Manifest, path: string): FoundRule[] {
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  const own = rulesOf(schema).map(({ rule, message, fieldPath = '' }) => ({
    ...{ rule, message },
    key: ruleAt(kind, `${path}${fieldPath}`.replace(/^[.]/, ''), message),
  }));
  const { properties = {}, items, additionalProperties } = schema;
  const inner = Object.entries<Manifest>(properties).filter(([name]) => path !== '' || name !== 'status');
  return [
    ...own,
    ...inner.flatMap(([name, each]) => rulesBelow(kind, each, at(name))),
    ...(items ? rulesBelow(kind, items, `${path}[]`) : []),
    ...(additionalProperties ? rulesBelow(kind, additionalProperties, at('*')) : []),
  ];
}
