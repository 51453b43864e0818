import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import {
  backup,
  command,
  expectFailure,
  expectOnly,
  run,
  STOPPED,
  start,
  succeed,
  untilOld,
} from '../faults/commands.ts';
import { forEach } from '../faults/for-each.ts';
import { copyAll, type Place } from '../faults/place.ts';
import { SnapshotProxy, type Spoiling } from '../faults/snapshot-proxy.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { minorsFor, sample } from './extent.ts';
import { type Fault, NetworkFault } from './network-fault.ts';
import type { KindPlace, StoreKind, StoreServer } from './store-kind.ts';

const MIB = 1024 * 1024;
const CLOCK = `--import ${import.meta.resolve('../faults/shifted-clock.ts')}`;
const DAY = 86_400_000;

/**
 * Runs every etcd against one kind of store, without and with every fault. After each fault all good snapshots remain.
 */
export function storeMatrix<P extends KindPlace>(kind: StoreKind<P>, turn: number): void {
  let server: StoreServer<P>;
  beforeAll(async () => {
    server = await kind.start();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  describe.each(minorsFor(turn, kind.isSlow))(`etcd %s to ${kind.name}`, (minor) => {
    let etcd: EtcdCluster;
    let root: string;
    let identityFile: string;
    let recipient: string;
    /** A snapshot that existed before, and its id. */
    let past: P;
    let old: string;
    let payloadBytes: number;
    /** Long enough for an undisturbed run, on any store and machine. */
    let patience: string;

    beforeAll(async () => {
      root = await mkdtemp(join(tmpdir(), 'store-matrix-'));
      identityFile = join(root, 'identity');
      const identity = await generateX25519Identity();
      recipient = await identityToRecipient(identity);
      await writeFile(identityFile, `${identity}\n`);
      etcd = await EtcdCluster.start({ minor });
      past = await server.make();
      await etcd.put(20);
      old = (await succeed(backup(etcd, past.store))).snapshot.id;
      // More than one part of an upload.
      await etcd.put(6, { prefix: 'large-', valueSize: MIB });
      const since = performance.now();
      await using healthy = await server.make();
      await succeed(args(healthy.store));
      patience = `${Math.ceil(Math.min(50, Math.max(6, (performance.now() - since) / 200)))}s`;
      payloadBytes = JSON.parse(await etcd.etcdctl('endpoint', 'status', '-w', 'json'))[0].Status.dbSize;
    });
    afterAll(async () => {
      await past?.[Symbol.asyncDispose]();
      await etcd?.stop();
      await rm(root, { recursive: true, force: true });
    });

    async function prepared(): Promise<P> {
      const place = await server.make();
      await copyAll(past, place);
      return place;
    }

    const args = (store: string, ...more: string[]) => backup(etcd, store, '--compression', 'none', ...more);

    async function listed(place: Place): Promise<string[]> {
      const { snapshots, broken } = await succeed(command('list', place.store));
      expect(broken).toEqual([]);
      return snapshots.map(({ id }: { id: string }) => id);
    }

    /**
     * Expects that only complete snapshots are listed, including the old one, and that the next run removes leftovers.
     */
    async function expectRecovers(place: Place, { mayHaveCommitted }: { mayHaveCommitted: boolean }): Promise<void> {
      const before = await listed(place);
      expect(before).toContain(old);
      if (!mayHaveCommitted) expect(before).toEqual([old]);
      await untilOld();
      const { snapshot } = await succeed(args(place.store, '--sweep-age', '1ms'));
      await expectOnly(place, [snapshot.id, ...before]);
      expect(await succeed(command('verify', place.store))).toMatchObject({ verified: before.length + 1 });
    }

    const lives = ['none', 'gzip', 'zstd'].flatMap((compression) =>
      [false, true].map((age) => ({ compression, age, name: `${compression}${age ? ' with age' : ''}` })),
    );
    test('there and back, by every compression, with age and without', () =>
      forEach(
        sample(lives, turn),
        ({ name }) => name,
        async ({ compression, age, name }) => {
          await using place = await server.make();
          const identity = age ? ['--age-identity-file', identityFile] : [];
          const flags = ['--compression', compression, ...(age ? ['--age-recipient', recipient] : [])];
          const { snapshot } = await succeed(backup(etcd, place.store, ...flags));
          expect(await succeed(command('verify', place.store, '--level', 'open', ...identity))).toMatchObject({
            verified: 1,
            snapshots: [{ detail: expect.stringMatching(/HashKV equals that of the cluster/) }],
          });
          const file = join(root, `${name}.db`);
          await succeed(command('restore fetch', place.store, '--to', file, ...identity));
          const { manifest } = await succeed(command('show', place.store, snapshot.id));
          const sha256 = createHash('sha256')
            .update(await readFile(file))
            .digest('hex');
          expect(sha256).toBe(manifest.content.sha256);
        },
      ));

    test('retention keeps what it should', async () => {
      await using place = await prepared();
      const { snapshot } = await succeed(args(place.store));
      const { deleted } = await succeed(command('prune', place.store, '--retention', 'last=1,minKeep=1'));
      expect(deleted).toEqual([old]);
      await expectOnly(place, [snapshot.id]);
    });

    const spoilings: [string, Spoiling['by'], () => number, number][] = [
      ['cut at once', 'cut', () => 0, 10],
      ['cut at 50 %', 'cut', () => payloadBytes / 2, 10],
      ['cut in the last 16 bytes', 'cut', () => -16, 10],
      ['stalled at 50 %', 'stall', () => payloadBytes / 2, 10],
      ['ended at 50 % as if whole', 'end', () => payloadBytes / 2, 10],
      ['empty messages for ever', 'empty messages', () => 0, 10],
      ['a flipped bit', 'flip', () => payloadBytes / 2, 30],
    ];
    test('a snapshot stream that is cut, stalls, ends early, never ends or is changed', async () => {
      await using place = await prepared();
      await forEach(
        sample(spoilings, turn),
        ([name]) => name,
        async ([, by, after, exitCode]) => {
          await using proxy = await SnapshotProxy.start(etcd.endpoints[0]!);
          let at = Math.floor(after());
          if (at < 0) {
            await using elsewhere = await server.make();
            await succeed(backup({ endpoints: [proxy.url] }, elsewhere.store, '--compression', 'none'));
            at += proxy.bytes;
          }
          proxy.spoiling = { by, after: at };
          const spoiled = backup({ endpoints: [proxy.url] }, place.store, '--compression', 'none');
          expectFailure(await run([...spoiled, '--idle-timeout', '1s']), exitCode, /./);
        },
      );
      await expectOnly(place, [old]);
      expect(await listed(place)).toEqual([old]);
    });

    const kills = ['sweep', 'connect', 'stream', 'read-back', 'manifest', 'retention'].flatMap((phase) =>
      (['SIGKILL', 'SIGTERM'] as const).map((signal) => ({ phase, signal })),
    );
    test('kill -9 and SIGTERM in each phase', () =>
      forEach(
        sample(kills, turn),
        ({ phase, signal }) => `${signal} in ${phase}`,
        async (signalAt) => {
          await using place = await prepared();
          const result = await start(args(place.store, '--retention', 'last=5'), { signalAt }).finished;
          const late = ['manifest', 'retention'].includes(signalAt.phase);
          if (signalAt.signal === 'SIGTERM' && result.code !== 0) {
            expectFailure(result, 143, STOPPED);
            if (!late) await expectOnly(place, [old]);
          }
          // A signal arrives with a delay: the run may have continued, or ended, by then.
          await expectRecovers(place, { mayHaveCommitted: true });
        },
      ));

    const moments: [string, () => Omit<Fault, 'by'>][] = [
      ['at once', () => ({ direction: 'up', after: 0 })],
      ['in the upload', () => ({ direction: 'up', after: payloadBytes / 2 })],
      ['in the read-back', () => ({ direction: 'down', after: payloadBytes / 2 })],
      ['after the read-back', () => ({ direction: 'down', after: payloadBytes })],
    ];
    const faults = (['cut', 'reset', 'stall', 'slow'] as const).flatMap((by) =>
      moments.map(([when, where]) => ({ name: `${by} ${when}`, by, when, where })),
    );
    test('a network that is cut, resets, stalls or is slow, in each phase', async () => {
      const { network } = server;
      if (!network) return;
      await forEach(
        sample(faults, turn),
        ({ name }) => name,
        async ({ by, when, where }) => {
          await using place = await prepared();
          await using proxy = await NetworkFault.before(network.endpointOf(place), { by, ...where() });
          const timeout = by === 'stall' ? ['--timeout', patience] : [];
          const result = await run(args(network.through(place, proxy.url), ...timeout));
          expect(proxy.happened).toBe(true);
          if (by === 'slow') expect(result).toMatchObject({ code: 0 });
          // A store may notice the fault before the time limit of the run.
          else if (by === 'stall' && result.code !== 20) expectFailure(result, 50, /not done after \d+s/);
          else expectFailure(result, 20, /./);
          await proxy[Symbol.asyncDispose]();
          await expectRecovers(place, { mayHaveCommitted: by === 'slow' || when === 'after the read-back' });
        },
      );
    });

    test('two Jobs at once', async () => {
      await using place = await prepared();
      const both = await Promise.all([1, 2].map(() => succeed(args(place.store, '--retention', 'last=5'))));
      const ids = both.map(({ snapshot }) => snapshot.id);
      expect((await listed(place)).sort()).toEqual([...ids, old].sort());
      await expectOnly(place, [...ids, old]);
    });

    test('two clusters in one store', async () => {
      await using place = await prepared();
      const other = backup(etcd, place.store, '--retention', 'last=1,minKeep=1');
      await succeed(other.with(other.indexOf('--cluster') + 1, 'order'));
      expect(await listed(place)).toEqual([old]);
      expect((await place.keys()).filter((key) => key.startsWith('order/'))).toHaveLength(2);
    });

    test.each([DAY, -DAY, 3_652 * DAY])('a clock that is %i ms off deletes nothing', async (shift) => {
      await using place = await prepared();
      const env = { NODE_OPTIONS: CLOCK, CLOCK_SHIFT: String(shift) };
      const { snapshot, stores } = await succeed(args(place.store, '--retention', 'last=1,minKeep=1'), { env });
      expect(stores[0].deleted ?? []).toEqual([]);
      expect((await listed(place)).sort()).toEqual([snapshot.id, old].sort());
    });
  });
}
