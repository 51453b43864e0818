import { effectiveFlags, etcdUrls, flagsOfArguments, flagsOfConfig } from './etcd-flags.ts';

const noConfig = () => Promise.reject(new Error('there is none'));

test('flags are read in every spelling that etcd takes', () => {
  expect(flagsOfArguments(['--name=cp1', '-data-dir', '/d', '--client-cert-auth', '--logger=zap', '--x'])).toEqual({
    name: 'cp1',
    'data-dir': '/d',
    'client-cert-auth': 'true',
    logger: 'zap',
    x: 'true',
  });
});

test('the last of a repeated flag counts, and its URLs add up', () => {
  const args = ['--etcd-servers=http://a,http://b', '--etcd-servers', 'http://c'];
  expect(flagsOfArguments(args)).toEqual({ 'etcd-servers': 'http://c' });
  expect(etcdUrls(args)).toEqual(['http://a', 'http://b', 'http://c']);
  expect(
    etcdUrls([
      '--etcd-servers=http://a',
      '--etcd-servers-overrides=/events#http://b;http://c,apps/deployments#http://d',
    ]),
  ).toEqual(['http://a', 'http://b', 'http://c', 'http://d']);
});

test('flags take precedence over the environment, and a config file over both', async () => {
  const env = { ETCD_NAME: 'env', ETCD_DATA_DIR: '/env', PATH: '/bin' };
  expect(await effectiveFlags(['--name=flag'], env, noConfig)).toEqual({ name: 'flag', 'data-dir': '/env' });
  const config =
    'name: file\nclient-transport-security:\n  cert-file: /c.crt\npeer-transport-security:\n  cert-file: /p.crt\n';
  const flags = await effectiveFlags(['--name=flag', '--config-file=/etc/etcd.yaml'], env, async () => config);
  expect(flags).toEqual({ name: 'file', 'cert-file': '/c.crt', 'peer-cert-file': '/p.crt' });
});

test('a setting without a value is not set, wherever it is', async () => {
  const config =
    'name: cp1\nwal-dir:\ndata-dir: ""\npeer-transport-security:\nclient-transport-security:\n  cert-file:\n  key-file: ~\n';
  const env = { ETCD_WAL_DIR: '', ETCD_DATA_DIR: '/env', ETCD_NAME: '' };
  expect(await effectiveFlags(['--config-file=x'], {}, async () => config)).toEqual({ name: 'cp1' });
  expect(await effectiveFlags(['--wal-dir=', '--name', 'cp1'], env, noConfig)).toEqual({
    name: 'cp1',
    'data-dir': '/env',
  });
  // An empty flag takes precedence too, and means the default.
  expect(await effectiveFlags(['--data-dir='], env, noConfig)).toEqual({});
});

test('a file that is not a config file is reported', () => {
  for (const text of ['just words', '- a\n- b']) expect(() => flagsOfConfig(text)).toThrow(/not a map/);
});
