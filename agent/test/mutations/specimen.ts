import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCatalog } from '../../src/backup/catalog/catalog.ts';
import { Folder } from '../../src/backup/catalog/folder.ts';
import type { SnapshotManifest } from '../../src/backup/catalog/manifest.ts';
import { whole } from '../../src/backup/catalog/select.ts';
import { FilesystemStore } from '../../src/store/filesystem/filesystem-store.ts';
import { runAgent } from '../harness/agent.ts';
import type { Minor } from '../harness/etcd-binaries.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { KEY, VALUE } from './mutate.ts';

/** A snapshot of a real etcd, with known facts about it. */
export interface Specimen {
  readonly minor: Minor;
  readonly manifest: SnapshotManifest;
  /** Database and trailer. */
  readonly snapshot: Buffer;
  /** All keys as etcdctl prints them: values, revisions, leases. */
  readonly keys: string;
}

/** Some keys were put, deleted, leased and compacted, so the database has free pages and a compact revision. */
export async function takeSpecimen(minor: Minor, directory: string): Promise<Specimen> {
  await using etcd = await EtcdCluster.start({ minor });
  await etcd.put(400, { prefix: 'old-', valueSize: 300 });
  await put(etcd, 0, 250);
  await etcd.etcdctl('del', 'old-', '--prefix');
  const { header } = JSON.parse(await etcd.etcdctl('get', 'old-', '-w', 'json'));
  await etcd.etcdctl('compact', String(header.revision), '--physical');
  await put(etcd, 200, 400);
  const lease = /lease (\w+) granted/.exec(await etcd.etcdctl('lease', 'grant', '36000'))?.[1];
  for (const key of ['leased-a', 'leased-b']) await etcd.etcdctl('put', `--lease=${lease}`, key, `${VALUE}00000`);
  await etcd.etcdctl('role', 'add', 'reader');
  await etcd.etcdctl('role', 'grant-permission', 'reader', 'read', KEY, '--prefix');
  await etcd.etcdctl('user', 'add', 'somebody:password');
  await etcd.etcdctl('user', 'grant-role', 'somebody', 'reader');
  return { minor, keys: await keysOf(etcd), ...(await backup(etcd, join(directory, minor))) };
}

/** The whole output of `get` for every key, as text: its numbers exceed those of JavaScript. */
export async function keysOf(etcd: EtcdCluster): Promise<string> {
  const answer = await etcd.etcdctl('get', '', '--prefix', '-w', 'json');
  return answer.slice(answer.indexOf('"kvs"'));
}

async function put(etcd: EtcdCluster, from: number, end: number): Promise<void> {
  const client = await etcd.connect();
  const five = (number: number) => String(number).padStart(5, '0');
  try {
    for (let n = from; n < end; n++) {
      await client.put(`${KEY}${five(n)}`).value(`${VALUE}${five(n)}`.repeat(1 + (n % 40)));
    }
  } finally {
    client.close();
  }
}

async function backup(etcd: EtcdCluster, path: string): Promise<{ manifest: SnapshotManifest; snapshot: Buffer }> {
  const { code, stderr } = await runAgent([
    ...['backup', `--endpoints=${etcd.endpoints}`, `--store=file://${path}`, '--cluster=orders', '--compression=none'],
  ]);
  if (code !== 0) throw new Error(`backup ended with ${code}: ${stderr}`);
  const [entry] = await readCatalog(new Folder(new FilesystemStore({ path }), 'orders'));
  const { manifest } = await whole(new Folder(new FilesystemStore({ path }), 'orders'), entry!.id);
  return { manifest, snapshot: await readFile(join(path, manifest.object.key)) };
}
