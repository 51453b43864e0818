// Overrides are merged as Kubernetes merges a strategic merge patch: kubectl has the same code as the API server.
import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { kubernetesTypes } from '../../src/overrides/kubernetes-types';
import { isData, merged, patchProblem, type Shape, shapeOf } from '../../src/overrides/strategic-merge';
import type { Manifest } from '../synth';

const pod = shapeOf(kubernetesTypes, 'PodTemplateSpec');
const runs = process.env.SMOKE ? 50 : 200;
const kubectl = (args: readonly string[], input?: string): string =>
  execFileSync('kubectl', args, { encoding: 'utf8', input, maxBuffer: 2 ** 26 });

const record: typeof fc.record = (model: object, constraints: object = {}) =>
  fc.record(model as never, { ...constraints, noNullPrototype: true }) as never;
const oneOf = <T>(...values: readonly T[]) => fc.constantFrom(...values);
const names = oneOf('a', 'b', 'c', 'd');
const words = oneOf('x', 'y', 'z');

/** Each item once. */
const items = (key: string, names: fc.Arbitrary<unknown>, fields: Readonly<Record<string, fc.Arbitrary<unknown>>>) =>
  fc.uniqueArray(record({ [key]: names, ...fields }, { requiredKeys: [key] }), {
    selector: (item) => (item as Manifest)[key],
    maxLength: 4,
  });

/** A pod template: `draw` makes it a patch. */
function template(draw: Draw): fc.Arbitrary<unknown> {
  const { list, map, value } = draw;
  const containers = list('name', names, {
    image: value(words),
    args: value(fc.array(words, { maxLength: 2 })),
    env: list('name', names, { value: value(words), valueFrom: map({ fieldRef: map({ fieldPath: words }) }) }),
    ports: list('containerPort', oneOf(1, 2, 3), { name: value(words), protocol: value(oneOf('TCP', 'UDP')) }),
    volumeMounts: list('mountPath', oneOf('/a', '/b', '/c'), { name: names, readOnly: value(fc.boolean()) }),
    envFrom: value(fc.array(record({ prefix: words }), { maxLength: 2 })),
    securityContext: map({ runAsUser: value(fc.nat(9)), capabilities: map({ drop: value(fc.array(words)) }) }),
    resources: map({ limits: map({ cpu: words, memory: words }), requests: map({ cpu: words }) }),
  });
  return record({
    metadata: map({ labels: map({ a: value(words), b: value(words), c: value(words) }) }),
    spec: record(
      {
        containers,
        initContainers: containers,
        hostAliases: list('ip', oneOf('10.0.0.1', '10.0.0.2', '10.0.0.3'), { hostnames: value(fc.array(words)) }),
        imagePullSecrets: list('name', names, {}),
        topologySpreadConstraints: list('topologyKey', names, { maxSkew: value(fc.nat(3)) }),
        tolerations: value(fc.array(record({ key: words }), { maxLength: 2 })),
        volumes: list('name', names, { emptyDir: map({ medium: value(words) }), secret: map({ secretName: words }) }),
        nodeSelector: map({ a: value(words), b: value(words) }),
        dnsPolicy: value(words),
      },
      { requiredKeys: [] },
    ),
  });
}

interface Draw {
  list: (key: string, names: fc.Arbitrary<unknown>, fields: Fields) => fc.Arbitrary<unknown>;
  map: (fields: Fields) => fc.Arbitrary<unknown>;
  value: (value: fc.Arbitrary<unknown>) => fc.Arbitrary<unknown>;
}
type Fields = Readonly<Record<string, fc.Arbitrary<unknown>>>;

const map = (fields: Fields) => record(fields, { requiredKeys: [] });
const original = template({ list: items, map, value: (value) => value });

const orNull = (value: fc.Arbitrary<unknown>) => fc.option(value, { freq: 6, nil: null });
const patch = template({
  list: (key, itemNames, fields) => {
    const item = (more: object) => items(key, itemNames, { ...fields, ...more });
    const deleting = fc
      .tuple(item({}), fc.uniqueArray(itemNames, { maxLength: 2 }))
      .map(([some, gone]) => [...some, ...gone.map((name) => ({ [key]: name, $patch: 'delete' }))]);
    const replacing = item({}).map((some) => [...some, { $patch: 'replace' }]);
    return fc.oneof(
      { weight: 4, arbitrary: item({}) },
      { weight: 3, arbitrary: deleting },
      replacing,
      orNull(item({})),
    );
  },
  map: (fields) =>
    fc.oneof(
      { weight: 8, arbitrary: map(fields) },
      map(fields).map((value) => ({ ...(value as object), $patch: 'replace' })),
      { weight: 1, arbitrary: fc.constant(null) },
    ),
  value: orNull,
});

/** Where there was nothing to replace, Kubernetes keeps the directive, or drops what has it. */
function replacing(change: unknown, before: unknown, { key, fields }: Shape): unknown {
  if (Array.isArray(change) && key !== undefined)
    return change.map((item) => {
      const found = Array.isArray(before) ? before.find((each) => each[key] === item[key]) : undefined;
      return item[key] === undefined ? item : replacing(item, found, { fields });
    });
  if (!isData(change)) return change;
  const isVain = change.$patch === 'replace' && !isData(before);
  const kept = Object.entries(change).filter(([name]) => name !== '$patch' || !isVain);
  const below = (name: string) => (isData(before) && change.$patch !== 'replace' ? before[name] : undefined);
  return Object.fromEntries(
    kept.map(([name, value]) => [name, replacing(value, below(name), fields?.get(name) ?? {})]),
  );
}

/** Kubernetes leaves directives and null in what was not there before. */
const cleaned = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.filter((item) => !isData(item) || item.$patch === undefined).map(cleaned);
  if (!isData(value)) return value;
  const fields = Object.entries(value).filter(([name, field]) => name !== '$patch' && field !== null);
  return Object.fromEntries(fields.map(([name, field]) => [name, cleaned(field)]));
};

test('a patch gives what Kubernetes makes of it', () => {
  let compared = 0;
  for (const [before, change] of fc.sample(fc.tuple(original, patch), { numRuns: runs, seed: 1 })) {
    if (!isData(before) || patchProblem(change, pod)) continue;
    const set = (pod: unknown) => ({
      apiVersion: 'apps/v1',
      kind: 'StatefulSet',
      metadata: { name: 'set' },
      spec: { template: pod },
    });
    const file = JSON.stringify(set(before));
    const args = ['patch', '--local', '--type=strategic', '-o', 'json', '-f', '-', '-p'];
    const said = replacing(change, before, pod);
    const wanted = JSON.parse(kubectl([...args, JSON.stringify({ spec: { template: said } })], file));
    const found = set(merged(before, change, pod));
    expect({ before, change, result: found }).toEqual({ before, change, result: cleaned(wanted) });
    compared++;
  }
  expect(compared).toBeGreaterThan(runs / 2);
});

test('the types are those of Kubernetes', () => {
  const { definitions } = JSON.parse(kubectl(['get', '--raw', '/openapi/v2']));
  const names = new Map(
    Object.keys(definitions)
      .filter((name) => /^io\.k8s\.(api\.(core|apps|batch|policy)\.v1|apimachinery)\./.test(name))
      .map((name) => [name.split('.').at(-1), name]),
  );
  for (const [type, fields] of Object.entries(kubernetesTypes)) {
    const known: [string, Manifest][] = Object.entries(definitions[names.get(type)!].properties ?? {});
    // A newer Kubernetes has more.
    for (const field of fields.split(' ')) {
      const [name = '', rest = ''] = field.split(':');
      const [, schema] = known.find(([each]) => each === name) ?? [];
      expect([type, name, schema]).not.toContain(undefined);
      expect([type, name, schema['x-kubernetes-patch-merge-key'] ?? '']).toEqual([
        ...[type, name, /\[(\w*)\]/.exec(rest)?.[1] ?? ''],
      ]);
    }
  }
});
