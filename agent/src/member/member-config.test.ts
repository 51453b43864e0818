import { memberConfig, parseMemberArgs } from './member-config.ts';

const env = {
  ...{ POD_NAME: 'orders-2', POD_UID: 'u', POD_IP: '10.0.0.7', ETCD_AGENT_NAMESPACE: 'shop' },
  ...{ MIN_EPOCH: '', ETCD_VERSION: '3.6.16' },
};
const pod = {
  ...{ cluster: 'orders', 'data-dir': '/data', 'scratch-dir': '/scratch', settings: '/s.json' },
  ...{ record: 'orders-record', 'peer-service': 'orders-peers', 'cluster-domain': 'cluster.local' },
};
const parse = (flags: Record<string, string> = {}, variables: Record<string, string | undefined> = {}) =>
  memberConfig('gate', (name) => ({ ...pod, ...flags })[name as keyof typeof pod], { ...env, ...variables });

test('the flags and variables of a pod are sufficient', () => {
  expect(parse()).toMatchObject({
    ordinal: 2,
    minEpoch: 0,
    peerUrl: 'http://orders-2.orders-peers.shop.svc.cluster.local:2380',
    clientUrl: 'http://orders-2-client.shop.svc.cluster.local:2379',
    listenPeerUrl: 'http://0.0.0.0:2380',
    listenClientUrls: ['http://0.0.0.0:2379'],
    metricsUrl: 'http://0.0.0.0:2381',
    listen: { host: '0.0.0.0', port: 8080 },
    poll: 3000,
  });
});

test('with TLS directories the URLs are https, except for the metrics', () => {
  const config = parse({ 'peer-tls-dir': '/p', 'server-tls-dir': '/s' });
  expect([config.peerUrl, config.listenPeerUrl, config.clientUrl, ...config.listenClientUrls]).toEqual([
    'https://orders-2.orders-peers.shop.svc.cluster.local:2380',
    'https://0.0.0.0:2380',
    'https://orders-2-client.shop.svc.cluster.local:2379',
    'https://0.0.0.0:2379',
  ]);
  expect(config.metricsUrl).toBe('http://0.0.0.0:2381');
});

test('a URL that is given keeps host and port, and gets the scheme of the pod', () => {
  const urls = { 'peer-url': 'http://a:1', 'listen-client-url': 'http://0.0.0.0:2' };
  expect(parse({ ...urls, 'peer-tls-dir': '/p', 'server-tls-dir': '/s' })).toMatchObject({
    peerUrl: 'https://a:1',
    listenClientUrls: ['https://0.0.0.0:2'],
  });
  expect(parse({ 'client-url': 'https://a:1' })).toMatchObject({ clientUrl: 'http://a:1' });
});

test('serve needs no scratch directory, and polls less often', () => {
  const args = ['--cluster=orders', '--data-dir=/data', '--settings=/s', '--record=r'];
  expect(parseMemberArgs('serve', args, env)).toMatchObject({ poll: 30_000, minEpoch: 0 });
  expect(() => parseMemberArgs('serve', [...args, '--etcdutl=x'], env)).toThrow('--etcdutl');
});

const backupFlags = ['--root-tls-dir=/r', '--backup-listen=0.0.0.0:2382', '--backup-user=orders-backup'];
const serveArgs = ['--cluster=orders', '--data-dir=/data', '--settings=/s', '--record=r'];

test('serve serves backups with all three flags, and TLS', () => {
  expect(parseMemberArgs('serve', [...serveArgs, '--server-tls-dir=/s', ...backupFlags], env).backup).toEqual({
    listen: { host: '0.0.0.0', port: 2382 },
    user: 'orders-backup',
    rootTlsDir: '/r',
  });
  expect(parseMemberArgs('serve', serveArgs, env).backup).toBeUndefined();
  expect(() => parseMemberArgs('gate', [...serveArgs, '--scratch-dir=/x', backupFlags[0]!], env)).toThrow(
    'root-tls-dir',
  );
});

test.each([0, 1, 2])('serve refuses a part of the flags for backups (%#)', (left) => {
  const args = [...serveArgs, '--server-tls-dir=/s', ...backupFlags.filter((_, i) => i !== left)];
  expect(() => parseMemberArgs('serve', args, env)).toThrow(
    `${backupFlags[left]!.split('=')[0]}: pass --root-tls-dir, --backup-listen and --backup-user together, or none of them`,
  );
});

test('serve refuses to serve backups without TLS', () => {
  expect(() => parseMemberArgs('serve', [...serveArgs, ...backupFlags], env)).toThrow(
    '--server-tls-dir: backups are served with TLS only; name the directory with its certificate',
  );
});

test.each([
  [{ listen: 'nowhere' }, {}, "--listen: 'nowhere' is not a valid address; write host:port"],
  [{ listen: '1.2.3.4:99999' }, {}, "--listen: '1.2.3.4:99999' is not a valid address; write host:port"],
  [{ poll: '0s' }, {}, "--poll: '0s' is not a valid duration above zero; write 500ms, 3s or 5m"],
  [
    { 'peer-url': 'c-0:2380' },
    {},
    "--peer-url: 'c-0:2380' is not a URL of scheme, host and port, such as http://10.0.0.1:2379",
  ],
  [
    { 'peer-url': 'unix://a:1' },
    {},
    "--peer-url: 'unix://a:1' is not a URL of scheme, host and port, such as http://10.0.0.1:2379",
  ],
  [{ 'metrics-url': 'https://a:1' }, {}, "--metrics-url: 'https://a:1' must use http"],
  [{ cluster: '' }, {}, '--cluster: name the EtcdCluster'],
  [
    {},
    { POD_NAME: 'other-2' },
    "POD_NAME: 'other-2' is not a pod of --cluster orders; expected a name such as orders-0",
  ],
  [{}, { POD_UID: undefined }, 'POD_UID: the variable is not set; the pod template sets it'],
  [{}, { POD_IP: 'x' }, "POD_IP: 'x' is not a valid IP address"],
  [{}, { MIN_EPOCH: '-1' }, "MIN_EPOCH: '-1' is not a whole number"],
  [{}, { ETCD_VERSION: '3.6' }, "ETCD_VERSION: '3.6' is not a full etcd version; write it as 3.6.16"],
])('%j %j: one clear line', (flags, variables, line) => {
  expect(() => parse(flags as Record<string, string>, variables)).toThrow(expect.objectContaining({ message: line }));
});

test('all mistakes are reported at once', () => {
  expect(() => parse({ poll: 'x', listen: 'y' }, { POD_IP: 'z' })).toThrow(/POD_IP.*\n.*--listen.*\n.*--poll/);
});
