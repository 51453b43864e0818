import { createHmac } from 'node:crypto';
import { keyTypeOf, knownHosts } from './host-keys.ts';

const key = Buffer.from('\0\0\0\x0bssh-ed25519 and so on');
const line = (names: string) => `${names} ssh-ed25519 ${key.toString('base64')} comment`;
const hash = (name: string) => {
  const salt = Buffer.alloc(20, 7);
  return `|1|${salt.toString('base64')}|${createHmac('sha1', salt).update(name).digest('base64')}`;
};

test.each([
  ['backup.example.com', 22],
  ['BACKUP.example.com', 22],
  ['backup.example.com', 2222],
  ['other,backup.example.com', 22],
  ['*.example.com', 22],
  ['backup.example.co?', 22],
  ['*,!other', 22],
  ['[backup.example.com]:2222', 2222],
  [hash('backup.example.com'), 22],
  [hash('[backup.example.com]:2222'), 2222],
])('%s applies to port %i', (names, port) => {
  expect(knownHosts(`# a comment\n\n${line(names)}\n`, 'Backup.Example.com', port)).toEqual([{ revoked: false, key }]);
});

test.each([
  ['other', 22],
  ['backupXexample.com', 22],
  ['*.com,!backup.example.com', 22],
  ['[backup.example.com]:2222', 22],
  ['[backup.example.com]:2222', 2223],
  [hash('other'), 22],
  ['|1|broken', 22],
  ['@cert-authority *', 22],
  ['#backup.example.com', 22],
])('%s does not apply to port %i', (names, port) => {
  expect(knownHosts(line(names), 'backup.example.com', port)).toEqual([]);
});

test('a line for the port comes before one without', () => {
  const other = 'backup.example.com ssh-rsa AAAA\n';
  expect(knownHosts(`${other}${line('[backup.example.com]:2222')}`, 'backup.example.com', 2222)).toHaveLength(1);
});

test('a revoked key is reported, even if the same key is also trusted', () => {
  const text = `@revoked ${line('*')}\n${line('backup.example.com')}`;
  expect(knownHosts(text, 'backup.example.com', 22).map(({ revoked }) => revoked)).toEqual([true, false]);
});

// With backtracking, this pattern never ends.
test('a pattern of many stars', () => {
  const names = `${'*a'.repeat(60)}*b`;
  expect(knownHosts(line(names), 'a'.repeat(250), 22)).toEqual([]);
  expect(knownHosts(line(`${names},${'*a'.repeat(60)}**`), 'a'.repeat(250), 22)).toHaveLength(1);
});

test('the type of something that is not a key', () => {
  expect(keyTypeOf(key)).toBe('ssh-ed25519');
  expect(keyTypeOf(Buffer.from([0, 0]))).toBe('');
  expect(keyTypeOf(Buffer.concat([Buffer.alloc(4, 0xff), Buffer.alloc(1_000, 7)]))).toBe('?'.repeat(64));
});
