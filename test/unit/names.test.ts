// The rules that `npm run check` applies to the names of the public API, on small assemblies.
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const names = JSON.stringify(resolve('scripts/lib/names.mjs'));
const script = `import { nameProblems } from ${names};
console.log(JSON.stringify(JSON.parse(process.argv[1]).map(nameProblems)));`;

const assembly = (...types: object[]) => ({
  types: Object.fromEntries(types.map((type) => [(type as { name: string }).name, type])),
});
const withProperties = (...names: string[]) => assembly({ name: 'Props', properties: names.map((name) => ({ name })) });
const withParameter = (name: string) => assembly({ name: 'Disk', methods: [{ name: 'grow', parameters: [{ name }] }] });

const cases = [
  { api: withProperties('lambda'), problems: ['Props.lambda is reserved in Python'] },
  { api: withProperties('package'), problems: ['Props.package is reserved in Java'] },
  { api: withProperties('class'), problems: ['Props.class is reserved in Python', 'Props.class is reserved in Java'] },
  // Go has it as a method in upper case.
  { api: withProperties('range', 'size'), problems: [] },
  { api: withParameter('range'), problems: ['Disk.grow(range) is reserved in Go'] },
  { api: withParameter('self'), problems: ['Disk.grow(self) is reserved in Python'] },
  { api: assembly({ name: 'Disk', methods: [{ name: 'wait' }] }), problems: ['Disk.wait is reserved in Java'] },
  {
    api: withProperties('serverURL', 'serverUrl'),
    problems: ['Props: serverURL and serverUrl are one name in Python'],
  },
  {
    api: assembly({ name: 'Disk', properties: [{ name: 'size' }], methods: [{ name: 'getSize' }] }),
    problems: ['Disk: size and getSize are one name in Java'],
  },
  {
    api: assembly({ name: 'Disk', properties: [{ name: 'size' }], methods: [{ name: 'Size' }] }),
    problems: ['Disk: size and Size are one name in Python', 'Disk: size and Size are one name in Go'],
  },
  {
    api: assembly(
      { name: 'Base', methods: [{ name: 'getSize' }] },
      { name: 'Disk', base: 'Base', ...{ properties: [{ name: 'size' }] } },
    ),
    problems: ['Disk: size and getSize are one name in Java'],
  },
  {
    api: assembly({
      name: 'Disk',
      properties: [{ name: 'NONE', const: true, static: true }],
      methods: [{ name: 'none', static: true }],
    }),
    problems: [],
  },
  { api: assembly({ name: 'Tls' }, { name: 'TLS' }), problems: ['Tls and TLS are one file where case does not count'] },
  {
    api: assembly(
      { name: 'Props', datatype: true, interfaces: ['Base'] },
      { name: 'Base', datatype: true, properties: [{ name: 'id' }] },
      {
        name: 'Disk',
        initializer: {
          parameters: [
            { name: 'id', type: {} },
            { name: 'props', type: { fqn: 'Props' } },
          ],
        },
      },
    ),
    problems: ['Disk.new(id) is a property of Props too: Python passes both as keywords'],
  },
  { api: assembly({ name: 'Disk', methods: [{ name: 'from' }] }), problems: ['Disk.from is reserved in Python'] },
];

const input = JSON.stringify(cases.map(({ api }) => api));
const found = JSON.parse(
  execFileSync(process.execPath, ['--input-type=module', '--eval', script, input], { encoding: 'utf8' }),
);

test.each(cases.map(({ problems }, index) => ({ problems, index })))('$index: $problems', ({ problems, index }) => {
  expect(found[index]).toEqual(problems);
});
