import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AuthContext } from 'ssh2';
import { secretDirectory } from '../../../test/support/secret-directory.ts';
import { SftpStub } from '../../../test/support/sftp-stub.ts';
import { once as putBody } from '../../../test/support/store-contract.ts';
import { ExitCode } from '../../lib/errors.ts';
import { openSftp } from './sftp-store.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'sftp-'));
});
afterAll(() => rm(root, { recursive: true }));

let directories = 0;
const secret = (files: Record<string, string>) => secretDirectory(join(root, String(directories++)), files).path;
const files = { username: 'etcd\n', password: 'hunter2 with spaces \n' };

/** Sends a first request to the server. Returns the answer or the error. */
async function ask(port: number, hostKey: string, secretFiles: Record<string, string> = files) {
  const spec = { host: '127.0.0.1', port, hostKey, credentialsDirectory: secret(secretFiles) };
  const store = await openSftp(spec, { loginTimeout: 10_000 });
  try {
    return await store.stat('a/b');
  } catch (error) {
    return error;
  } finally {
    store.close();
  }
}

const isRight = (attempt: AuthContext) =>
  attempt.method === 'password' && attempt.username === 'etcd' && attempt.password === 'hunter2 with spaces ';

test('a password', async () => {
  await using server = await SftpStub.start({ login: (it) => (isRight(it) ? it.accept() : it.reject(['password'])) });
  expect(await ask(server.port, server.hostKey)).toBeUndefined();
});

test('a password for a server that prompts for it', async () => {
  await using server = await SftpStub.start({
    login: (attempt) => {
      if (attempt.method !== 'keyboard-interactive') return attempt.reject(['keyboard-interactive']);
      attempt.prompt([{ prompt: 'Password: ', echo: false }], ([answer]) =>
        answer === 'hunter2 with spaces ' ? attempt.accept() : attempt.reject(),
      );
    },
  });
  expect(await ask(server.port, server.hostKey)).toBeUndefined();
});

test('a wrong password is refused, and not shown', async () => {
  await using server = await SftpStub.start({ login: (attempt) => attempt.reject(['password']) });
  const error = await ask(server.port, server.hostKey);
  expect(error).toMatchObject({
    exitCode: ExitCode.storeRefused,
    message: `127.0.0.1:${server.port}: the login was refused (tried password); check username and credentials`,
  });
});

test('nothing is sent to a server with another key', async () => {
  let asked = 0;
  await using other = await SftpStub.start({ login: (attempt) => attempt.reject() });
  await using server = await SftpStub.start({
    login: (attempt) => {
      asked++;
      attempt.accept();
    },
  });
  expect(await ask(server.port, other.hostKey)).toMatchObject({
    exitCode: ExitCode.storeRefused,
    message: expect.stringMatching(
      /the host key has changed: expected SHA256:\S+ as in hostKey, got SHA256:\S+ \(ecdsa-sha2-nistp256\)/,
    ),
  });
  expect(asked).toBe(0);
});

test('the error of a directory without the right to write names the key, not the unfinished file', async () => {
  await using server = await SftpStub.start({ login: (attempt) => attempt.accept() });
  const spec = { host: '127.0.0.1', port: server.port, hostKey: server.hostKey, path: '/backups' };
  const store = await openSftp({ ...spec, credentialsDirectory: secret(files) });
  try {
    await expect(store.put('orders/x.db', putBody('x'))).rejects.toMatchObject({
      exitCode: ExitCode.storeRefused,
      message: expect.stringMatching(
        /: cannot create \/backups\/orders\/x\.db: .* change the owner or mode of the directory$/,
      ),
    });
  } finally {
    store.close();
  }
});

test('a server without SFTP', async () => {
  await using server = await SftpStub.start({ login: (attempt) => attempt.accept(), sftp: false });
  expect(await ask(server.port, server.hostKey)).toMatchObject({
    exitCode: ExitCode.storeRefused,
    message: expect.stringContaining('the server offers no SFTP'),
  });
});

test('a server that does not speak SSH', async () => {
  const web = createServer((_, response) => response.end('x')).listen(0, '127.0.0.1');
  await once(web, 'listening');
  try {
    const error = await ask((web.address() as AddressInfo).port, `SHA256:${'a'.repeat(43)}`);
    expect(error).toMatchObject({
      exitCode: ExitCode.storeUnreachable,
      message: expect.stringMatching(/before the SSH handshake; check host, port and network/),
    });
  } finally {
    web.close();
  }
});
