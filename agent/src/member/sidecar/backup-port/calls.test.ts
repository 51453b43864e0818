import { bytesOf, encodeBytes, encodeInt, fieldsOf, text } from '../../../etcd/protobuf.ts';
import { callAt, withBackupUrls } from './calls.ts';

const asked = (method: string, ...parts: Uint8Array[]): string | undefined => {
  const made = callAt(`/etcdserverpb.${method}`)?.request(Buffer.concat(parts));
  return made && Buffer.from(made).toString('hex');
};
const key = encodeBytes(1, 'health');
const counted = encodeInt(9, 1);
const zero = (field: number) => Buffer.from([field << 3, 0]);
const hex = (...parts: Uint8Array[]) => Buffer.concat(parts).toString('hex');

test('the calls of a backup', () => {
  expect(asked('Maintenance/Status')).toBe('');
  expect(asked('Maintenance/Snapshot')).toBe('');
  expect(asked('Maintenance/HashKV', encodeInt(1, 77))).toBe(hex(encodeInt(1, 77)));
  expect(asked('Maintenance/HashKV')).toBe('');
  expect(asked('Cluster/MemberList')).toBe('');
  expect(asked('Cluster/MemberList', encodeInt(1, 1))).toBe(hex(encodeInt(1, 1)));
  // Clients differ in whether they write zeros.
  expect(asked('Maintenance/Alarm')).toBe('');
  expect(asked('Maintenance/Alarm', zero(1), zero(2), zero(3))).toBe('');
  expect(asked('KV/Range', key, counted)).toBe(hex(key, counted));
  expect(asked('KV/Range', key, encodeBytes(2, ''), encodeInt(4, 5), encodeInt(7, 1), counted)).toBe(
    hex(key, encodeInt(4, 5), encodeInt(7, 1), counted),
  );
});

test.each([
  ['Maintenance/Alarm', [encodeInt(1, 1)]],
  ['Maintenance/Alarm', [encodeInt(1, 2)]],
  ['Maintenance/Alarm', [zero(1), encodeInt(1, 2)]],
  ['Maintenance/Alarm', [encodeInt(1, 2), zero(1)]],
  ['Maintenance/Alarm', [encodeInt(2, 5)]],
  ['Maintenance/Alarm', [encodeInt(3, 1)]],
  ['Maintenance/Alarm', [encodeBytes(1, '')]],
  ['Maintenance/Status', [encodeInt(1, 1)]],
  ['Maintenance/Snapshot', [encodeInt(1, 1)]],
  ['Maintenance/HashKV', [encodeBytes(1, 'x')]],
  ['Maintenance/HashKV', [encodeInt(2, 1)]],
  ['KV/Range', []],
  ['KV/Range', [key]],
  ['KV/Range', [counted]],
  ['KV/Range', [encodeBytes(1, 'secret'), counted]],
  ['KV/Range', [encodeBytes(1, ''), counted]],
  ['KV/Range', [encodeBytes(1, 'health2'), counted]],
  ['KV/Range', [key, encodeBytes(1, 'secret'), counted]],
  ['KV/Range', [key, encodeBytes(2, '\0'), counted]],
  ['KV/Range', [key, encodeBytes(2, 'healthy'), counted]],
  ['KV/Range', [key, counted, zero(9)]],
  ['KV/Range', [key, encodeInt(9, 2)]],
  ['KV/Range', [key, counted, encodeInt(3, 1)]],
  ['KV/Range', [key, counted, encodeInt(14, 1)]],
  ['KV/Range', [key, counted, Buffer.from([0x0a])]],
  ['KV/Range', [key, counted, Buffer.from([0x0b])]],
])('%s with %j is not passed on', (method, parts) => {
  expect(asked(method, ...parts)).toBeUndefined();
});

test('a field number of more than 32 bits, which etcd reads differently, does not reach it', () => {
  // 2^32 + the tag of the first field.
  const hidden = Buffer.from([0x8a, 0x80, 0x80, 0x80, 0x10, 6, ...Buffer.from('health')]);
  const made = asked('KV/Range', hidden, counted);
  expect([undefined, hex(key, counted)]).toContain(made);
});

test.each([
  ...['KV/Put', 'KV/DeleteRange', 'KV/Txn', 'KV/Compact', 'Watch/Watch', 'Lease/LeaseGrant', 'Lease/LeaseLeases'],
  ...['Cluster/MemberAdd', 'Cluster/MemberRemove', 'Cluster/MemberUpdate', 'Cluster/MemberPromote'],
  ...['Maintenance/Defragment', 'Maintenance/Hash', 'Maintenance/MoveLeader', 'Maintenance/Downgrade'],
  ...['Auth/AuthEnable', 'Auth/AuthDisable', 'Auth/Authenticate', 'Auth/UserAdd', 'Auth/UserList', 'Auth/RoleAdd'],
  ...['maintenance/Status', 'Maintenance/Status/', 'Maintenance/Status?x', '', 'constructor', '__proto__'],
])('%j is not a call of a backup', (method) => {
  expect(callAt(`/etcdserverpb.${method}`)).toBeUndefined();
});

test('other services, and no path, are not calls of a backup', () => {
  for (const path of [undefined, '', '/', '/grpc.Lock/Lock', '/grpc.health.v1.Health/Check', 'toString'])
    expect(callAt(path)).toBeUndefined();
});

test('the URLs of a member list lead to the backup ports, and everything else stays', () => {
  const member = (name: string, ...urls: string[]) =>
    Buffer.concat([
      encodeInt(1, 0xf00d_0000_0000_0001n),
      encodeBytes(2, name),
      encodeBytes(3, `https://${name}.peers:2380`),
      ...urls.map((url) => encodeBytes(4, url)),
      encodeInt(5, 1),
    ]);
  const head = encodeBytes(1, encodeInt(2, 9));
  const list = Buffer.concat([
    head,
    encodeBytes(2, member('a', 'https://a.ns.svc:2379')),
    encodeBytes(2, member('b', 'https://[fd00::1]:2379', 'https://b:999', 'no url')),
    encodeBytes(2, member('c')),
    // While TLS is switched, etcd's port for clients has both schemes, and that of backups has not.
    encodeBytes(2, member('d', 'http://d.ns.svc:2379')),
  ]);
  const found = withBackupUrls(list, { client: '2379', backup: 2382 });
  expect([...fieldsOf(found)].flatMap(([field, value]) => (field === 1 ? [hex(bytesOf(value))] : []))).toEqual([
    hex(encodeInt(2, 9)),
  ]);
  const members = [...fieldsOf(found)].filter(([field]) => field === 2).map(([, value]) => hex(bytesOf(value)));
  expect(members).toEqual([
    hex(member('a', 'https://a.ns.svc:2382')),
    hex(member('b', 'https://[fd00::1]:2382')),
    hex(member('c')),
    hex(member('d', 'https://d.ns.svc:2382')),
  ]);
  expect(members.map((each) => text([...fieldsOf(Buffer.from(each, 'hex'))][1]![1]))).toEqual([...'abcd']);
});
