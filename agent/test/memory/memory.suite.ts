// Databases that are far larger than the memory of the pod.
import { mkdir, mkdtemp, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateIdentity, identityToRecipient } from 'age-encryption';
import { BucketPlace } from '../faults/bucket-place.ts';
import { CLUSTER } from '../faults/commands.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { Versitygw } from '../harness/versitygw.ts';
import { type ConfinedRun, runConfined } from './confined-agent.ts';
import { fill } from './fill.ts';

const MIB = 1024 * 1024;
const limits = { memory: 100 * MIB };
const smoke = process.env.SMOKE === '1';
/** Sizes in MiB, ascending. */
const sizes = smoke ? [256] : [1024, 4096];
const cases = smoke ? ['none', 'zstd, age'] : ['none', 'gzip', 'zstd', 'none, age', 'gzip, age', 'zstd, age'];

let scratch: string;
let server: Versitygw;
let etcd: EtcdCluster;
let recipient: string;
let identityFile: string;
let filled = 0;

const room = async () => {
  const { bavail, bsize } = await statfs(scratch);
  return bavail * bsize;
};

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'etcd-agent-memory-'));
  const needed = 8 * sizes.at(-1)! * MIB;
  if ((await room()) < needed) throw new Error(`memory needs ${needed / MIB} MiB of disk in ${tmpdir()}`);
  server = await Versitygw.start({ sidecar: true });
  etcd = await EtcdCluster.start({ dataRoot: scratch, extraArgs: ['--quota-backend-bytes=8589934592'] });
  const identity = await generateIdentity();
  recipient = await identityToRecipient(identity);
  identityFile = join(scratch, 'identity');
  await writeFile(identityFile, `${identity}\n`, { mode: 0o600 });
});
afterAll(async () => {
  await etcd?.stop();
  await server?.stop();
  await rm(scratch, { recursive: true, force: true });
});

describe.each(sizes)('a database of %i MiB in 100 MiB of memory', (size) => {
  beforeAll(async () => {
    await fill(etcd, filled, size);
    filled = size;
  });

  test.each(cases)('%s: backup, verify, copy, restore', async (name) => {
    const [compression, encryption] = name.split(', ');
    const recipients = encryption ? ['--age-recipient', recipient] : [];
    const identities = encryption ? ['--age-identity-file', identityFile] : [];
    const directory = join(scratch, 'case');
    await mkdir(directory);
    await using place = await BucketPlace.make(server);
    await using other = await BucketPlace.make(server);
    const run = (command: string, ...flags: string[]): Promise<ConfinedRun> =>
      runConfined(limits, [...command.split(' '), '--store', place.store, '--cluster', CLUSTER, ...flags], directory);
    try {
      const { result } = await run(
        'backup',
        ...['--endpoints', etcd.endpoints.join(), '--compression', compression!, ...recipients],
      );
      expect(result.snapshot.sizeBytes).toBeGreaterThan(size * MIB);
      expect(result.stores).toMatchObject([{ verified: 'read' }]);
      expect((await run('verify', '--level', 'read', ...identities)).result).toMatchObject({ ok: true, verified: 1 });
      expect((await run('copy', '--to', other.store)).result).toMatchObject({ ok: true, copied: 1 });
      const file = join(directory, 'restored.db');
      await run('restore fetch', '--to', file, ...identities);
      expect((await stat(file)).size).toBe(result.snapshot.sizeBytes);
    } finally {
      await rm(directory, { recursive: true });
      for (const { bucket } of [place, other]) await rm(join(server.directory, bucket), { recursive: true });
    }
  });
});

test('less memory than it needs is noticed', async () => {
  await using place = await BucketPlace.make(server);
  const args = ['backup', '--store', place.store, '--cluster', CLUSTER, '--endpoints', etcd.endpoints.join()];
  await expect(runConfined({ memory: 30 * MIB }, args, scratch)).rejects.toThrow(/[1-9]\d* killed for want of memory/);
});
