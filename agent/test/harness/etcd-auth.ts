import type { EtcdClient, User } from './etcd-client.ts';

export const rootUser: User = { name: 'root', password: 'root-pw' };
/** A user that may only read, every key. */
export const readerUser: User = { name: 'reader', password: 'reader-pw' };

/** Creates both users, enables password authentication, and logs the client in as root. */
export async function enableAuth(client: EtcdClient): Promise<void> {
  await client.etcdctl('role', 'add', 'root');
  await client.etcdctl('role', 'add', 'reader');
  await client.etcdctl('role', 'grant-permission', 'reader', 'read', '', '--prefix');
  for (const user of [rootUser, readerUser]) {
    await client.etcdctl('user', 'add', `${user.name}:${user.password}`);
    await client.etcdctl('user', 'grant-role', user.name, user.name);
  }
  await client.etcdctl('auth', 'enable');
  client.user = rootUser;
}

/**
 * Switches authentication on as users with certificates need it: `root` without a password, and each user with a role over
 * a prefix. The client has the certificate of root.
 */
export async function enableCertificateAuth(root: EtcdClient, users: Readonly<Record<string, string>>): Promise<void> {
  await root.etcdctl('user', 'add', 'root', '--no-password');
  await root.etcdctl('user', 'grant-role', 'root', 'root');
  for (const [user, prefix] of Object.entries(users)) {
    await root.etcdctl('role', 'add', user);
    await root.etcdctl('role', 'grant-permission', user, 'readwrite', prefix, '--prefix');
    await root.etcdctl('user', 'add', user, '--no-password');
    await root.etcdctl('user', 'grant-role', user, user);
  }
  await root.etcdctl('auth', 'enable');
}
