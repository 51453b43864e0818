import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExitCode } from '../../lib/errors.ts';
import { fetchSource } from './fetch-source.ts';

const database = randomBytes(300_000);
const snapshot = Buffer.concat([database, createHash('sha256').update(database).digest()]);
const sha256 = createHash('sha256').update(snapshot).digest('hex');

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'fetch-source-'));
});
afterEach(() => rm(directory, { recursive: true }));

async function listen(server: Server): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const serving = (answer: (response: ServerResponse) => void) => listen(createServer((_, response) => answer(response)));
const file = () => join(directory, 'snapshot.db');
const fetchFrom = (port: number, options: { scheme?: string; signal?: AbortSignal; idleTimeout?: number } = {}) => {
  const { scheme = 'http', ...more } = options;
  const source = { url: `${scheme}://127.0.0.1:${port}/snapshot`, token: 'secret-token', sha256 };
  return fetchSource(source, file(), { idleTimeout: 300, ...more });
};
const whole = (bytes: Uint8Array) => (response: ServerResponse) => {
  response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
};

test('the announced snapshot is written completely', async () => {
  await using server = await serving(whole(snapshot));
  expect(await fetchFrom(server.port)).toMatchObject({ sha256, sizeBytes: snapshot.length });
  expect((await readFile(file())).equals(snapshot)).toBe(true);
});

test('a slow server is waited for as long as bytes arrive', async () => {
  await using server = await serving(async (response) => {
    response.writeHead(200, { 'content-length': snapshot.length });
    for (let at = 0; at < snapshot.length; at += 50_000) {
      response.write(snapshot.subarray(at, at + 50_000));
      await sleep(60);
    }
    response.end();
  });
  expect(await fetchFrom(server.port)).toMatchObject({ sha256 });
});

const flipped = Buffer.from(snapshot);
flipped[100]! ^= 1;
const otherDatabase = randomBytes(300_000);
const other = Buffer.concat([otherDatabase, createHash('sha256').update(otherDatabase).digest()]);

test.each<[string, (response: ServerResponse) => void, ExitCode, RegExp]>([
  ['a flipped bit', whole(flipped), ExitCode.verificationFailed, /does not match its own sha256 trailer/],
  ['another snapshot', whole(other), ExitCode.verificationFailed, /not the snapshot that was announced/],
  ['nothing', whole(Buffer.alloc(0)), ExitCode.verificationFailed, /0 bytes are too few for a snapshot/],
  [
    'less than it says',
    (response) => {
      response.writeHead(200, { 'content-length': snapshot.length });
      response.write(snapshot.subarray(0, 1_000), () => response.destroy());
    },
    ExitCode.etcdUnavailable,
    /broke off after \d+ of 300032 bytes/,
  ],
  [
    'half of it, and then no more',
    (response) => {
      response.writeHead(200, { 'content-length': snapshot.length });
      response.write(snapshot.subarray(0, 150_000));
    },
    ExitCode.etcdUnavailable,
    /broke off after 150000 of 300032 bytes \(0 bytes in 0\.3s\)/,
  ],
  [
    'no length',
    (response) => {
      response.writeHead(200);
      response.end(snapshot);
    },
    ExitCode.etcdUnavailable,
    /does not send a Content-Length/,
  ],
  ['no answer', () => {}, ExitCode.etcdUnavailable, /no response within 0\.3s/],
  ['no leave', (response) => response.writeHead(401).end(), ExitCode.refused, /refuses the token/],
  ['another address', (response) => response.writeHead(302, { location: '/' }).end(), ExitCode.etcdUnavailable, /302/],
  ['not yet', (response) => response.writeHead(503).end(), ExitCode.etcdUnavailable, /answers 503/],
  [
    'a length that is not a number of bytes',
    (response) => {
      response.writeHead(200, { 'content-length': '99999999999999999999' });
      response.write(snapshot);
    },
    ExitCode.etcdUnavailable,
    /./,
  ],
])('a server that gives %s', async (_, answer, exitCode, message) => {
  await using server = await serving(answer);
  const error = await fetchFrom(server.port).catch((thrown) => thrown);
  expect(error).toMatchObject({ exitCode, message: expect.stringMatching(message) });
  expect(error.message).not.toMatch(/secret-token|\n/);
});

test.each(['http', 'https'])('a server that accepts the connection and sends nothing, over %s', async (scheme) => {
  await using server = await listen(createTcpServer(() => {}));
  await expect(fetchFrom(server.port, { scheme })).rejects.toMatchObject({
    exitCode: ExitCode.etcdUnavailable,
    message: expect.stringMatching(/no response within 0\.3s/),
  });
});

test('a server that sends a byte of a header now and then', async () => {
  await using server = await listen(
    createTcpServer((socket) => {
      const timer = setInterval(() => socket.write('H'), 100);
      socket.on('close', () => clearInterval(timer));
    }),
  );
  await expect(fetchFrom(server.port)).rejects.toMatchObject({ exitCode: ExitCode.etcdUnavailable });
});

test('a server that sends a byte of a long header now and then', async () => {
  await using server = await listen(
    createTcpServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nx: ');
      const timer = setInterval(() => socket.write('x'), 100);
      socket.on('close', () => clearInterval(timer));
    }),
  );
  await expect(fetchFrom(server.port)).rejects.toMatchObject({ exitCode: ExitCode.etcdUnavailable });
});

test('a server that sends a few bytes now and then', async () => {
  await using server = await serving((response) => {
    response.writeHead(200, { 'content-length': snapshot.length });
    const timer = setInterval(() => response.write('x'), 50);
    response.on('close', () => clearInterval(timer));
  });
  await expect(fetchFrom(server.port)).rejects.toMatchObject({
    exitCode: ExitCode.etcdUnavailable,
    message: expect.stringMatching(/broke off after \d of 300032 bytes \(\d bytes in 0\.3s\)/),
  });
});

test('the signal stops the transfer immediately, with its reason', async () => {
  await using server = await serving((response) => {
    response.writeHead(200, { 'content-length': snapshot.length });
    response.write(snapshot.subarray(0, 1_000));
  });
  const controller = new AbortController();
  setTimeout(() => controller.abort(new Error('stopped by SIGTERM')), 50);
  await expect(fetchFrom(server.port, { signal: controller.signal, idleTimeout: 60_000 })).rejects.toThrow(
    'stopped by SIGTERM',
  );
});

test('an existing file is not overwritten', async () => {
  await using server = await serving(whole(snapshot));
  await fetchFrom(server.port);
  await expect(fetchFrom(server.port)).rejects.toMatchObject({
    exitCode: ExitCode.usage,
    message: expect.stringMatching(/^cannot write .* \(EEXIST\)/),
    at: 'scratch',
  });
  expect(await readdir(directory)).toEqual(['snapshot.db']);
});
