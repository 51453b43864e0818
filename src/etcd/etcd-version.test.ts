import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { EtcdVersion } from '..';
import { newestPatches, oldestPatches } from '../lib/defaults';

test('a version is its whole number and its minor, with or without a v', () => {
  expect(EtcdVersion.V3_5).toMatchObject({ version: '3.5.35', minor: '3.5' });
  expect(EtcdVersion.V3_6).toMatchObject({ version: '3.6.16', minor: '3.6' });
  expect(EtcdVersion.V3_7).toMatchObject({ version: '3.7.3', minor: '3.7' });
  expect(EtcdVersion.of('v3.5.30')).toMatchObject({ version: '3.5.30', minor: '3.5' });
});

test.each([...Object.values(newestPatches), ...Object.values(oldestPatches), '3.6.99'])(
  '%s is supported',
  (version) => {
    expect(EtcdVersion.of(version)._problems()).toEqual([]);
  },
);

test.each([
  ['3.5.10', 'etcd 3.5.10 is older than 3.5.11, the oldest supported 3.5; use 3.5.35'],
  ['3.6.9', 'etcd 3.6.9 is older than 3.6.11, the oldest supported 3.6; use 3.6.16'],
  ['3.4.34', 'etcd 3.4.34 is not supported; use 3.5, 3.6 or 3.7'],
  ['3.8.0', 'etcd 3.8.0 is not supported; use 3.5, 3.6 or 3.7'],
  ['3.6', "'3.6' is not a released version of etcd; write it like 3.6.16"],
  ['3.5', "'3.5' is not a released version of etcd; write it like 3.5.35"],
  ['3.7.0-rc.0', "'3.7.0-rc.0' is not a released version"],
  ['3.6.016', "'3.6.016' is not a released version"],
  ['3.6.123456', "'3.6.123456' is not a released version"],
  ['latest', "'latest' is not a released version"],
])('%s is refused', (version, problem) => {
  expect(EtcdVersion.of(version)._problems()).toEqual([expect.stringContaining(problem)]);
});

test('the custom resource takes the versions that the library takes, and no others', () => {
  const crd = parse(readFileSync(join(__dirname, '../../crds/etcdclusters.yaml'), 'utf8'));
  const { version } = crd.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties;
  const pattern = new RegExp(/^self\.matches\(r'(.*)'\)$/.exec(version['x-kubernetes-validations'][0].rule)![1]!);
  const minors = ['2.5', '3.4', '3.5', '3.6', '3.7', '3.8', '3.9', '4.0'];
  const patches = ['0', '1', '9', '10', '11', '12', '19', '20', '99', '100', '999', '1000', '011', '', '11-rc.0'];
  const every = minors.flatMap((minor) => patches.map((patch) => `${minor}.${patch}`));
  expect(every.filter((each) => pattern.test(each))).toEqual(
    every.filter((each) => EtcdVersion.of(each)._problems().length === 0),
  );
});
