import { Yaml } from 'cdk8s';
import { holds } from './cel';
import { fieldProblems, resourceProblems } from './resource-problems';
import { type Schema, schemaOf } from './schema';

const backup = (more: object) => resourceProblems('EtcdBackup', { store: { s3: { bucket: 'backups' } }, ...more });
const host = (name: string) => `https://${'h'.repeat(90)}${name}:2379`;
const tls = { files: { secretName: 'client' } };

test('long values that begin alike are not the same', () => {
  expect(backup({ endpoints: [host('a'), host('b')], tls })).toEqual([]);
  expect(backup({ endpoints: [host('a'), host('b'), host('a')], tls })).toEqual([
    { path: 'spec.endpoints[2]', message: 'has the same value as [0]: change one, or remove it' },
  ]);
});

test('a password is not repeated', () => {
  for (const value of ['https://me:hunter2@etcd:2379', 'me:hunter2@etcd:2379', 'https://hunter2@etcd:2379'])
    expect(backup({ endpoints: [value] })).toContainEqual({
      path: 'spec.endpoints[0]',
      message:
        'a value with a password is not a valid etcd endpoint: write https://HOST:2379, with the port and without a path',
    });
});

test('missing fields have their defaults, also below those that are given', () => {
  expect(resourceProblems('EtcdCluster', { version: '3.6.16', storage: { size: '8Gi' } })).toEqual([]);
  expect(resourceProblems('EtcdCluster', { version: '3.6.16', size: null })).toEqual([]);
});

test('rules about what has the wrong type are not evaluated, and others are', () => {
  const restore = { clusterName: 'A', source: { store: { s3: 'backups' } } };
  expect(resourceProblems('EtcdRestore', restore)).toEqual([
    expect.objectContaining({ path: 'spec.clusterName' }),
    { path: 'spec.source.store.s3', message: 'is text, not an object: write its fields' },
  ]);
});

test('a key of labels or annotations is one that Kubernetes takes', () => {
  const annotations = (name: string) => fieldProblems('EtcdCluster', 'spec.annotations', { [name]: 'a' });
  const labels = (name: string) => fieldProblems('EtcdCluster', 'spec.labels', { [name]: 'a' });
  const good = ['a', 'A_b.c-d', 'example.com/A', `${'a.'.repeat(3)}b/${'n'.repeat(63)}`];
  for (const name of good) expect([...annotations(name), ...labels(name)]).toEqual([]);
  expect(annotations('Example.com/a')).toEqual([]);
  expect(labels('Example.com/a')).toHaveLength(1);
  const bad = ['', 'a b', '-a', 'a-', '/a', 'a/', 'a/b/c', 'a..b/c', 'a_b/c', 'n'.repeat(64)];
  for (const name of bad) {
    expect(annotations(name)).toHaveLength(1);
    expect(labels(name)).toHaveLength(1);
  }
});

test('a text that kubectl would read as a number is refused', () => {
  for (const team of ['0X1F', '0o17', '-0B1']) {
    // The premise: other numbers are quoted.
    expect([Yaml.stringify({ team }), Yaml.stringify({ team: '0x1F' })]).toEqual([`team: ${team}\n`, 'team: "0x1F"\n']);
    expect(resourceProblems('EtcdCluster', { version: '3.6.16', annotations: { team } })).toEqual([
      { path: 'spec.annotations.team', message: `'${team}' is a number for kubectl: choose another text` },
    ]);
  }
});

test('the fields of one are checked alone', () => {
  expect(fieldProblems('EtcdCluster', 'spec.origin.source', { backupName: 'A' })).toEqual([
    expect.objectContaining({ path: 'backupName' }),
  ]);
});

test('no rule stands in the way of the status of a resource that lacks fields which were not required once', () => {
  const managed = { peerAuthority: 'a', clientAuthority: 'b' };
  const earlier = { clientSecret: 'c', managed, alsoTrust: { trustSecret: 't', certManager: { issuer: 'i' } } };
  const { properties } = schemaOf('EtcdCluster').properties!.spec!;
  const { tls } = properties!;
  const broken = (schema: Schema | undefined, value: object) =>
    (schema?.['x-kubernetes-validations'] ?? []).filter(({ rule }) => !rule.includes('oldSelf') && !holds(rule, value));
  expect(broken(tls, earlier)).toEqual([]);
  expect(broken(tls!.properties!.alsoTrust, earlier.alsoTrust)).toEqual([]);
});
