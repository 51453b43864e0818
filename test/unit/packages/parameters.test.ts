// The rule that `npm run generate` applies to the parameters of the public API, on a small assembly.
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

const file = JSON.stringify(resolve('scripts/lib/parameters.mjs'));
const script = `import { parameterProblems } from ${file};
console.log(JSON.stringify(parameterProblems(JSON.parse(process.argv[1]))));`;

test('each parameter has a text, except a struct, whose properties have theirs', () => {
  const props = { name: 'props', type: { fqn: 'Props' } };
  const grow = [{ name: 'size' }, { name: 'unit', docs: { summary: 'The unit.' } }, props];
  const disk = { name: 'Disk', initializer: { parameters: [{ name: 'id' }] } };
  const types = {
    Props: { name: 'Props', datatype: true },
    Disk: {
      ...disk,
      methods: [
        { name: 'grow', parameters: grow },
        { name: 'join', parameters: [{ ...props, variadic: true }] },
      ],
    },
  };
  const output = execFileSync('node', ['--input-type=module', '-e', script, JSON.stringify({ types })], {
    encoding: 'utf8',
  });
  expect(JSON.parse(output)).toEqual(['Disk.grow(size)', 'Disk.join(props)', 'Disk.new(id)']);
});
