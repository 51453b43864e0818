import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorLike } from '../../test/support/error-like.ts';
import { AgentError, ExitCode } from '../lib/errors.ts';
import { openStore, parseStore } from './open.ts';

/** A fingerprint with a plus sign, which means a space in a URL. */
const FINGERPRINT = `SHA256:${'a+/9'.repeat(10)}abc`;

test.each([
  ['s3://bucket', { s3: { bucket: 'bucket' } }],
  ['s3://bucket/', { s3: { bucket: 'bucket' } }],
  ['s3://bucket/a%20b/c', { s3: { bucket: 'bucket', prefix: 'a b/c' } }],
  [
    's3://bucket/p?region=eu-west-1&endpoint=http://127.0.0.1:7070&pathStyle=false&credentialsDirectory=/s3&profile=x&caFile=/ca.pem&serverSideEncryption=aws:kms&kmsKeyId=k',
    {
      s3: {
        ...{ bucket: 'bucket', prefix: 'p', region: 'eu-west-1', endpoint: 'http://127.0.0.1:7070', pathStyle: false },
        ...{ credentialsDirectory: '/s3', profile: 'x', caFile: '/ca.pem' },
        ...{ serverSideEncryption: 'aws:kms', kmsKeyId: 'k' },
      },
    },
  ],
  ['oss://bucket/p?region=cn-beijing', { oss: { bucket: 'bucket', prefix: 'p', region: 'cn-beijing' } }],
  ['sftp://host', { sftp: { host: 'host' } }],
  ['sftp://host/', { sftp: { host: 'host', path: '/' } }],
  ['sftp://host/~/etcd%20backups', { sftp: { host: 'host', path: 'etcd backups' } }],
  ['sftp://[::1]:2222/x', { sftp: { host: '::1', port: 2222, path: '/x' } }],
  [
    `sftp://a%40b@host/x?credentialsDirectory=/sftp&knownHostsFile=/known&legacyAlgorithms=true&hostKey=${FINGERPRINT}`,
    {
      sftp: {
        ...{ host: 'host', username: 'a@b', path: '/x', credentialsDirectory: '/sftp' },
        ...{ knownHostsFile: '/known', legacyAlgorithms: true, hostKey: FINGERPRINT },
      },
    },
  ],
  ['exec:///opt/store', { command: { path: '/opt/store' } }],
  [
    'exec:///opt/store?credentialsDirectory=/ssh&idleTimeout=5m',
    { command: { path: '/opt/store', credentialsDirectory: '/ssh', idleTimeout: '5m' } },
  ],
  ['{"command":{"path":"/opt/store","env":{"A":"b"}}}', { command: { path: '/opt/store', env: { A: 'b' } } }],
  ['file:///var/backup%20s', { filesystem: { path: '/var/backup s' } }],
  ['{"filesystem":{"path":"/x"},"retention":{"last":3}}', { filesystem: { path: '/x' }, retention: { last: 3 } }],
  [' {"s3":{"bucket":"bucket","pathStyle":true}}', { s3: { bucket: 'bucket', pathStyle: true } }],
])('%s', (text, spec) => {
  expect(parseStore(text)).toEqual(spec);
});

test.each([
  ['gs://bucket', "unknown scheme 'gs'; known: s3, oss, sftp, file, exec"],
  ['/var/backup', 'not a URL; write s3://'],
  ['', 'not a URL; write s3://'],
  ['s3:///prefix', 'the bucket is missing'],
  ['s3://bucket:9000/prefix', '?endpoint=https://host:9000'],
  ['s3://bucket?regoin=x', "unknown parameter 'regoin'; known: region, endpoint,"],
  ['s3://bucket?prefix=x', "unknown parameter 'prefix'"],
  ['s3://bucket?region=a&region=b', "'region' is given twice"],
  ['s3://bucket?pathStyle=yes', 'pathStyle=yes: write true or false'],
  ['s3://bucket?serverSideEncryption=x', 'serverSideEncryption'],
  ['s3://bucket/a%zz', 'invalid % escape'],
  ['s3://bucket/a#b', 'write # as %23'],
  ['s3://b', 's3.bucket'],
  ['file://var/backup', 'write file:///directory with three slashes'],
  ['file:///x?mode=1', "unknown parameter 'mode'"],
  ['oss:///prefix', 'the bucket is missing; write oss://bucket/prefix'],
  ['oss://bucket?pathStyle=true', "unknown parameter 'pathStyle'; known: region, endpoint,"],
  ['sftp:///x', 'the host is missing; write sftp://user@host/directory'],
  ['sftp://host/x?path=y', "unknown parameter 'path'; known: credentialsDirectory, knownHostsFile"],
  ['sftp://host?legacyAlgorithms=yes', 'legacyAlgorithms=yes: write true or false'],
  ['sftp://host?hostKey=MD5:aa', 'sftp.hostKey: must be SHA256:'],
  ['{"sftp":{"host":"host","port":0}}', 'sftp.port'],
  ['{"sftp":{"host":"user@host"}}', 'sftp.host: must be a host name'],
  ['{"sftp":{"host":"host","password":"x"}}', 'sftp: unknown field password; known: host, port, username'],
  ['exec://opt/store', 'write exec:///directory with three slashes'],
  ['exec:///opt/store?env=x', "unknown parameter 'env'; known: credentialsDirectory, idleTimeout"],
  ['exec:///opt/store?idleTimeout=soon', 'command.idleTimeout: is not a valid duration; write 90s or 5m'],
  ['{"command":{"path":"store"}}', 'command.path: must be an absolute path'],
  ['{"command":{"path":"/x","env":{"A-B":"c"}}}', 'command.env'],
  ['{"command":{"path":"/x","put":"y"}}', 'command: unknown field put; known: path, env, credentialsDirectory'],
  ['{"s3":', 'not valid JSON'],
  ['{"sftp":{"host":"h","username":"\\ud800"}}', 'half of a \\u surrogate pair'],
  ['{}', 'name exactly one of s3, oss, sftp, filesystem, command'],
  ['{"s3":{"bucket":"bucket"},"filesystem":{"path":"/x"}}', 'name exactly one of s3, oss, sftp, filesystem, command'],
  ['{"s3":{}}', 's3.bucket: is missing'],
  ['{"s3":{"bucket":"bucket","regoin":"x"}}', 's3: unknown field regoin; known: bucket, prefix, region'],
  ['{"gcs":{}}', 'unknown field gcs; known: s3, oss, sftp, filesystem, command, retention'],
  ['{"filesystem":{"path":"relative"}}', 'filesystem.path: must be an absolute path'],
])('refuses %s', (text, why) => {
  const error = (() => {
    try {
      return parseStore(text);
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toBeInstanceOf(AgentError);
  expect(error).toMatchObject({ exitCode: ExitCode.usage, message: expect.stringContaining(why) });
  expect((error as Error).message).not.toContain('\n');
});

test('credentials in a URL are refused, and not repeated', () => {
  expect(() => parseStore('s3://access:secret@bucket')).toThrow(
    errorLike(/^credentials do not belong in a URL; .*s3:\/\/bucket\?cred/, { at: 'store' }),
  );
  expect(() => parseStore('s3://access:secret@bucket')).not.toThrow(/access:|secret@/);
});

test('the URL of an SFTP server may contain a user, but no password', () => {
  expect(parseStore('sftp://user@host/x').sftp?.username).toBe('user');
  expect(() => parseStore('sftp://user:hunter2@host/x')).toThrow(
    errorLike(/^credentials do not belong in a URL/, { at: 'store' }),
  );
  expect(() => parseStore('sftp://user:hunter2@host/x')).not.toThrow(/hunter2/);
});

test('a filesystem store does not load the SDK of another', () => {
  const script = `
    import { createRequire } from 'node:module';
    import { openStore } from ${JSON.stringify(join(import.meta.dirname, 'open.ts'))};
    await openStore({ filesystem: { path: '/x' } });
    console.log(Object.keys(createRequire('/').cache).filter((file) => file.includes('@aws-sdk')).length);
    await openStore({ s3: { bucket: 'bucket', endpoint: 'http://127.0.0.1:1' } });
    console.log(Object.keys(createRequire('/').cache).filter((file) => file.includes('@aws-sdk')).length > 0);
  `;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
  expect(stdout).toBe('0\ntrue\n');
});

test('a parsed store can be opened, and has its URL', async () => {
  const directory = join(tmpdir(), 'some where');
  const filesystem = await openStore(parseStore(`file://${directory.replace(' ', '%20')}`));
  expect(parseStore(filesystem.url)).toEqual({ filesystem: { path: directory } });
  const s3 = await openStore(parseStore('s3://bucket/p?endpoint=127.0.0.1:1'));
  expect(s3.url).toBe('s3://bucket/p?endpoint=https://127.0.0.1:1');
  expect(parseStore(s3.url)).toEqual({ s3: { bucket: 'bucket', prefix: 'p', endpoint: 'https://127.0.0.1:1' } });
  s3.close();
});
