import { X509Certificate } from 'node:crypto';
import { EtcdPermission } from '../../src';
import { container, podSpec } from '../e2e/support/manifests';
import { MemberCluster, type Parts } from '../e2e/support/member-cluster';
import { Namespace } from '../e2e/support/namespace';
import { addNightly, backUp } from '../e2e/support/orders-backups';
import { runPod } from '../e2e/support/pods';
import { S3 } from '../e2e/support/s3';
import { applyCrds } from '../e2e/watch/play';

// A user of etcd, from its EtcdUser to its end. Its calls are etcdctl's, in pods that have its certificate.

let namespace: Namespace;
let s3: S3;
let cluster: MemberCluster;
let image: string;
let calls = 0;

const shape = ({ cluster }: Parts) => {
  addNightly(cluster, s3.store());
  cluster.addUser('api', { can: [EtcdPermission.readWrite('/api/')] });
  cluster.addUser('legacy', { can: [EtcdPermission.readWrite('/legacy/')], password: true });
};

beforeAll(async () => {
  await applyCrds();
  namespace = await Namespace.create('users');
  s3 = await S3.start(namespace);
  cluster = await MemberCluster.create(namespace, { tls: true, shape });
  await cluster.apply({ size: 3 });
  await cluster.ready(3);
  const [{ spec }] = (await cluster.pods()) as [{ spec: { containers: { name: string; image: string }[] } }];
  image = spec.containers.find(({ name }) => name === 'etcd')!.image;
});
afterAll(() => namespace?.delete());

/** The output of etcdctl with the certificate of a Secret. Throws with it if etcdctl fails. */
async function etcdctl(tlsSecret: string, ...args: string[]): Promise<string> {
  const files = ['--cacert=/tls/ca.crt', '--cert=/tls/tls.crt', '--key=/tls/tls.key'];
  const main = container('etcdctl', image, {
    command: ['etcdctl', '--endpoints=https://orders:2379', ...files, ...args],
    volumeMounts: [{ name: 'tls', mountPath: '/tls', readOnly: true }],
  });
  const volumes = [{ name: 'tls', secret: { secretName: tlsSecret } }];
  const spec = podSpec({ automountServiceAccountToken: false, containers: [main], volumes });
  return runPod(namespace, `etcdctl-${calls++}`, spec);
}

const api = (...args: string[]) => etcdctl('orders-user-api', ...args);

test('a user gets its certificate, and may use its prefix and no other key', async () => {
  await namespace.kubectl(['wait', 'etcduser/orders-api', '--for=condition=Ready', '--timeout=180s']);
  const { data } = await namespace.get('secret', 'orders-user-api');
  expect(new X509Certificate(Buffer.from(data['tls.crt'], 'base64')).subject).toContain('CN=api');
  expect(await api('put', '/api/a', 'one')).toContain('OK');
  expect(await api('get', '/api/a')).toContain('one');
  await expect(api('put', '/other', 'one')).rejects.toThrow('permission denied');
  await expect(api('get', '/', '--prefix')).rejects.toThrow('permission denied');
  // The certificate of all clients names no user.
  await expect(etcdctl('orders-client-tls', 'get', '/api/a')).rejects.toThrow('permission denied');
});

/** The password in the Secret of a user. */
async function passwordOf(secret: string): Promise<string> {
  const { data } = await namespace.get('secret', secret);
  return Buffer.from(data.password, 'base64').toString();
}

test('a user with a password', async () => {
  await namespace.kubectl(['wait', 'etcduser/orders-legacy', '--for=condition=Ready', '--timeout=180s']);
  const as = (password: string, ...args: string[]) =>
    etcdctl('orders-client-tls', `--user=legacy:${password}`, ...args);
  const first = await passwordOf('orders-user-legacy-password');
  expect(await as(first, 'put', '/legacy/a', 'one')).toContain('OK');
  await expect(as(first, 'put', '/other', 'one')).rejects.toThrow('permission denied');
  await expect(as(`${first}x`, 'get', '/legacy/a')).rejects.toThrow('authentication failed');

  // Without one in its Secret it gets another one.
  const remove = JSON.stringify([{ op: 'remove', path: '/data/password' }]);
  await namespace.kubectl(['patch', 'secret', 'orders-user-legacy-password', '--type=json', `--patch=${remove}`]);
  const second = await namespace.until('another password', 60, () =>
    passwordOf('orders-user-legacy-password').catch(() => undefined),
  );
  expect(second).not.toBe(first);
  await namespace.until('the login with it', 60, () => as(second, 'get', '/legacy/a').catch(() => undefined));
  await expect(as(first, 'get', '/legacy/a')).rejects.toThrow('authentication failed');

  // Applied again, the manifests take no password away.
  await cluster.apply({ size: 3 });
  await namespace.kubectl(['wait', 'etcduser/orders-legacy', '--for=condition=Ready', '--timeout=60s']);
  expect(await passwordOf('orders-user-legacy-password')).toBe(second);
  // Not the pods: those of this suite have it in their arguments.
  const kinds = 'etcdusers,etcdclusters,events,configmaps,leases,statefulsets,jobs';
  const { stdout } = await namespace.kubectl(['get', kinds, '-o', 'yaml']);
  const logs = ['deployment/etcd-reconciler', ...[0, 1, 2].map((ordinal) => `pod/${cluster.pod(ordinal)}`)].map(
    (from) => namespace.kubectl(['logs', from, '--all-containers', '--tail=-1']),
  );
  const told = stdout + (await Promise.all(logs)).map((each) => each.stdout).join('');
  for (const password of [first, second]) expect(told.includes(password)).toBe(false);
});

test('a backup is taken with authentication on', async () => {
  const snapshot = await backUp(namespace, 'orders', 'monday');
  expect(await s3.files()).toContainEqual(expect.stringContaining(`${snapshot}.json`));
});

test('a user that is deleted is refused', async () => {
  await namespace.kubectl(['delete', 'etcduser', 'orders-api']);
  const refusal = await namespace.until('the refusal', 60, () =>
    api('get', '/api/a').then(
      () => undefined,
      ({ message }: Error) => message,
    ),
  );
  expect(refusal).toMatch(/permission denied|user name not found/);
});
