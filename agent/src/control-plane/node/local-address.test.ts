import { networkInterfaces } from 'node:os';
import { reaches } from './local-address.ts';

const own = Object.values(networkInterfaces())
  .flat()
  .find((each) => each && !each.internal && each.family === 'IPv4')?.address;

test.each([
  ['http://127.0.0.1:2379', 'http://0.0.0.0:2379', true],
  ['http://127.0.0.1:2379', 'http://[::]:2379', true],
  ['https://[::1]:2379', 'https://[::]:2379', true],
  ['https://localhost:2379', 'https://0.0.0.0:2379', true],
  ['https://localhost:2379', 'https://127.0.0.1:2379', true],
  ['https://127.0.0.1:2379', 'https://localhost:2379', true],
  ['https://0.0.0.0:2379', 'https://127.0.0.1:2379', true],
  [`https://${own ?? '127.0.0.1'}:2379`, 'https://0.0.0.0:2379', true],
  ['https://127.0.0.2:2379', 'https://0.0.0.0:2379', true],
  ['https://10.0.0.5:2379', 'https://10.0.0.5:2379', true],
  ['https://etcd.invalid:2379', 'https://etcd.invalid:2379', true],
  ['https://127.0.0.1', 'https://127.0.0.1:2379', true],
  ['https://127.0.0.1:4001', 'https://0.0.0.0:2379', false],
  ['https://198.51.100.7:2379', 'https://0.0.0.0:2379', false],
  ['https://10.0.0.6:2379', 'https://10.0.0.5:2379', false],
  ['https://127.0.0.1:443', 'https://0.0.0.0:443', true],
])('a client of %s and a server at %s: %s', async (client, server, expected) => {
  expect(await reaches(client, server)).toBe(expected);
});
