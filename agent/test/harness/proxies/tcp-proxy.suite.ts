import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { TcpProxy } from './tcp-proxy.ts';

const size = 300_000;

/** Returns the number of bytes that passed the proxy, and whether the connection has ended. */
async function receive(
  spoil: (proxy: TcpProxy) => void,
  milliseconds = 20_000,
): Promise<{ bytes: number; ended: boolean }> {
  const server = createServer((socket) => socket.on('error', () => undefined).end(Buffer.alloc(size, 'x')));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  await using proxy = await TcpProxy.start(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  spoil(proxy);
  const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1');
  // A client that continues to send must not make the proxy discard bytes that it has forwarded.
  const chatter = setInterval(() => socket.write('more'), 1);
  let bytes = 0;
  socket.on('data', (chunk) => {
    bytes += chunk.length;
  });
  const ended = await Promise.race([once(socket, 'end').then(() => true), sleep(milliseconds, false, { ref: false })]);
  clearInterval(chatter);
  socket.destroy();
  server.close();
  return { bytes, ended };
}

test('forwards everything', async () => {
  expect(await receive(() => undefined)).toEqual({ bytes: size, ended: true });
});

test.each([0, 1, 65_536, size - 1, size])('cuts after exactly %d bytes', async (bytes) => {
  expect(await receive((proxy) => proxy.cutAfter(bytes))).toEqual({ bytes, ended: true });
});

test('stalls and leaves the connection open', async () => {
  expect(await receive((proxy) => proxy.stallAfter(100_000), 1_000)).toEqual({ bytes: 100_000, ended: false });
});

test('is slow', async () => {
  const { bytes, ended } = await receive((proxy) => proxy.slow(50_000), 2_000);
  expect(ended).toBe(false);
  expect(bytes).toBeGreaterThan(20_000);
  expect(bytes).toBeLessThanOrEqual(100_000);
});
