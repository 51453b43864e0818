import { ApiClient } from '../../kube/api-client.ts';
import { Paths } from '../../kube/paths.ts';
import { issueRevocationList, issueRoot } from '../certificates/issue.ts';
import { ClientTls } from './client-tls.ts';
import { FakeApi } from './fake-api.fixture.ts';

const paths = new Paths('shop');
const data = (files: Record<string, string>) =>
  Object.fromEntries(Object.entries(files).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));

let api: FakeApi;
let client: ApiClient;
let tls: ClientTls;
beforeEach(async () => {
  api = await FakeApi.listen();
  client = new ApiClient(api.access, 10_000);
  tls = new ClientTls(client, paths);
  api.put(paths.of('secrets', 'own'), { data: data({ 'ca.crt': 'A', 'tls.crt': 'cert', 'tls.key': 'key' }) });
});
afterEach(async () => {
  client.close();
  await api[Symbol.asyncDispose]();
});

const ca = async () => `${(await tls.material('own', 'orders')).ca}`;

test('the authorities of both sources, as soon as they are known', async () => {
  api.put(paths.of('secrets', 'trust'), {});
  expect(await tls.authorities('trust')).toBeUndefined();
  api.put(paths.of('secrets', 'trust'), { data: data({ 'client-ca.crt': 'A+B' }) });
  expect(`${await tls.authorities('trust')}`).toBe('A+B');
});

test('a Secret without a certificate is named, and read again', async () => {
  api.put(paths.of('secrets', 'own'), {});
  await expect(ca()).rejects.toThrow('Secret own has no ca.crt');
  api.put(paths.of('secrets', 'own'), { data: data({ 'ca.crt': 'A', 'tls.crt': 'cert', 'tls.key': 'key' }) });
  expect(await ca()).toBe('A');
});

test.each([
  ['deleted', () => api.delete(paths.of('secrets', 'own'))],
  ['emptied', () => api.put(paths.of('secrets', 'own'), {})],
])('while its Secret is %s, the last certificate is used, until there is another', async (_, lose) => {
  const { now } = performance;
  try {
    expect(await ca()).toBe('A');
    performance.now = () => now.call(performance) + 60_000;
    lose();
    expect(await ca()).toBe('A');
    api.put(paths.of('secrets', 'own'), { data: data({ 'ca.crt': 'B', 'tls.crt': 'cert', 'tls.key': 'key' }) });
    expect(await ca()).toBe('B');
  } finally {
    performance.now = now;
  }
});

test('comes with the list beside the certificate of the members, and does without one', async () => {
  expect((await tls.material('own', 'orders', 'server')).revoked).toBeUndefined();
  const root = await issueRoot('root', Date.now());
  const list = await issueRevocationList(['F102'], root, Date.now());
  api.put(paths.of('secrets', 'server'), { data: { 'ca.crl': list.toString('base64') } });
  tls = new ClientTls(client, paths);
  expect((await tls.material('own', 'orders', 'server')).revoked?.serials).toEqual(new Set(['F102']));
});
