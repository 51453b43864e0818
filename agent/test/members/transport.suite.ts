// The gate writes etcd.yaml in the schemes of the record, and etcd speaks by them.
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { get as getByTls } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { permitConfig } from '../../src/member/etcd-config.ts';
import { permit } from '../../src/member/gate/gate.fixture.ts';
import { withTransport } from '../../src/member/transport.ts';
import type { Schemes, Transport } from '../../src/protocol/record.ts';
import { type Certificates, createCertificates } from '../harness/certificates.ts';
import { availableMinors, etcdOf, type Minor } from '../harness/etcd-binaries.ts';
import { Bench } from './support/gate-process.ts';
import { some } from './support/smoke.ts';
import { TestMember } from './support/test-member.ts';

const minors = availableMinors().filter((minor) => minor !== '3.4');
const halfWay = { peers: 'http', clients: 'both' } as const;
const transport = (schemes: Schemes): Transport => ({ ...schemes, target: 'https', since: '' });

let directory: string;
let certificates: Certificates;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'transport-'));
  certificates = await createCertificates(directory);
});
afterAll(() => rm(directory, { recursive: true }));

type Outcome = number | 'refused' | undefined;

/** GET /version, by TLS with or without the certificate of a client. */
function version(url: string, pair?: { cert: string; key: string }): Promise<Outcome> {
  const files = { ca: readFileSync(certificates.ca), ...(pair && read(pair)) };
  return new Promise((resolve) => {
    const sent = (url.startsWith('https:') ? getByTls : get)(`${url}/version`, { ...files, agent: false }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    sent.on('error', () => resolve('refused'));
  });
}

const read = ({ cert, key }: { cert: string; key: string }) => ({ cert: readFileSync(cert), key: readFileSync(key) });
const byTls = (url: string): string => url.replace('http:', 'https:');

/** How a port answers plain http, a certificate, and TLS without one. */
const answers = async (url: string): Promise<Outcome[]> => [
  await version(url),
  await version(byTls(url), certificates.server),
  await version(byTls(url)),
];

const clientUrl = ({ client }: Bench): string => client.endpoints[0]!;

async function seed(minor: Minor): Promise<Bench> {
  const bench = await Bench.make(minor);
  const volumeId = await bench.volumeId();
  bench.mount(certificates);
  await bench.permit(permit({ volumeId }), { transport: transport(halfWay) });
  expect(await bench.runGate()).toBe(0);
  await bench.startEtcd();
  return bench;
}

describe.each(some(minors, minors.slice(-1)))('etcd %s', (minor) => {
  test('clients use http and https on one port, a member joins by two URLs, and both go over to https', async () => {
    await using first = await seed(minor);
    expect(await answers(clientUrl(first))).toEqual([200, 200, 'refused']);
    expect(await answers(first.peerUrl)).toEqual([200, 'refused', 'refused']);
    await first.client.etcdctl('put', 'a', '1');

    const list = async () => JSON.parse(await first.client.etcdctl('member', 'list', '--hex', '-w', 'json')).members;
    const [{ ID: id, peerURLs }] = await list();
    expect(peerURLs).toEqual([first.peerUrl]);
    const bothOf = ({ peerUrl }: Bench) => [peerUrl, byTls(peerUrl)];
    await first.client.etcdctl('member', 'update', id, `--peer-urls=${bothOf(first).join()}`);

    await using second = await Bench.make(minor, 1);
    const volumeId = await second.volumeId();
    second.mount(certificates);
    await first.client.etcdctl('member', 'add', 'c-1', '--learner', `--peer-urls=${bothOf(second).join()}`);
    const listed = (bench: Bench) => bothOf(bench).map((url) => `${bench.gate.env.POD_NAME}=${url}`);
    const initialCluster = [...listed(first), ...listed(second)].join();
    const joins = permit({ ordinal: 1, mode: 'existing', volumeId, initialCluster });
    await second.permit(joins, { transport: transport(halfWay) });
    expect(await second.runGate()).toBe(0);
    await second.startEtcd();
    const urls = (await list()).map((member: { peerURLs: string[] }) => member.peerURLs);
    expect(urls.sort()).toEqual([bothOf(first), bothOf(second)].sort());

    for (const bench of [first, second]) {
      await bench.stopEtcd();
      await bench.permit(permit(), { rev: 6, transport: transport({ peers: 'https', clients: 'https' }) });
      expect(await bench.runGate()).toBe(0);
      await bench.startEtcd();
      expect(await answers(clientUrl(bench))).toEqual(['refused', 200, 'refused']);
      expect(await answers(bench.peerUrl)).toEqual(['refused', 200, 'refused']);
    }
  });

  test('the sidecar keeps the schemes of the etcd that runs, whatever the record asks for next', async () => {
    await using mounted = await Bench.make(minor);
    mounted.mount(certificates);
    const tls = mounted.gate.args['peer-tls-dir'];
    await using member = await TestMember.make({ peerTlsDir: tls, serverTlsDir: tls }, etcdOf(minor));
    await permitConfig(withTransport(member.config, halfWay), member.permit);
    await member.record({ seeded: true, transport: transport({ peers: 'https', clients: 'https' }) });
    for (let start = 0; start < 2; start++) {
      await member.serve();
      if (start === 0) await member.startEtcd();
      await member.until({ state: 'Running', transport: { ...halfWay, hasCertificates: true } });
      await member.untilReady(true, /ok/);
      await member.untilFile('etcd.yaml', /initial-cluster-state: "existing"/);
      await member.end();
    }
    const written = await readFile(join(member.dir, 'etcd.yaml'), 'utf8');
    expect(written).toMatch(/listen-client-urls: "http:[^,]*,https:[^,]*"\n/);
    expect(written).toMatch(/listen-peer-urls: "http:/);
    await member.killEtcd();
    await member.startEtcd();
    await member.serve();
    await member.untilReady(true, /ok/);
  });
});
