import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Chart, Cron, Testing } from 'cdk8s';
import { checkSchema, restrictedProblems } from '../../test/kubernetes';
import { manifestsOf, podOf, schedule, storesOf } from '../../test/synth';
import { BackupStore, EtcdBackupSchedule, SftpCredentials, type SftpStoreProps } from '..';

const credentials = SftpCredentials.fromSecret('sftp');
const fingerprint = `SHA256:${'a+/9'.repeat(10)}abc`;
const scheduleTo = (props: Partial<SftpStoreProps> = {}) =>
  schedule({ store: BackupStore.sftp({ host: 'backup.example.com', credentials, ...props }) });

test('every property reaches the agent, in a fixed order', () => {
  const backup = scheduleTo({
    legacyAlgorithms: true,
    hostKey: fingerprint,
    path: '/srv/etcd backups',
    username: 'etcd',
    port: 2222,
  });
  expect(JSON.stringify(storesOf(backup)[0].sftp)).toBe(
    JSON.stringify({
      host: 'backup.example.com',
      port: 2222,
      username: 'etcd',
      path: '/srv/etcd backups',
      hostKey: fingerprint,
      legacyAlgorithms: true,
      credentialsDirectory: '/etc/etcd-agent/stores/0/credentials',
    }),
  );
});

test("the agent's own parser takes what is written", () => {
  const stores = [scheduleTo(), scheduleTo({ hostKey: fingerprint, port: 22, path: 'etcd', legacyAlgorithms: false })];
  const texts = stores.map((backup) => JSON.stringify(storesOf(backup)[0]));
  const parser = join(__dirname, '../../agent/src/store/parse.ts');
  const script = `
    import { parseStore } from ${JSON.stringify(parser)};
    console.log(JSON.stringify(JSON.parse(process.argv[1]).map((text) => parseStore(text))));
  `;
  const parsed = execFileSync(process.execPath, ['--input-type=module', '-e', script, JSON.stringify(texts)]);
  expect(JSON.parse(String(parsed))).toEqual(texts.map((text) => JSON.parse(text)));
});

test('Kubernetes takes what is written, also where only restricted pods may run', () => {
  const backup = scheduleTo();
  for (const manifest of manifestsOf(backup)) checkSchema(manifest);
  expect(restrictedProblems(podOf(backup))).toEqual([]);
});

test('all keys of a Secret are mounted, or those that are named', () => {
  expect(podOf(scheduleTo()).volumes[0].secret).toEqual({ secretName: 'sftp', defaultMode: 0o440 });
  const mapped = SftpCredentials.fromSecret('sftp', {
    usernameKey: 'user',
    passwordKey: 'pass',
    privateKeyKey: 'id_ed25519',
    passphraseKey: 'phrase',
    knownHostsKey: 'hosts',
  });
  expect(podOf(scheduleTo({ credentials: mapped })).volumes[0].secret.items).toEqual([
    { key: 'user', path: 'username' },
    { key: 'pass', path: 'password' },
    { key: 'id_ed25519', path: 'privateKey' },
    { key: 'phrase', path: 'passphrase' },
    { key: 'hosts', path: 'knownHosts' },
  ]);
});

test('a mistake is one line with the path of the construct', () => {
  expect(() => manifestsOf(scheduleTo({ port: 0 }))).toThrow(
    /\[shop\/nightly\] store: port: 0 is too small: give at least 1/,
  );
});

const keyed = (keys: Parameters<typeof SftpCredentials.fromSecret>[1]) => ({
  credentials: SftpCredentials.fromSecret('s', keys),
});

test.each<[Partial<SftpStoreProps>, string]>([
  [{ host: 'sftp://host' }, "host: 'sftp://host' is not a valid host name or address"],
  [{ host: 'user@host' }, "host: 'user@host' is not a valid host name"],
  [{ host: '' }, "host: '' is not a valid host name"],
  [{ port: 70_000 }, 'port: 70000 is too large: give at most 65535'],
  [{ port: 22.5 }, 'port: 22.5 is not a whole number: round it'],
  [{ username: '' }, 'username: is empty: give at least 1 character'],
  [{ path: '/a//b' }, "path: '/a//b' is not a valid directory"],
  [{ path: '../x' }, "path: '../x' is not a valid directory"],
  [{ hostKey: 'MD5:aa:bb' }, "hostKey: 'MD5:aa:bb' is not a valid host key: write SHA256:"],
  [{ credentials: SftpCredentials.fromSecret('') }, "credentials: Secret: '' is not a valid Kubernetes name"],
  [
    keyed({ usernameKey: 'u', passwordKey: 'a/b', knownHostsKey: 'k' }),
    "credentials: key: 'a/b' is not a valid key of a Secret",
  ],
  [keyed({ passwordKey: 'p', knownHostsKey: 'k' }), 'credentials: the user is missing; give usernameKey'],
  [
    keyed({ usernameKey: 'u', knownHostsKey: 'k' }),
    'credentials: password and private key are missing; give passwordKey or privateKeyKey',
  ],
  [keyed({ usernameKey: 'u', passwordKey: 'p' }), 'credentials: the host key is missing; give knownHostsKey'],
  [
    keyed({ usernameKey: 'u', passwordKey: 'p', knownHostsKey: 'k', passphraseKey: 'x' }),
    'credentials: passphraseKey has no effect without privateKeyKey; give both, or remove it',
  ],
])('%j', (props, message) => {
  expect(scheduleTo(props).node.validate()).toEqual([expect.stringContaining(`store: ${message}`)]);
});

test.each<[string, Partial<SftpStoreProps>, Partial<SftpStoreProps>]>([
  ['sftp://backup.example.com:22/a', { path: '/a' }, { path: '/a/', port: 22 }],
  ['sftp://backup.example.com:22/~/a', { path: 'a' }, { path: 'a/', host: 'Backup.example.com' }],
])('two stores in the same place, %s', (place, store, same) => {
  const backup = scheduleTo(store);
  backup.addStore(BackupStore.sftp({ host: 'backup.example.com', credentials, ...same }));
  expect(backup.node.validate()).toEqual([
    expect.stringContaining(`the same place as an earlier store, ${place}; remove one`),
  ]);
});

test('the same directory on another port is another place', () => {
  const chart = new Chart(Testing.app(), 'shop');
  const to = (port: number) => BackupStore.sftp({ host: 'h', port, path: '/a', credentials });
  const props = { cluster: 'orders', endpoints: ['etcd:2379'], schedule: Cron.hourly(), store: to(22) };
  const backup = new EtcdBackupSchedule(chart, 'nightly', props);
  backup.addStore(to(2222));
  expect(backup.node.validate()).toEqual([]);
});
