import { snapshotMembers } from '../../../src/control-plane/state/snapshot-members.ts';
import { backendState, backendValues } from '../../../src/etcd/offline/backend-state.ts';
import { Damage } from '../../../src/etcd/offline/bolt-check.ts';
import { membersOf } from '../../../src/etcd/offline/cluster-id.ts';
import { readDatabase, readSettings } from '../../../src/etcd/offline/database-check.ts';
import { keyDamage } from '../../../src/etcd/offline/key-check.ts';
import { walIdentity } from '../../../src/etcd/offline/wal.ts';
import { walState } from '../../../src/etcd/offline/wal-state.ts';
import { TRAILER } from '../../../src/etcd/snapshot-stream.ts';
import { fnv1a } from '../../mutations/mutate.ts';
import { ownRangeError, refused, type Target } from '../target.ts';
import { fileWith } from './scratch.ts';

const META = 16;
const HASHED = 56;

/** bbolt reads no meta page whose checksum is wrong. */
function withMetaSums(input: Buffer): Buffer {
  const page = input.length >= META + 12 ? input.readUInt32LE(META + 8) : 0;
  const copy = Buffer.from(input);
  for (const at of new Set([META, page + META, 4096 + META])) {
    if (at + HASHED + 8 <= copy.length) copy.writeBigUInt64LE(fnv1a(copy.subarray(at, at + HASHED)), at + HASHED);
  }
  return copy;
}

/** The numbers of the meta pages, of the pages' headers and of the tables behind them. */
function boltNumbers(input: Buffer): number[] {
  const found: number[] = [];
  for (let page = 0; page < input.length; page += 4096) {
    found.push(page, page + 8, page + 10, page + 12);
    const isMeta = input[page + 8] === 4;
    for (let at = page + META; at < page + META + (isMeta ? 64 : 128); at += 4) found.push(at);
  }
  return found;
}

const isDamage = (error: Error) => error instanceof Damage;

/** Frames of the log: a length of six bytes, two of padding, and a record. */
function framesAt(input: Buffer): number[] {
  const found: number[] = [];
  for (let at = 0; at + 8 <= input.length && found.length < 1_000; ) {
    found.push(at, at + 7, at + 8, at + 9, at + 10);
    const padding = input[at + 7]! & 0x80 ? input[at + 7]! & 7 : 0;
    const length = input.readUIntLE(at, 6);
    if (length === 0) break;
    at += 8 + length + padding;
  }
  return found;
}

const LOG = 'member/wal/0000000000000000-0000000000000000.wal';

export const etcdFiles: readonly Target[] = [
  {
    name: 'bolt',
    about: "a snapshot's database: damage is an answer, never an error; a whole one has members",
    kind: 'bytes',
    corpus: ['bolt'],
    repair: withMetaSums,
    anchors: boltNumbers,
    async run(input) {
      const file = fileWith('snapshot.db', input);
      const { damage } = await readDatabase(file, input.length - TRAILER);
      if (damage !== undefined) {
        if (damage.length > 1_000) throw new Error('a long description of damage');
        return refused;
      }
      await readSettings(file, input.length - TRAILER);
      return snapshotMembers(file);
    },
  },
  {
    name: 'backend',
    about: 'the database of a member that was killed: throws Damage',
    kind: 'bytes',
    corpus: ['bolt'],
    repair: withMetaSums,
    anchors: boltNumbers,
    expects: isDamage,
    async run(input) {
      const file = fileWith('db', input);
      const values = await backendValues(file, 'members').catch((error) => error);
      const { revision, consistentIndex } = await backendState(file);
      if (Number.isNaN(revision) || Number.isNaN(consistentIndex)) throw new Error('NaN');
      if (values instanceof Error) throw values;
    },
  },
  {
    name: 'wal',
    about: "a member's log: throws a RangeError for damage",
    kind: 'bytes',
    corpus: ['wal'],
    anchors: framesAt,
    expects: ownRangeError,
    // The longest record of etcd, in one piece.
    allocates: 16 * 1024 * 1024,
    async run(input) {
      const file = fileWith(LOG, input);
      const dataDir = file.slice(0, -LOG.length - 1);
      const identity = await walIdentity(dataDir).catch((error) => error);
      const state = await walState(dataDir);
      if (state && Object.values(state).some(Number.isNaN)) throw new Error('NaN');
      if (identity instanceof Error) throw identity;
    },
  },
  {
    name: 'key-entry',
    about: 'an entry of the bucket `key`: damage is an answer',
    kind: 'protobuf',
    corpus: ['key-entry'],
    run(input) {
      const found = [
        keyDamage(input.subarray(0, 17), input.subarray(17)),
        keyDamage(input.subarray(0, 18), input.subarray(18)),
        keyDamage(Buffer.from('00000000000000075f0000000000000000', 'hex'), input),
      ];
      return found.includes(undefined) ? undefined : refused;
    },
  },
  {
    name: 'cluster-list',
    about: '--initial-cluster, in flags and permits',
    kind: 'text',
    corpus: ['cluster-list'],
    run: (input) => membersOf(input.toString()),
  },
];
