import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { InputError } from './report';
import { render } from './run';

const corpus = join(__dirname, '../../agent/test/fuzz/corpus');
const once = join(corpus, 'regressions/render');

// See agent/test/fuzz/regressions.test.ts. Some of these once took minutes.
test.each(readdirSync(once))('what was once a counterexample: %s', (name) => {
  expect(() => render(readFileSync(join(once, name), 'utf8'), { file: 'input.yaml' })).toThrow(InputError);
});

test.each(['own.yaml', 'small.yaml', 'coreos.yaml', 'ydzs.yaml'])('the corpus is rendered: %s', (name) => {
  expect(render(readFileSync(join(corpus, 'render', name), 'utf8'), { file: 'input.yaml' }).yaml).toContain(
    'StatefulSet',
  );
});

test('an alias of a list as a key is refused', () => {
  expect(() => render('a: &x [1]\n*x : 2\n', { file: 'input.yaml' })).toThrow(InputError);
});

const resource = (kind: string, name: string, spec: object = { size: 3, version: '3.6.16' }) =>
  JSON.stringify({ apiVersion: 'cdk8s-etcd.dev/v1alpha1', kind, metadata: { name }, spec });

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])('%s is not a kind', (kind) => {
  expect(() => render(resource(kind, 'a'), { file: 'input.yaml' })).toThrow(InputError);
});

test.each([
  ['two names that are one id', [resource('EtcdCluster', 'a/b'), resource('EtcdCluster', 'a--b')].join('\n---\n')],
  [
    'a schedule that every object has',
    resource('EtcdCluster', 'a', {
      ...{ size: 3, version: '3.6.16' },
      backup: { schedules: [{ name: 'b', cron: 'toString', stores: [{ s3: { bucket: 'backups' } }] }] },
    }),
  ],
])('%s: an error of the input', (_, text) => {
  expect(() => render(text, { file: 'input.yaml' })).toThrow(InputError);
});
