import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificates, createCertificates, type KeyPair } from './certificates.ts';
import { EtcdCluster } from './etcd-cluster.ts';

let directory: string;
let certificates: Certificates;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'certificates-'));
  certificates = await createCertificates(directory);
});
afterAll(() => rm(directory, { recursive: true }));

async function health(cluster: EtcdCluster, ca: string, client: KeyPair): Promise<number | undefined> {
  const [authority, cert, key] = await Promise.all([ca, client.cert, client.key].map((path) => readFile(path)));
  const sent = request(`${cluster.endpoints[0]}/health`, { ca: authority, cert, key, agent: false }).end();
  const [response] = await once(sent, 'response');
  response.resume();
  return response.statusCode;
}

test('a server accepts a valid client, and no expired or foreign one', async () => {
  const { ca, otherCa, client, expiredClient, otherClient } = certificates;
  await using cluster = await EtcdCluster.start({ tls: certificates });
  expect(await health(cluster, ca, client)).toBe(200);
  await expect(health(cluster, ca, expiredClient)).rejects.toThrow(/alert/);
  await expect(health(cluster, ca, otherClient)).rejects.toThrow(/alert/);
  await expect(health(cluster, otherCa, client)).rejects.toThrow('unable to verify');
});

test('a client refuses an expired server', async () => {
  const { ca, client, expiredServer } = certificates;
  await using cluster = await EtcdCluster.start({ tls: { ca, client, server: expiredServer } });
  await expect(health(cluster, ca, client)).rejects.toThrow('certificate has expired');
});
