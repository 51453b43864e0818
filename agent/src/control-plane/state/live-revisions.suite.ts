import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createCertificates } from '../../../test/harness/certificates.ts';
import { EtcdCluster } from '../../../test/harness/etcd-cluster.ts';
import { freePorts } from '../../../test/harness/free-ports.ts';
import { FakeEtcd } from '../../../test/support/fake-tls-etcd.ts';
import { liveRevisions, withChannel } from './live-revisions.ts';

test('members that answer report their revision; others are skipped', async () => {
  const etcd = await EtcdCluster.start();
  const [free] = await freePorts(1);
  const urls = [...etcd.endpoints, ...etcd.endpoints, `http://127.0.0.1:${free}`];
  await etcd.put(20);
  const [seen, ...more] = await liveRevisions(urls, {});
  expect(more).toEqual([]);
  const { header } = JSON.parse(await etcd.etcdctl('get', 'x', '-w', 'json'));
  expect(seen).toMatchObject({ revision: header.revision, hasQuorum: true, where: expect.stringContaining('etcd at') });
  expect(seen?.clusterId).toMatch(/^[0-9a-f]{1,16}$/);
  await etcd.stop();
  expect(await liveRevisions(urls, {})).toEqual([]);
});

test('a member answers, whatever lies beside the authority: it is not verified', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'live-'));
  try {
    const made = await createCertificates(directory);
    await using etcd = await FakeEtcd.listen(made);
    await writeFile(join(dirname(made.ca), 'ca.crl'), 'no list');
    const files = { cacert: made.ca, ...made.client };
    expect(await withChannel(etcd.url, files, async ({ endpoint }) => endpoint)).toMatch(/^https:/);
  } finally {
    await rm(directory, { recursive: true });
  }
});
