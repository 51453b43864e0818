import { encodeBytes, encodeInt } from '../protobuf.ts';
import { keyDamage, revisionOf } from './key-check.ts';

function under(revision: number, end = ''): Buffer {
  const key = Buffer.alloc(17);
  key.writeBigInt64BE(BigInt(revision));
  key[8] = '_'.charCodeAt(0);
  return Buffer.concat([key, Buffer.from(end)]);
}

interface KeyValue {
  readonly key: string;
  readonly created: number;
  readonly modified: number;
  readonly version: number;
}
const good: KeyValue = { key: 'a', created: 5, modified: 7, version: 2 };

const encode = ({ key, created, modified, version }: KeyValue) =>
  Buffer.concat([
    encodeBytes(1, key),
    encodeInt(2, created),
    encodeInt(3, modified),
    encodeInt(4, version),
    encodeBytes(5, 'value'),
  ]);

test.each([
  ['a key and its value', under(7), encode(good)],
  ['the first version of a key', under(7), encode({ ...good, created: 7, version: 1 })],
  ['a deleted key', under(7, 't'), Buffer.from(encodeBytes(1, 'a'))],
  ['what a restore puts where the revision jumps to', under(1_000_000_007), Buffer.alloc(0)],
  ['the same over a deleted key', under(1_000_000_007, 't'), Buffer.alloc(0)],
])('%s is whole', (_, key, value) => {
  expect(keyDamage(key, value)).toBeUndefined();
});

test.each([
  ['an empty key', under(7), encode({ ...good, key: '' }), /of revision 7 has an empty key/],
  ['a deleted key without its name', under(7, 't'), Buffer.from(encodeInt(3, 7)), /of revision 7 has an empty key/],
  ['another revision', under(8), encode(good), /of revision 8 claims to be of revision 7/],
  ['no revision', under(8), Buffer.from(encodeBytes(1, 'a')), /of revision 8 claims to be of revision 0/],
  [
    'created later',
    under(7),
    encode({ ...good, created: 8 }),
    /of revision 7 claims to have been created at revision 8/,
  ],
  ['never created', under(7), encode({ ...good, created: 0 }), /created at revision 0/],
  ['of no version', under(7), encode({ ...good, version: 0 }), /version 0 of its key/],
  ['no message', under(7), Buffer.from([0xff, 0xff]), /is not a key with a value/],
  ['a key that is too short', under(7).subarray(0, 16), encode(good), /without a valid revision/],
  ['a key with something behind it', under(7, 'x'), encode(good), /without a valid revision/],
  ['revision 0', under(0), encode({ ...good, created: 0, modified: 0 }), /without a valid revision/],
  ['a negative revision', under(-1), encode(good), /without a valid revision/],
])('%s is reported', (_, key, value, message) => {
  expect(keyDamage(key, value)).toMatch(message);
});

test('the revision', () => {
  expect([revisionOf(under(5_000_000_000, 't')), revisionOf(Buffer.alloc(3))]).toEqual([5_000_000_000, 0]);
});
