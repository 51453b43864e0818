import { Chart, Testing } from 'cdk8s';
import { cluster, manifestsOf, objectOf, tlsSecrets, userSecrets } from '../../test/clusters';
import { checkSchema } from '../../test/kubernetes';
import type { Manifest } from '../../test/synth';
import {
  EtcdClientTls,
  EtcdCluster,
  type EtcdClusterProps,
  EtcdPermission,
  EtcdReconciler,
  EtcdTls,
  EtcdUser,
  type EtcdUserOptions,
} from '..';

const can = [EtcdPermission.readWrite('/api/')];

function withUser(props: EtcdClusterProps = {}, options: Partial<EtcdUserOptions> = {}) {
  const orders = cluster(props, 'shop');
  return { orders, user: orders.addUser('api', { can, ...options }) };
}

const objectsOf = (user: EtcdUser): Manifest[] =>
  Testing.synth(Chart.of(user)).filter(
    ({ metadata }: Manifest) => metadata.labels?.['app.kubernetes.io/name'] === 'etcd-user',
  );

const problemsOf = (user: EtcdUser) => user.node.validate();

test('a user is a resource, an empty Secret, and the right to fill it', () => {
  const { user } = withUser();
  expect(objectsOf(user)).toEqual([
    expect.objectContaining({ kind: 'Secret', type: 'Opaque' }),
    expect.objectContaining({
      kind: 'Role',
      rules: [
        { apiGroups: [''], resources: ['secrets'], resourceNames: ['orders-user-api'], verbs: ['get', 'update'] },
      ],
    }),
    expect.objectContaining({
      kind: 'RoleBinding',
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'orders-user-api.reconciler' },
      subjects: [{ kind: 'ServiceAccount', name: 'etcd-reconciler' }],
    }),
    expect.objectContaining({
      kind: 'EtcdUser',
      spec: {
        clusterName: 'orders',
        userName: 'api',
        permissions: [{ prefix: '/api/', access: 'ReadWrite' }],
        certificateSecret: 'orders-user-api',
      },
    }),
  ]);
  expect(objectsOf(user).map(({ metadata }) => metadata.name)).toEqual([
    'orders-user-api',
    'orders-user-api.reconciler',
    'orders-user-api.reconciler',
    'orders-api',
  ]);
  expect(objectsOf(user).filter(({ data, stringData }) => data ?? stringData)).toEqual([]);
  for (const manifest of objectsOf(user)) checkSchema(manifest);
  expect(user).toMatchObject({ userName: 'api', resourceName: 'orders-api', secretName: 'orders-user-api' });
  expect(user.clientTls).toEqual(EtcdClientTls.fromSecret('orders-user-api'));
});

test('names and labels are those that are given', () => {
  const options = { userName: 'team:shop/api', name: 'the-api', secretName: 'api-tls', labels: { team: 'shop' } };
  const { user } = withUser({ labels: { cost: 'a' } }, options);
  const [secret, role, binding, resource] = objectsOf(user);
  expect([secret, role, binding, resource].map(({ metadata }) => metadata.name)).toEqual([
    'api-tls',
    'api-tls.reconciler',
    'api-tls.reconciler',
    'the-api',
  ]);
  expect(resource.spec).toMatchObject({ userName: 'team:shop/api', certificateSecret: 'api-tls' });
  for (const { metadata } of objectsOf(user)) expect(metadata.labels).toMatchObject({ team: 'shop', cost: 'a' });
});

test('a user of another construct has the labels and annotations of the cluster, too', () => {
  const orders = cluster({ labels: { cost: 'a', team: 'db' }, annotations: { 'example.com/owner': 'db' } }, 'shop');
  const user = new EtcdUser(Chart.of(orders), 'Api', { cluster: orders, can, labels: { team: 'shop' } });
  expect(objectsOf(user)).toHaveLength(4);
  for (const { metadata } of objectsOf(user)) {
    expect(metadata.labels).toMatchObject({ cost: 'a', team: 'shop' });
    expect(metadata.annotations).toEqual({ 'example.com/owner': 'db' });
  }
});

test('with cert-manager the Certificate fills the Secret', () => {
  const { user } = withUser({ tls: EtcdTls.certManager({ issuer: 'ca' }) });
  const [certificate, resource, ...others] = objectsOf(user);
  expect(others).toEqual([]);
  expect(certificate).toMatchObject({
    kind: 'Certificate',
    metadata: { name: 'orders-user-api', namespace: 'shop' },
    spec: { secretName: 'orders-user-api', commonName: 'api', issuerRef: { name: 'ca' } },
  });
  expect(certificate.spec.usages).not.toContain('server auth');
  expect(resource.spec).not.toHaveProperty('certificateSecret');
});

test('with Secrets of others the certificate is theirs too', () => {
  const { user } = withUser({ tls: EtcdTls.fromSecrets(userSecrets) });
  expect(objectsOf(user).map(({ kind }) => kind)).toEqual(['EtcdUser']);
  expect(user.secretName).toBe('orders-user-api');
});

describe('a user with a password', () => {
  const withPassword = (props: EtcdClusterProps = {}, options: Partial<EtcdUserOptions> = {}) =>
    withUser(props, { password: true, ...options });

  test.each<[string, EtcdTls, string]>([
    ['managed certificates', EtcdTls.managed(), 'orders-client-tls'],
    ['cert-manager', EtcdTls.certManager({ issuer: 'ca' }), 'orders-client-cert'],
    ['Secrets of others', EtcdTls.fromSecrets(userSecrets), userSecrets.client],
  ])('with %s has an empty Secret, the right to fill it, and the certificate of all clients', (_, tls, client) => {
    const { orders, user } = withPassword({ tls });
    const [secret, role, binding, resource, ...others] = objectsOf(user);
    expect(others).toEqual([]);
    expect(secret).toMatchObject({ kind: 'Secret', type: 'Opaque', metadata: { name: 'orders-user-api-password' } });
    expect(secret).not.toHaveProperty('data');
    expect(role).toMatchObject({
      kind: 'Role',
      metadata: { name: 'orders-user-api-password.reconciler' },
      rules: [{ resources: ['secrets'], resourceNames: ['orders-user-api-password'], verbs: ['get', 'update'] }],
    });
    expect(binding).toMatchObject({
      kind: 'RoleBinding',
      subjects: [{ kind: 'ServiceAccount', name: 'etcd-reconciler' }],
    });
    expect(resource.spec).toEqual({
      clusterName: 'orders',
      userName: 'api',
      permissions: [{ prefix: '/api/', access: 'ReadWrite' }],
      passwordSecret: 'orders-user-api-password',
    });
    expect(user.secretName).toBe('orders-user-api-password');
    expect(user.clientTls).toEqual(EtcdClientTls.fromSecret(client));
    expect(user.clientTls).toEqual(orders.clientTls);
    expect(user.certificate).toBeUndefined();
    expect(problemsOf(user)).toEqual([]);
    for (const manifest of objectsOf(user)) checkSchema(manifest);
  });

  test('has the Secret that is named', () => {
    const { user } = withPassword({}, { secretName: 'api-login' });
    expect(objectsOf(user).map(({ metadata }) => metadata.name)).toEqual([
      'api-login',
      'api-login.reconciler',
      'api-login.reconciler',
      'orders-api',
    ]);
    expect(objectsOf(user).at(-1).spec.passwordSecret).toBe('api-login');
  });

  test('is a user with a certificate if password is false', () => {
    expect(objectsOf(withPassword({}, { password: false }).user)).toEqual(objectsOf(withUser().user));
  });

  test.each<[string, EtcdTls, string]>([
    ['cert-manager', EtcdTls.certManager({ issuer: 'ca' }), 'orders-client-cert'],
    ['others', EtcdTls.fromSecrets(userSecrets), userSecrets.root],
  ])('cannot have its password in a Secret of the cluster from %s', (_, tls, secretName) => {
    expect(problemsOf(withPassword({ tls }, { secretName }).user)).toEqual([
      `secretName: '${secretName}' is the Secret with a certificate of the cluster; give another name`,
    ]);
  });

  test('is not called like the certificate of all clients', () => {
    expect(problemsOf(withPassword({}, { userName: 'orders-client' }).user)).toEqual([
      'userName: a user with a password must not be called <cluster>-client, which is the name in the certificate of all clients, so nobody would need the password: give another userName',
    ]);
    expect(problemsOf(withUser({}, { userName: 'orders-client' }).user)).toEqual([]);
  });

  test.each([EtcdTls.managed(), EtcdTls.certManager({ issuer: 'ca' }), EtcdTls.fromSecrets(userSecrets)])(
    'does not share its Secret with another user',
    (tls) => {
      const { orders, user } = withPassword({ tls });
      const other = orders.addUser('api-password', { can });
      expect(problemsOf(other).join()).toContain("is called 'orders-user-api-password' too");
      expect(problemsOf(user).join()).toContain("is called 'orders-user-api-password' too");
    },
  );

  test('cannot have its password in a Secret that the reconciler fills with a certificate', () => {
    const { orders } = withPassword({}, { secretName: 'orders-client-tls' });
    expect(() => Testing.synth(Chart.of(orders))).toThrow(
      /another Secret of this chart is called 'orders-client-tls' too/,
    );
  });

  test('needs TLS too', () => {
    expect(problemsOf(withPassword({ tls: EtcdTls.none() }).user)).toEqual([
      "cluster: 'orders' cannot have users: users need certificates, but the cluster has no TLS; switch it on",
    ]);
  });
});

test('the Secret is for the reconciler of the cluster, whichever that is in the end', () => {
  const binding = (orders: EtcdCluster) =>
    objectOf(orders, 'RoleBinding', 'orders-user-api.reconciler').subjects[0].name;
  expect(binding(withUser({ reconciler: EtcdReconciler.external({ name: 'theirs' }) }).orders)).toBe('theirs');
  const { orders } = withUser();
  new EtcdReconciler(Chart.of(orders), 'later', { name: 'later' });
  expect(binding(orders)).toBe('later');
});

test.each<[EtcdPermission, object]>([
  [EtcdPermission.read('/a'), { prefix: '/a', access: 'Read' }],
  [EtcdPermission.write('/a'), { prefix: '/a', access: 'Write' }],
  [EtcdPermission.readWrite('/a'), { prefix: '/a', access: 'ReadWrite' }],
  [EtcdPermission.readKey('a'), { key: 'a', access: 'Read' }],
  [EtcdPermission.writeKey('a'), { key: 'a', access: 'Write' }],
  [EtcdPermission.readWriteKey('a'), { key: 'a', access: 'ReadWrite' }],
  [EtcdPermission.readRange('a', 'b'), { range: { from: 'a', to: 'b' }, access: 'Read' }],
  [EtcdPermission.writeRange('a', 'b'), { range: { from: 'a', to: 'b' }, access: 'Write' }],
  [EtcdPermission.readWriteRange('a', 'b'), { range: { from: 'a', to: 'b' }, access: 'ReadWrite' }],
  [EtcdPermission.readAll(), { all: true, access: 'Read' }],
  [EtcdPermission.writeAll(), { all: true, access: 'Write' }],
  [EtcdPermission.readWriteAll(), { all: true, access: 'ReadWrite' }],
])('permission %#', (permission, spec) => {
  const { user } = withUser({}, { can: [permission] });
  expect(problemsOf(user)).toEqual([]);
  expect(objectsOf(user).at(-1).spec.permissions).toEqual([spec]);
});

test('a user may have no permissions', () => {
  const { user } = withUser({}, { can: [] });
  expect(objectsOf(user).at(-1).spec.permissions).toEqual([]);
});

test.each<[Partial<EtcdUserOptions>, string]>([
  [
    { userName: 'root' },
    'userName: must not be root or <cluster>-backup, which the reconciler and the backups use: give another name',
  ],
  [
    { userName: 'orders-backup' },
    'userName: must not be root or <cluster>-backup, which the reconciler and the backups use: give another name',
  ],
  [{ userName: '' }, "userName: '' is not a valid name of a user"],
  [{ userName: 'a b' }, "userName: 'a b' is not a valid name of a user: use letters"],
  [{ userName: 'u'.repeat(65) }, 'userName: has 65 characters: give at most 64'],
  [{ name: 'Api' }, "name: 'Api' is not a valid Kubernetes name"],
  [{ secretName: 'Api' }, "secretName: 'Api' is not a valid Kubernetes name"],
  [{ labels: { 'a b': 'c' } }, "labels: 'a b' is not a valid name of a label"],
  [{ can: [...can, EtcdPermission.read('')] }, "can[1].prefix: '' must not be empty: for every key give all instead"],
  [{ can: [EtcdPermission.readKey('')] }, 'can[0].key: is empty: give at least 1 character'],
  [
    { can: [EtcdPermission.readRange('b', 'a')] },
    'can[0].range: from must be less than to, in the order of their bytes: exchange them',
  ],
  [
    { can: [EtcdPermission.readRange('a', 'a')] },
    'can[0].range: from must be less than to, in the order of their bytes',
  ],
  // In UTF-16 it is the other way round.
  [
    { can: [EtcdPermission.readRange('😀', '￿')] },
    'can[0].range: from must be less than to, in the order of their bytes',
  ],
  [{ can: [EtcdPermission.readRange('', 'a')] }, 'can[0].range.from: is empty: give at least 1 character'],
  [{ can: [EtcdPermission.write('k'.repeat(1025))] }, 'can[0].prefix: has 1025 characters: give at most 1024'],
  [{ can: [EtcdPermission.writeKey('k'.repeat(1025))] }, 'can[0].key: has 1025 characters: give at most 1024'],
  [
    { can: [EtcdPermission.writeRange('k', 'k'.repeat(1025))] },
    'can[0].range.to: has 1025 characters: give at most 1024',
  ],
  [
    { can: [EtcdPermission.read('/a'), ...can, EtcdPermission.write('/a')] },
    'can: two permissions are for the same keys: give one of them, with access: ReadWrite for both',
  ],
  [{ can: Array.from({ length: 65 }, (_, n) => EtcdPermission.read(`/${n}`)) }, 'can: has 65 items: give at most 64'],
])('mistake %#', (options, message) => {
  expect(problemsOf(withUser({}, options).user)).toEqual([expect.stringContaining(message)]);
});

// biome-ignore lint/suspicious/noExplicitAny: plain JavaScript may pass anything
const number: any = 3;
test.each([
  [() => EtcdPermission.read(number), 'shop/orders/Users/api: can[0]: prefix: 3 is not text'],
  [() => EtcdPermission.writeKey(number), 'shop/orders/Users/api: can[0]: key: 3 is not text'],
  [() => EtcdPermission.readWriteRange('a', number), 'shop/orders/Users/api: can[0]: end: 3 is not text'],
])('a permission of the wrong type %#', (make, message) => {
  expect(() => withUser({}, { can: [make()] })).toThrow(message);
});

describe('a cluster that cannot have users', () => {
  test.each<[string, EtcdClusterProps, string]>([
    ['without TLS', { tls: EtcdTls.none() }, 'users need certificates, but the cluster has no TLS; switch it on'],
    [
      'without a certificate of root',
      { tls: EtcdTls.fromSecrets(tlsSecrets) },
      'there is no certificate for root; give root and backup to EtcdTls.fromSecrets, in YAML tls.rootSecret and tls.backupSecret',
    ],
  ])('%s', (_, props, problem) => {
    expect(problemsOf(withUser(props).user)).toEqual([`cluster: 'orders' cannot have users: ${problem}`]);
    expect(cluster({ ...props, auth: true }).node.validate()).toEqual([
      expect.stringMatching(
        /^auth: needs TLS with a certificate of root: .*give tls.root and tls.backup, or remove auth$/,
      ),
    ]);
    expect(cluster({ ...props, auth: false }).node.validate()).toEqual([]);
  });

  test('while TLS is switched off', () => {
    const props = { tls: EtcdTls.none({ previous: EtcdTls.managed() }) };
    const problem =
      "users need certificates, but TLS is being switched off (EtcdTls.none({ previous }), in YAML tls.disabling); remove the users, set auth: false, and keep TLS until etcd's authentication is off";
    expect(problemsOf(withUser(props).user)).toEqual([`cluster: 'orders' cannot have users: ${problem}`]);
    expect(cluster({ ...props, auth: true }).node.validate()).toEqual([
      expect.stringContaining('auth: needs TLS, which tls.disabling switches off'),
    ]);
    expect(cluster({ ...props, auth: false }).node.validate()).toEqual([]);
    const chart = new Chart(Testing.app(), 'shop');
    const elsewhere = EtcdCluster.fromAttributes(chart, 'orders', {
      clusterName: 'orders',
      clientEndpoints: ['http://orders-0-client:2379'],
      ...props,
    });
    expect(problemsOf(new EtcdUser(chart, 'api', { cluster: elsewhere, can }))).toEqual([
      `cluster: 'orders' cannot have users: ${problem}`,
    ]);
  });

  test('with authentication switched off', () => {
    expect(problemsOf(withUser({ auth: false }).user)).toEqual([
      "cluster: auth of 'orders' is false, so its users would have no effect; remove auth: false, or this user",
    ]);
    expect(problemsOf(withUser({ auth: true }).user)).toEqual([]);
  });

  test('that something else runs', () => {
    const chart = new Chart(Testing.app(), 'shop');
    const legacy = EtcdCluster.fromEndpoints(chart, 'legacy', ['etcd:2379']);
    expect(problemsOf(new EtcdUser(chart, 'api', { cluster: legacy, can }))).toEqual([
      "cluster: 'legacy' is an existing etcd cluster, not an EtcdCluster, so no reconciler manages its users; create the user with etcdctl",
    ]);
  });

  test('of another namespace', () => {
    const elsewhere = new Chart(Testing.app(), 'elsewhere', { namespace: 'elsewhere' });
    expect(problemsOf(new EtcdUser(elsewhere, 'api', { cluster: cluster({}, 'shop'), can }))).toEqual([
      expect.stringContaining("cluster: 'orders' is in namespace 'shop'"),
    ]);
  });
});

describe('two users', () => {
  test('of one name in etcd', () => {
    const orders = cluster();
    const [first, second] = ['a', 'b'].map((id) => orders.addUser(id, { can, userName: 'api' }));
    for (const user of [first!, second!]) {
      expect(problemsOf(user)).toEqual([
        "another user of 'orders' of this chart is called 'api' too; give each its own name",
      ]);
    }
    second!.node.scope!.node.tryRemoveChild('b');
    expect(problemsOf(first!)).toEqual([]);
  });

  test('of two clusters may have one name', () => {
    const chart = new Chart(Testing.app(), 'shop');
    for (const id of ['orders', 'carts']) new EtcdCluster(chart, id).addUser('api', { can });
    expect(() => Testing.synth(chart)).not.toThrow();
  });

  test('that share an object', () => {
    const chart = new Chart(Testing.app(), 'shop');
    const user = new EtcdCluster(chart, 'a').addUser('b-c', { can });
    const other = new EtcdCluster(chart, 'a-b').addUser('c', { can });
    for (const each of [user, other]) {
      expect(problemsOf(each)).toEqual([
        "another EtcdUser of this chart is called 'a-b-c' too; give each its own name",
      ]);
    }
  });

  test('or one and a cluster', () => {
    const chart = new Chart(Testing.app(), 'shop');
    new EtcdCluster(chart, 'a').addUser('x', { can, secretName: 'b-server-tls' });
    new EtcdCluster(chart, 'b');
    expect(() => Testing.synth(chart)).toThrow(/another Secret of this chart is called 'b-server-tls' too/);
  });
});

describe('a user of a cluster in another app', () => {
  const imported = (more: object = {}, options: Partial<EtcdUserOptions> = {}) => {
    const chart = new Chart(Testing.app(), 'api', { namespace: 'shop' });
    const orders = EtcdCluster.fromAttributes(chart, 'orders', {
      clusterName: 'orders',
      clientEndpoints: ['https://orders-0-client:2379'],
      clientTls: EtcdClientTls.fromSecret('orders-client-tls'),
      ...more,
    });
    return new EtcdUser(chart, 'api', { cluster: orders, can, ...options });
  };

  test('is the same as there', () => {
    expect(objectsOf(imported())).toEqual(objectsOf(withUser().user));
    expect(manifestsOf(cluster({}, 'shop'))).not.toContainEqual(expect.objectContaining({ kind: 'EtcdUser' }));
  });

  test('follows what the attributes say of certificates and reconciler', () => {
    const tls = EtcdTls.certManager({ issuer: 'ca' });
    expect(objectsOf(imported({ tls }))).toEqual(objectsOf(withUser({ tls }).user));
    const reconciler = EtcdReconciler.external({ name: 'theirs' });
    expect(objectsOf(imported({ reconciler }))).toEqual(objectsOf(withUser({ reconciler }).user));
  });

  test('with a password is the same as there, with each source of certificates', () => {
    const password = true;
    const sources = [EtcdTls.managed(), EtcdTls.certManager({ issuer: 'ca' }), EtcdTls.fromSecrets(userSecrets)];
    for (const tls of sources) {
      const user = imported({ tls }, { password });
      expect(objectsOf(user)).toEqual(objectsOf(withUser({ tls }, { password }).user));
      expect(user.clientTls).toEqual(EtcdClientTls.fromSecret('orders-client-tls'));
      expect(problemsOf(user)).toEqual([]);
    }
    expect(objectsOf(imported({}, { password }))).toEqual(objectsOf(withUser({}, { password }).user));
  });

  test('with a password has the client certificate that tls names, if the attributes have no other', () => {
    const tls = EtcdTls.fromSecrets({ ...userSecrets, client: 'theirs' });
    expect(imported({ tls, clientTls: undefined }, { password: true }).clientTls).toEqual(
      EtcdClientTls.fromSecret('theirs'),
    );
  });

  test('needs TLS there', () => {
    const plain = imported({ clientTls: undefined, clientEndpoints: ['http://orders-0-client:2379'] });
    expect(problemsOf(plain)).toEqual([expect.stringContaining('the cluster has no TLS')]);
  });
});
