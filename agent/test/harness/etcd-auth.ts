import type { EtcdClient, User } from './etcd-client.ts';

export const rootUser: User = { name: 'root', password: 'root-pw' };
/** May read every key and nothing else. */
export const readerUser: User = { name: 'reader', password: 'reader-pw' };

/** Makes both users, switches password auth on, and lets the client go on as root. */
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
