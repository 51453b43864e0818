// test/apply/strategic-merge.suite.ts compares many random patches with kubectl.
import { nearest } from '../validation/nearest';
import { kubernetesTypes } from './kubernetes-types';
import { changes, merged, patchProblem, pathOf, shapeOf, storable } from './strategic-merge';

const template = shapeOf(kubernetesTypes, 'PodTemplateSpec', nearest);

const pod = {
  metadata: { labels: { a: '1' } },
  spec: {
    containers: [
      { name: 'etcd', image: 'e', env: [{ name: 'A', value: '1' }], args: ['x', 'y'] },
      { name: 'agent', image: 'a' },
    ],
    securityContext: { runAsUser: 1, fsGroup: 2 },
    tolerations: [{ key: 'a' }],
  },
};
const patched = (patch: unknown) => merged(pod, patch, template) as typeof pod;

test('an item of a list is found by its key, and other lists are replaced', () => {
  const { containers, tolerations } = patched({
    spec: { containers: [{ name: 'etcd', env: [{ name: 'B', value: '2' }], args: ['z'] }], tolerations: [] },
  }).spec;
  expect(containers).toEqual([
    {
      name: 'etcd',
      image: 'e',
      env: [
        { name: 'B', value: '2' },
        { name: 'A', value: '1' },
      ],
      args: ['z'],
    },
    { name: 'agent', image: 'a' },
  ]);
  expect(tolerations).toEqual([]);
});

test('a new item comes first, as in Kubernetes, unless the patch has the order', () => {
  const names = (...items: string[]) =>
    patched({ spec: { containers: items.map((name) => ({ name })) } }).spec.containers.map(({ name }) => name);
  expect(names('new')).toEqual(['new', 'etcd', 'agent']);
  expect(names('etcd', 'new')).toEqual(['etcd', 'new', 'agent']);
  expect(names('agent', 'etcd')).toEqual(['agent', 'etcd']);
});

test('two items with one key stay two', () => {
  const ports = (...protocols: string[]) => protocols.map((protocol) => ({ containerPort: 53, protocol }));
  const dns = (...protocols: string[]) => ({ spec: { containers: [{ name: 'dns', ports: ports(...protocols) }] } });
  const one = patched(dns('TCP'));
  const two = patched(dns('TCP', 'UDP'));
  expect(two.spec.containers[0]).toEqual(dns('TCP', 'UDP').spec.containers[0]);
  expect(merged(one, dns('TCP', 'UDP'), template)).toEqual(two);
  expect([...changes(one, two, template)].map(({ steps, after }) => [pathOf(steps), after])).toEqual([
    ['spec.containers[dns].ports[53].containerPort', 53],
    ['spec.containers[dns].ports[53].protocol', 'UDP'],
  ]);
});

test('null and $patch: delete remove a field or an item, and $patch: replace all others', () => {
  const { spec } = patched({
    spec: {
      containers: [{ name: 'agent', $patch: 'delete' }],
      securityContext: { $patch: 'replace', runAsNonRoot: true },
      tolerations: null,
    },
  });
  expect(spec).toEqual({ containers: [pod.spec.containers[0]], securityContext: { runAsNonRoot: true } });
  expect(patched({ metadata: { labels: { a: { $patch: 'delete' } } } }).metadata.labels).toEqual({});
  const only = { spec: { containers: [{ $patch: 'replace' }, { name: 'b' }] } };
  expect(patched(only).spec.containers).toEqual([{ name: 'b' }]);
  expect(pod.spec.containers).toHaveLength(2);
});

test('what a resource keeps means the same', () => {
  const patch = { spec: { tolerations: null, securityContext: { fsGroup: null } } };
  expect(storable(patch)).toEqual({
    spec: { tolerations: { $patch: 'delete' }, securityContext: { fsGroup: { $patch: 'delete' } } },
  });
  expect(patched(storable(patch))).toEqual(patched(patch));
});

test.each([
  [null, 'p: is not an object; write the fields to change'],
  [{ $patch: 'delete' }, 'p: would delete the whole object; remove $patch'],
  [{ spec: { $patch: 'remove' } }, 'p.spec: $patch is "remove"; write delete or replace, or remove it'],
  [
    { spec: { $retainKeys: ['a'] } },
    'p.spec: $retainKeys is not supported; use $patch: delete or $patch: replace, or null for a field',
  ],
  [
    { spec: { containers: [{ image: 'a' }] } },
    'p.spec.containers[0]: has no name, by which the items of this list are found; add it',
  ],
  [
    { spec: { containers: [{ name: 'a' }, { name: 'b' }, { name: 'a', image: 'c' }] } },
    'p.spec.containers[a]: is in this list twice; write it once',
  ],
  [
    { spec: { topologySpreadConstraints: [{ topologyKey: 'a' }, { topologyKey: 'a', maxSkew: 2 }] } },
    'p.spec.topologySpreadConstraints[a]: is in this list twice; write it once, or give each another whenUnsatisfiable',
  ],
  [{ spec: 'a' }, 'p.spec: is not an object; write the fields to change'],
  [{ spec: { volumes: 'a' } }, 'p.spec.volumes: is not a list; write its items in brackets, […]'],
  [{ spec: { containers: { name: 'a' } } }, 'p.spec.containers: is not a list; write its items in brackets, […]'],
  [{ spec: { containers: ['a'] } }, 'p.spec.containers[0]: is not an object; write an item with name'],
  [
    { spec: { containers: [{ name: 'a', $patch: 'replace' }] } },
    'p.spec.containers[0]: has $patch: replace, which replaces the whole list; give it an item of its own',
  ],
  [
    { spec: { containers: [{ name: 'a', env: [{ value: '1' }] }] } },
    'p.spec.containers[a].env[0]: has no name, by which the items of this list are found; add it',
  ],
  [
    { spec: { tolerations: [{ key: 'a', $patch: 'delete' }] } },
    'p.spec.tolerations[0]: is in a list that is replaced as a whole; write the complete list, without $patch',
  ],
  [{ spec: { tolertions: [] } }, 'p.spec.tolertions: is not a field of Kubernetes; did you mean tolerations?'],
  [{ spec: { image: 'a' } }, 'p.spec.image: is not a field of Kubernetes; correct or remove it'],
  [
    { spec: { tolerations: [{ efect: 'a' }] } },
    'p.spec.tolerations[0].efect: is not a field of Kubernetes; did you mean effect?',
  ],
  [
    { spec: { containers: [{ name: 'a', resources: { limit: {} } }] } },
    'p.spec.containers[a].resources.limit: is not a field of Kubernetes; did you mean limits?',
  ],
  [{ spec: { nodeSelector: 'abc' } }, 'p.spec.nodeSelector: is not an object; write the fields to change'],
  [{ metadata: { annotations: { a: 1 } } }, 'p.metadata.annotations.a: 1 is not a text; write it in quotes'],
  [
    { spec: { containers: [{ name: 'a', env: [{ name: 'A', value: 1 }] }] } },
    'p.spec.containers[a].env[A].value: 1 is not a text; write it in quotes',
  ],
  [
    { spec: { containers: [{ name: 'a', args: [true] }] } },
    'p.spec.containers[a].args[0]: true is not a text; write it in quotes',
  ],
  [{ spec: { hostNetwork: 'true' } }, 'p.spec.hostNetwork: "true" is not true or false; correct it'],
  [
    { spec: { terminationGracePeriodSeconds: '60' } },
    'p.spec.terminationGracePeriodSeconds: "60" is not a whole number; correct it',
  ],
  [
    JSON.parse('{ "spec": { "constructor": 1 } }'),
    'p.spec.constructor: is not a field of Kubernetes; correct or remove it',
  ],
])('%j is refused', (patch, problem) => {
  expect(patchProblem(patch, template, 'p')).toBe(problem);
});

test('the changes are single values, and a new order', () => {
  const paths = (patch: unknown) =>
    [...changes(pod, patched(patch), template)].map(({ steps, after }) => [pathOf(steps), after]);
  expect(paths({ metadata: { labels: { 'x/y': '2' } } })).toEqual([['metadata.labels[x/y]', '2']]);
  expect(paths({ spec: { containers: [{ name: 'etcd', env: [{ name: 'A', value: '2' }] }] } })).toEqual([
    ['spec.containers[etcd].env[A].value', '2'],
  ]);
  expect(paths({ spec: { containers: [{ name: 'agent' }, { name: 'etcd' }] } })).toEqual([
    ['spec.containers', ['agent', 'etcd']],
  ]);
  expect(paths({ spec: { containers: [{ name: 'agent', $patch: 'delete' }] } })).toEqual([
    ['spec.containers[agent].name', undefined],
    ['spec.containers[agent].image', undefined],
  ]);
  expect(paths({ spec: { containers: [{ name: 'agent', image: 'a' }] } })).toEqual([]);
});

test('names that JavaScript gives to every object are keys like others', () => {
  const patch = JSON.parse('{ "metadata": { "labels": { "__proto__": "a", "constructor": "b" } } }');
  expect(patchProblem(patch, template, 'p')).toBeUndefined();
  expect(JSON.stringify(patched(storable(patch)).metadata.labels)).toBe('{"a":"1","__proto__":"a","constructor":"b"}');
  expect([...changes(pod, patched(patch), template)].map(({ steps }) => steps.at(-1))).toEqual([
    '__proto__',
    'constructor',
  ]);
});
