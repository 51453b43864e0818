import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { writeNote } from '../../src/commands/shared/note-restore.ts';
import { GrpcChannel } from '../../src/etcd/grpc.ts';
import { encodeInt } from '../../src/etcd/protobuf.ts';
import { FilesystemStore } from '../../src/store/filesystem/filesystem-store.ts';
import { newestEtcd } from '../harness/etcd-binaries.ts';
import { EtcdClient } from '../harness/etcd-client.ts';
import { EtcdMember } from '../harness/etcd-member.ts';
import { Story } from './story.mts';

const scratch = await mkdtemp(join(tmpdir(), 'golden-etcd-'));
/** Files of a machine. Manifests name them, so the path is always the same. */
const node = '/tmp/golden-node';

/** An etcd of one member whose ids do not change from one run of the generator to the next. */
class Etcd extends EtcdClient {
  readonly member: EtcdMember;
  #puts = 0;

  private constructor(member: EtcdMember) {
    super(newestEtcd(), [member.clientUrl], undefined);
    this.member = member;
  }

  static async start(name: string, port: number, dataDir = join(scratch, name)): Promise<Etcd> {
    const peerUrl = `http://127.0.0.1:${port + 1}`;
    const clientUrl = `http://127.0.0.1:${port}`;
    const member = new EtcdMember({
      ...{ binaries: newestEtcd(), name, dataDir, clientUrl, advertisedUrl: clientUrl, peerUrl },
      log: join(scratch, `${name}.log`),
      args: ['--initial-cluster', `${name}=${peerUrl}`, '--initial-cluster-token', name, '--unsafe-no-fsync'],
    });
    await member.start();
    return new Etcd(member);
  }

  async write(): Promise<void> {
    await this.etcdctl('put', 'orders/last', String(this.#puts++));
  }
}

const etcds = new Map<string, Promise<Etcd>>();
const etcd = (name: string, port: number): Promise<Etcd> => {
  if (!etcds.has(name)) etcds.set(name, Etcd.start(name, port));
  return etcds.get(name)!;
};
const one = () => etcd('orders-0', 24790);
const other = () => etcd('carts-0', 24792);

export async function open(): Promise<void> {
  await mkdir(node, { recursive: true });
  await writeFile(join(node, 'ca.crt'), 'a certificate\n');
  await writeFile(join(node, 'etcd.yaml'), staticPod);
}

export async function close(): Promise<void> {
  for (const each of etcds.values()) await (await each).member.kill();
  for (const each of [scratch, node]) await rm(each, { recursive: true, force: true });
}

const identities = join(import.meta.dirname, '../fuzz/corpus/age-identity/one');
const recipient = /age1\w+/.exec(await readFile(identities, 'utf8'))![0];
const orders = ['--namespace=prod', '--cluster=orders'];
const at = (day: number, hour = 2, minute = 0, second = 0) =>
  new Date(Date.UTC(2026, 10, day, hour, minute, second)).toISOString();

/** Takes a snapshot of an etcd that was written to. */
async function backup(story: Story, when: string, args: readonly string[] = [], how: BackupHow = {}): Promise<void> {
  const { from = await one(), named = orders, ...rest } = how;
  await from.write();
  await story.agent(when, ['backup', `--endpoints=${from.endpoints[0]}`, ...named, ...args], rest);
}
type BackupHow = Parameters<Story['agent']>[2] & { from?: Etcd; named?: readonly string[] };

const idOf = (key: string) => key.slice(key.lastIndexOf('/') + 1).split('.')[0]!;
const json = (document: unknown) => `${JSON.stringify(document, null, 2)}\n`;

/** A snapshot as `etcdctl snapshot save` writes it. */
async function saved(): Promise<Buffer> {
  const from = await one();
  await from.write();
  const file = join(scratch, 'saved.db');
  await rm(file, { force: true });
  await from.etcdctl('snapshot', 'save', file);
  return readFile(file);
}

/** The commits that changed what the agent writes: each made a folder of its own. */
const agents = ['3d6466cc', '6774ec1b', '47149078', '8ce5a4f0', '89ec8244', '7dcc2a1b'];

export const stories: Readonly<Record<string, () => Promise<void>>> = {
  async 'own-ids'() {
    const story = await Story.begin('own-ids');
    await backup(story, at(1), ['--compression=gzip']);
    await backup(story, at(2), ['--compression=none']);
    await backup(story, at(3), [`--age-recipient=${recipient}`]);
    await backup(story, at(3, 14), ['--request=5a1c']);
    await backup(story, at(4), ['--verify=open']);
    await backup(story, at(5), ['--compression=gzip', `--age-recipient=${recipient}`]);
    const pinned = idOf(await story.key(/20261102.*json/));
    await story.agent(at(5, 3), ['pin', pinned, ...orders]);
    await backup(story, at(6), ['--verify=stream']);
    await story.keep(at(6, 12));
  },

  async 'control-plane'() {
    const story = await Story.begin('control-plane');
    const manifest = join(node, 'etcd.yaml');
    const pki = join(node, 'ca.crt');
    const extra = [`--extra-path=${pki}`, `--age-recipient=${recipient}`];
    const named = ['--cluster=kubernetes'];
    await backup(story, at(1), ['--node-name=cp-0', `--etcd-manifest=${manifest}`, ...extra], { named });
    await backup(story, at(2), ['--node-name=cp-1', `--etcd-manifest=${manifest}`, ...extra], { named });
    await backup(story, at(3), ['--node-name=cp-0', `--extra-path=${pki}`, `--extra-age-recipient=${recipient}`], {
      named,
    });
    // As `restore control-plane` notes it.
    const store = new FilesystemStore({ path: story.store });
    const id = idOf(await story.key(/20261102.*\d\w*\.json/));
    const note = { id, clusterId: '9c1f0a7be25d4438', from: '', revision: 3_000_000_012, bump: 3_000_000_000 };
    const key = `kubernetes/${id}.restored-${note.clusterId}.json`;
    await writeNote(store, { key, token: 'etcd-restore-7d1e', ...note }, AbortSignal.timeout(5_000));
    const document = JSON.parse(await readFile(story.path(key), 'utf8'));
    await story.write(key, json({ ...document, at: at(2, 5) }), at(2, 5));
    await story.keep(at(4));
  },

  async exports() {
    const story = await Story.begin('exports');
    const name = ['--file-name=orders-%Y%m%d-%H%M%S'];
    const key = (at: string) => [`--object-key=${at}`, '--compression=none'];
    await backup(story, at(1), name);
    await backup(story, at(1), [...name, '--trigger=again']);
    await backup(story, at(2), key('latest.db'));
    await backup(story, at(3), key('latest.db'));
    await backup(story, at(3, 3), key('backups/before-upgrade.db'));
    // In the folder, encrypted.
    await backup(story, at(4), ['--object-key=prod/orders/golden', `--age-recipient=${recipient}`]);
    // Killed before its export.
    await backup(story, at(5), name, { kill: '^put .*-050000-[0-9a-f]*.json$|^put .*etcd-snapshot-20261105-.*.json$' });
    await backup(story, at(6), [...name, '--compression=gzip']);
    // Replaced by another program.
    await story.write('prod/orders/orders-20261106-020000.db.gz', 'theirs', at(6, 3));
    story.exact(
      'latest.db',
      'backups/before-upgrade.db',
      'prod/orders/golden',
      'prod/orders/orders-20261101-020000.db.zst',
    );
    await story.keep(at(7));
  },

  async adopted() {
    const story = await Story.begin('adopted');
    const files = [
      ['etcd-2026-11-01-0200.db', (bytes: Buffer) => bytes],
      ['etcd-2026-11-02-0200.db.gz', (bytes: Buffer) => gzipSync(bytes)],
      ['etcd-2026-11-03-0200.snapshot.zst', (bytes: Buffer) => zstdCompressSync(bytes)],
      // k3s gives its files no ending.
      [`etcd-snapshot-node-1-${Date.parse(at(4)) / 1000}`, (bytes: Buffer) => gzipSync(bytes)],
      ['nightly.db', (bytes: Buffer) => zstdCompressSync(bytes)],
    ] as const;
    for (const [index, [name, stored]] of files.entries())
      await story.write(`prod/orders/${name}`, stored(await saved()), at(index + 1));
    await story.link('prod/orders/latest.db', 'etcd-2026-11-01-0200.db');
    await story.agent(at(5, 3), ['adopt', ...orders]);
    // Adopted, and then written again, touched, deleted, and verified.
    await story.write('prod/orders/weekly.db.gz', gzipSync(await saved()), at(6));
    await story.write('prod/orders/copied.db', zstdCompressSync(await saved()), at(6, 1));
    await story.write('prod/orders/gone.db.gz', gzipSync(await saved()), at(6, 2));
    await story.agent(at(6, 3), ['adopt', ...orders]);
    await story.agent(at(6, 4), ['verify', 'weekly', ...orders]);
    await story.touch('prod/orders/weekly.db.gz', at(6, 3, 30));
    await story.write('prod/orders/nightly.db', zstdCompressSync(await saved()), at(7));
    await story.touch('prod/orders/copied.db', at(7));
    await story.remove('prod/orders/gone.db.gz');
    await backup(story, at(7, 1));
    // Not adopted: files that look like snapshots, and others.
    await story.write('prod/orders/etcd-2026-11-08-0200.db.gz', gzipSync(await saved()), at(8));
    await story.write('prod/orders/etcd-backup.tar.gz', gzipSync('a tar file'), at(8));
    await story.write('prod/orders/older/etcd-2026-10-01.db.gz', gzipSync(await saved()), at(1));
    await story.write('prod/orders/empty.db', '', at(8));
    await story.write('prod/orders/README.txt', 'Written by nightly.sh.\n', at(1));
    await story.link('prod/orders/newest.db.gz', 'etcd-2026-11-08-0200.db.gz');
    await story.keep(at(8, 4));
  },

  async 'replaced-manifests'() {
    const story = await Story.begin('replaced-manifests');
    await backup(story, at(1));
    await backup(story, at(2));
    await backup(story, at(3));
    const first = await story.key(/20261101.*zst$/);
    await story.write(first.replace('.db.zst', '.json'), '{"schema": "cdk8s-etcd/snap', at(1));
    await story.agent(at(4), ['adopt', first, ...orders]);
    const second = await story.key(/20261102.*zst$/);
    await story.remove(second.replace('.db.zst', '.json'));
    await story.agent(at(4, 1), ['adopt', second, ...orders]);
    await story.write('prod/orders/script.db.gz', gzipSync(await saved()), at(4, 2));
    await story.agent(at(4, 3), ['adopt', ...orders]);
    await story.write('prod/orders/script.json', '{', at(4, 4));
    await story.agent(at(4, 5), ['adopt', 'prod/orders/script.db.gz', ...orders]);
    await story.keep(at(5));
  },

  async 'half-written'() {
    const story = await Story.begin('half-written');
    const extra = [`--extra-path=${node}/ca.crt`, `--age-recipient=${recipient}`];
    await backup(story, at(1));
    await backup(story, at(1, 3), [], { kill: '^put .*taking$' });
    await backup(story, at(1, 4), [], { kill: '^put .*zst$' });
    await backup(story, at(1, 5), extra, { kill: '^put .*extra.tar.age$' });
    // Committed, with its marker.
    await backup(story, at(1, 6), [], { kill: '^put .*json$' });
    await backup(story, at(2));
    // Newer than every verified snapshot: nothing proves them superseded.
    await backup(story, at(3, 1), [], { kill: '^put .*zst$' });
    // An agent that wrote no marker yet, or a snapshot whose manifest was lost.
    await backup(story, at(3, 2), ['--verify=stream']);
    await story.remove(await story.key(/20261103-02.*json$/));
    await story.write('prod/orders/.index.jsonl.gz.0a1b2c3d.part', 'x', at(1));
    await story.write('prod/orders/etcd-snapshot-20261101-090000-0a1b2c.db.zst.4e5f6a7b.part', 'half of it', at(1, 9));
    await story.write('prod/orders/other.part', 'of another program', at(1, 9));
    await story.write(`${await story.key(/20261103-02.*zst$/)}.adopting-3c4d5e`, '', at(4, 1));
    await story.write('prod/orders/.check-0123456789abcdef', 'canary', at(1));
    await story.write('prod/orders/.check-123456789abcdef0', 'canary', at(4));
    await backup(story, at(4), ['--sweep-age=7d'], { kill: '^put .*zst$' });
    await story.keep(at(4, 1, 30));
  },

  async 'half-written-young'() {
    const story = await Story.begin('half-written-young');
    await backup(story, at(1));
    await backup(story, at(2), [], { kill: '^put .*zst$' });
    await backup(story, at(2, 2, 5), ['--verify=stream']);
    await story.remove(await story.key(/20261102-0205.*json$/));
    await story.keep(at(2, 2, 20));
  },

  async 'half-deleted'() {
    const story = await Story.begin('half-deleted');
    const prune = ['prune', '--retention=last=2', ...orders];
    for (const day of [1, 2, 3]) await backup(story, at(day));
    await story.agent(at(3, 3), prune, { kill: '^put .*deleting$' });
    await backup(story, at(4), ['--sweep-age=90d']);
    await story.agent(at(4, 3), prune, { kill: '^delete .*json$' });
    await backup(story, at(5), ['--sweep-age=90d']);
    await story.agent(at(5, 3), [...prune, '--sweep-age=90d'], { kill: '^delete .*zst$' });
    const name = ['--file-name=orders-%Y%m%d-%H%M%S', '--compression=gzip', '--sweep-age=90d'];
    await backup(story, at(6), name);
    await backup(story, at(7), ['--sweep-age=90d']);
    await backup(story, at(8), ['--sweep-age=90d']);
    await story.agent(at(8, 3), [...prune, '--sweep-age=90d'], { kill: '^delete .*orders-\\d*-\\d*.json$' });
    // An earlier agent has deleted a manifest without a marker.
    await backup(story, at(9), ['--sweep-age=90d']);
    await story.remove(await story.key(/20261107.*json$/));
    // Whole, with its marker.
    await story.agent(at(9, 3), ['prune', '--retention=last=1', ...orders], { kill: '^put .*deleting$' });
    await story.keep(at(9, 5));
  },

  async findings() {
    const story = await Story.begin('findings');
    for (const day of [1, 2, 3, 4, 5, 6, 7, 8]) await backup(story, at(day));
    const id = async (day: number) => idOf(await story.key(new RegExp(`2026110${day}-\\w+-\\w+\\.json$`)));
    const verify = (id: string, ...more: string[]) => ['verify', id, ...orders, ...more];
    await story.agent(at(8, 3), verify(await id(1)));
    await story.agent(at(8, 4), verify(await id(2), '--level=open'));
    await story.agent(at(8, 5), verify(await id(3), '--level=stream'));
    // Another byte in the payload, and a payload that is shorter.
    await damage(story, await story.key(/20261104.*zst$/));
    await story.agent(at(8, 6), verify(await id(4)), { ends: 30 });
    const file = await story.key(/20261105.*zst$/);
    await story.write(file, (await readFile(story.path(file))).subarray(0, -3), at(5));
    await damage(story, await story.key(/20261107.*zst$/));
    // Repaired since.
    const whole = await readFile(story.path(await story.key(/20261106.*zst$/)));
    await damage(story, await story.key(/20261106.*zst$/));
    await story.agent(at(8, 7), verify(await id(6)), { ends: 30 });
    await story.write(await story.key(/20261106.*zst$/), whole, at(6));
    const finding = `prod/orders/${await id(8)}.verify.json`;
    await story.write(finding, '{"schema": "cdk8s-etcd/verification/v1", "id":', at(8, 8));
    await story.keep(at(9));
  },

  async 'other-documents'() {
    const story = await Story.begin('other-documents');
    for (const day of [1, 2, 3, 4, 5, 6, 7, 8]) await backup(story, at(day));
    const manifest = (day: number) => story.key(new RegExp(`2026110${day}-\\w+-\\w+\\.json$`));
    const change = async (day: number, change: (document: Document) => object) => {
      const key = await manifest(day);
      await story.write(key, json(change(JSON.parse(await readFile(story.path(key), 'utf8')))), at(day));
    };
    // Of an agent of the future, damaged, of another snapshot, and of a payload elsewhere.
    await change(1, (document) => ({ ...document, schema: 'cdk8s-etcd/snapshot/v2' }));
    await change(2, (document) => ({ ...document, aField: { that: ['this agent', 'does not know'] } }));
    await story.write(await manifest(3), '', at(3));
    await change(4, (document) => ({ ...document, id: 'etcd-snapshot-20261104-020000-ffffff' }));
    await change(5, (document) => ({
      ...document,
      object: { ...document.object, key: document.object.key.replace('prod', 'staging') },
    }));
    await story.remove(await story.key(/20261106.*zst$/));
    const finding = { id: idOf(await manifest(7)), level: 'read', outcome: 'failed', at: at(7, 3) };
    const verification = { schema: 'cdk8s-etcd/verification/v2', ...finding, agent: { version: '9.0.0' } };
    await story.write(`prod/orders/${finding.id}.verify.json`, json(verification), at(7, 3));
    await story.write('prod/orders/settings.json', '{"of": "another program"}\n', at(1));
    await story.write('prod/orders/etcd-snapshot-20261101-000000-aaaaaa.json', '{"not": "ours"}\n', at(1));
    await story.keep(at(9));
  },

  async suspect() {
    const story = await Story.begin('suspect');
    const from = await Etcd.start('suspect-0', 24794);
    await backup(story, at(1), [], { from });
    await backup(story, at(2), [], { from });
    const channel = await GrpcChannel.connect(from.endpoints[0]!, { dialTimeout: 5_000 });
    const { memberId } = JSON.parse(await readFile(story.path(await story.key(/20261101.*json$/)), 'utf8')).source;
    await channel.unary(
      'Maintenance/Alarm',
      Buffer.concat([encodeInt(1, 1), encodeInt(2, BigInt(`0x${memberId}`) as never), encodeInt(3, 2)]),
    );
    channel.close();
    await story.agent(at(3), ['backup', `--endpoints=${from.endpoints[0]}`, ...orders], { ends: 11 });
    await from.member.kill();
    await story.keep(at(3, 5));
  },

  async salvaged() {
    const story = await Story.begin('salvaged');
    await backup(story, at(1));
    await backup(story, at(2));
    const bytes = await saved();
    const { clusterId } = JSON.parse(await readFile(story.path(await story.key(/20261101.*json$/)), 'utf8')).source;
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-length': bytes.length });
      response.end(bytes);
    });
    server.listen(24798, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const env = {
      ETCD_AGENT_SOURCE_URL: `http://127.0.0.1:${port}/salvage`,
      ETCD_AGENT_SOURCE_TOKEN: 'token',
      ETCD_AGENT_SOURCE_SHA256: createHash('sha256').update(bytes).digest('hex'),
    };
    await story.agent(at(3), ['salvage', `--cluster-id=${clusterId}`, ...orders], { env });
    // Its etcd is not known.
    await story.agent(at(3, 1), ['salvage', ...orders], { env });
    server.close();
    await story.keep(at(3, 5));
  },

  async restored() {
    const story = await Story.begin('restored');
    await backup(story, at(1));
    await backup(story, at(2));
    await backup(story, at(2, 12));
    const restored = await restore(story, at(3), [...orders, '--name=orders-0']);
    await backup(story, at(3, 12), [], { from: restored });
    await backup(story, at(4), [], { from: restored });
    await restored.member.kill();
    // The etcd from before goes on beside it.
    await backup(story, at(4, 12));
    const again = await restore(story, at(5), [
      ...orders,
      '--name=orders-0',
      idOf(await story.key(/20261104-02.*\d\w*\.json$/)),
    ]);
    await backup(story, at(5, 12), [], { from: again });
    await again.member.kill();
    await story.keep(at(6));
  },

  async 'restored-elsewhere'() {
    const story = await Story.begin('restored-elsewhere');
    await backup(story, at(1), ['--object-key=manual/orders.db.zst']);
    await backup(story, at(1, 1), ['--object-key=manual/alone.db.zst']);
    // Beside an exact key, when no snapshot in the folder is of the same line.
    const key = ['--object-key=manual/alone.db.zst'];
    const restored = await restore(story, at(2), [...orders, '--name=orders-0', ...key]);
    await backup(story, at(2, 2), [], { from: restored });
    await backup(story, at(3), [], { from: restored });
    await restored.member.kill();
    // A restore whose store had no note: the next backup names the etcd from before.
    const { clusterId } = JSON.parse(await readFile(story.path('manual/orders.db.zst.json'), 'utf8')).source;
    const next = await restore(story, at(4), [...orders, '--name=orders-0', '--object-key=manual/orders.db.zst']);
    await backup(story, at(4, 2), [`--restored-from=${clusterId}`], { from: next });
    await next.member.kill();
    story.exact('manual/orders.db.zst', 'manual/alone.db.zst');
    await story.keep(at(5));
  },

  async 'restored-members'() {
    const story = await Story.begin('restored-members');
    await backup(story, at(1));
    await backup(story, at(2));
    const names = ['a', 'b', 'c'];
    const peer = (name: string) => `http://10.0.0.${names.indexOf(name) + 1}:2380`;
    const id = idOf(await story.key(/20261101.*json$/));
    for (const [index, name] of names.entries()) {
      const dataDir = join(scratch, `member-${name}`);
      await story.agent(at(3, 2, index), [
        ...['restore', 'data-dir', id, ...orders, `--data-dir=${dataDir}`, `--name=${name}`],
        ...[`--initial-cluster=${names.map((each) => `${each}=${peer(each)}`).join(',')}`],
        ...[`--initial-advertise-peer-urls=${peer(name)}`, '--initial-cluster-token=three'],
      ]);
      await story.beside('data-dir.json', await readFile(join(dataDir, 'etcd-agent-restore.json'), 'utf8'));
    }
    await story.keep(at(4));
  },

  async 'two-etcds'() {
    const story = await Story.begin('two-etcds');
    for (const day of [1, 2, 3]) {
      await backup(story, at(day));
      await backup(story, at(day, 3), [], { from: await other() });
    }
    await story.keep(at(4));
  },

  async 'two-folders'() {
    const story = await Story.begin('two-folders');
    await backup(story, at(1), [], { named: ['--cluster=orders'] });
    await backup(story, at(2), [], { named: ['--cluster=orders'] });
    await backup(story, at(1, 1));
    await backup(story, at(2, 1));
    await backup(story, at(3), [], { from: await other(), named: ['--cluster=carts', '--namespace=prod'] });
    await story.write('prod/notes/README.txt', 'not a cluster\n', at(1));
    // A store that began too deep, and a snapshot that was moved by hand.
    await backup(story, at(2, 2), [], { store: 'prod/orders' });
    await story.copy(await story.key(/^orders\/.*20261102.*zst$/), 'staging/orders/moved.db.zst');
    const id = idOf(await story.key(/^orders\/.*20261101.*json$/));
    for (const ending of ['db.zst', 'json'])
      await story.copy(`orders/${id}.${ending}`, `staging/orders/${id}.${ending}`);
    await story.keep(at(4));
  },

  async 'wrong-clocks'() {
    const story = await Story.begin('wrong-clocks');
    await backup(story, at(1));
    await backup(story, at(20));
    await backup(story, at(2));
    await backup(story, at(3, 1, 2), [], { kill: '^put .*zst$' });
    await backup(story, at(3));
    await story.keep(at(3, 1));
  },

  async emptied() {
    const story = await Story.begin('emptied');
    const first = await Etcd.start('emptied-0', 24796);
    for (let count = 0; count < 40; count++) await first.write();
    await backup(story, at(1), [], { from: first });
    await backup(story, at(2), [], { from: first });
    await first.member.kill();
    await rm(first.member.dataDir, { recursive: true });
    // The same flags make the same cluster id.
    const second = await Etcd.start('emptied-0', 24796);
    await backup(story, at(3), [], { from: second });
    await backup(story, at(4), [], { from: second });
    await second.member.kill();
    await story.keep(at(4, 5));
  },

  async copied() {
    const story = await Story.begin('original');
    await backup(story, at(1));
    await backup(story, at(2), [`--age-recipient=${recipient}`]);
    await story.agent(at(2, 1), ['pin', idOf(await story.key(/20261101.*json$/)), ...orders]);
    await story.agent(at(2, 2), ['verify', ...orders]);
    const restored = await restore(story, at(3), [
      ...orders,
      '--name=orders-0',
      idOf(await story.key(/20261101-\w*-\w*\.json$/)),
    ]);
    await backup(story, at(3, 1), [], { from: restored });
    await backup(story, at(4), ['--file-name=orders-%Y%m%d'], { from: restored });
    await restored.member.kill();
    await story.write('prod/orders/script.db.gz', gzipSync(await saved()), at(1, 1));
    await story.agent(at(4, 1), ['adopt', ...orders]);
    const copy = await Story.begin('copied');
    await story.agent(at(5), ['copy', ...orders, `--to=file://${copy.store}`]);
    await copy.keep(at(6));
    const killed = await Story.begin('half-copied');
    await story.agent(at(5), ['copy', ...orders, `--to=file://${killed.store}`], { kill: '^put .*20261102.*age$' });
    await killed.keep(at(6));
  },

  async mirrored() {
    const story = await Story.begin('mirrored');
    for (const day of [1, 2, 3]) await backup(story, at(day));
    await story.write('prod/orders/script.db.gz', gzipSync(await saved()), at(3, 3));
    await story.agent(at(3, 4), ['adopt', ...orders]);
    await backup(story, at(4), [], { kill: '^put .*zst$' });
    await story.agent(at(4, 1), ['verify', idOf(await story.key(/20261102.*json$/)), ...orders]);
    // A tool that keeps no times has copied all of it, in the order of the names.
    for (const [index, key] of (await story.keys()).entries()) await story.touch(key, at(6, 0, 0, index));
    await story.keep(at(6, 3));
  },

  ...Object.fromEntries(agents.map((commit) => [`agent-${commit}`, () => ofAgent(commit)])),

  async many() {
    const story = await Story.begin('many');
    const root = await checkout('47149078');
    const hour = (count: number) => new Date(Date.UTC(2026, 10, 1, count)).toISOString();
    // So many that an index is written.
    for (let count = 0; count < 67; count++) await backup(story, hour(count), [], { root });
    const old = await readFile(story.path('prod/orders/.index.jsonl.gz'));
    await backup(story, hour(67));
    await backup(story, hour(68));
    // The index has an older version of these.
    const [first, second] = await story.keys(/\.json$/);
    await story.agent(hour(69), ['verify', idOf(first!), ...orders]);
    await story.remove(second!);
    const overlay = await Story.begin('many-old-index');
    await overlay.write('prod/orders/.index.jsonl.gz', old, hour(66));
    await story.keep(hour(70));
    await overlay.keep(hour(70), 'many');
  },
};

/** What every agent since the first can do. */
async function ofAgent(commit: string): Promise<void> {
  const story = await Story.begin(`agent-${commit}`);
  const how = { root: await checkout(commit), named: agents.indexOf(commit) < 2 ? ['--cluster=orders'] : orders };
  const take = (when: string, args: readonly string[] = [], more: BackupHow = {}) =>
    backup(story, when, [...args, '--sweep-age=2160h'], { ...how, ...more });
  const { root, named } = how;
  const isFirst = commit === agents[0];
  await take(at(1));
  await take(at(2), isFirst ? ['--compression=gzip'] : [`--age-recipient=${recipient}`]);
  await take(at(2, 3), ['--file-name=orders-%Y%m%d']);
  await take(at(2, 4), ['--object-key=backups/orders.db.zst']);
  await take(at(3), [], { kill: '^put .*zst$' });
  await take(at(4));
  await take(at(5));
  await story.agent(at(5, 1), ['verify', idOf(await story.key(/20261104.*json$/)), ...named], { root });
  await damage(story, await story.key(/20261105.*zst$/));
  await story.agent(at(5, 2), ['verify', idOf(await story.key(/20261105.*json$/)), ...named], { root, ends: 30 });
  if (!isFirst) {
    const folder = (await story.key(/20261104.*zst$/)).replace(/[^/]*$/, '');
    await story.write(`${folder}script-2026-11-01.db.gz`, gzipSync(await saved()), at(1, 1));
    await story.agent(at(5, 3), ['adopt', ...named], { root });
    await story.agent(at(5, 4), ['pin', idOf(await story.key(/20261101-.*-.*json$/)), ...named], { root });
  }
  const restored = await restore(story, at(6), ['--name=orders-0', ...named], { root });
  await take(at(6, 1), [], { from: restored });
  await restored.member.kill();
  // The first agents put it into a folder without its namespace.
  const carts = ['--namespace=prod', '--cluster=carts'];
  await take(at(6, 2), [], { from: await other(), named: carts });
  story.cluster('carts');
  story.cluster('carts', 'prod');
  story.exact('backups/orders.db.zst');
  await story.keep(at(7));
}

/** The files of an older agent, with the packages of today. */
async function checkout(commit: string): Promise<string> {
  const root = join(scratch, commit);
  if (existsSync(root)) return root;
  await mkdir(root);
  const repository = join(import.meta.dirname, '../../..');
  const archive = execFileSync('git', ['archive', commit, 'agent', 'src', 'package.json'], {
    cwd: repository,
    maxBuffer: 1024 ** 3,
  });
  execFileSync('tar', ['x', '-C', root], { input: archive });
  for (const modules of ['node_modules', 'agent/node_modules'])
    if (existsSync(join(repository, modules))) await symlink(join(repository, modules), join(root, modules));
  return root;
}

const staticPod = `apiVersion: v1
kind: Pod
metadata: { name: etcd, namespace: kube-system }
spec:
  containers:
    - name: etcd
      image: registry.k8s.io/etcd:3.6.4-0
      command: [etcd, --name=cp-0, --data-dir=/var/lib/etcd, --listen-client-urls=https://127.0.0.1:2379]
`;

interface Document {
  readonly object: { readonly key: string };
}

/** Changes one byte, so that the size stays, and zstd still reads it. */
async function damage(story: Story, key: string): Promise<void> {
  const { mtime } = await stat(story.path(key));
  const bytes = await readFile(story.path(key));
  for (let place = bytes.length - 1; ; place--) {
    bytes[place]! ^= 1;
    if (isDecoded(bytes)) break;
    bytes[place]! ^= 1;
  }
  await story.write(key, bytes, mtime.toISOString());
}

function isDecoded(bytes: Buffer): boolean {
  try {
    return zstdDecompressSync(bytes).length > 0;
  } catch {
    return false;
  }
}

let restores = 0;

/** Restores a snapshot of the store, and starts an etcd on it. */
async function restore(story: Story, when: string, args: readonly string[], how: BackupHow = {}): Promise<Etcd> {
  const port = 24810 + 2 * restores++;
  const dataDir = join(scratch, `restored-${port}`);
  const peer = `http://127.0.0.1:${port + 1}`;
  const member = [`--initial-advertise-peer-urls=${peer}`, `--initial-cluster=orders-0=${peer}`];
  await story.agent(
    when,
    ['restore', 'data-dir', `--data-dir=${dataDir}`, ...member, '--initial-cluster-token=again', ...args],
    how,
  );
  // What the restore leaves on the machine.
  await story.beside('data-dir.json', await readFile(join(dataDir, 'etcd-agent-restore.json'), 'utf8'));
  return Etcd.start('orders-0', port, dataDir);
}
