// The certificates that the reconciler issues, in three real members of each minor: renewed and rotated under writes, without a
// restart.
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { Etcd3 } from 'etcd3';
import { issueLeaf } from '../../src/controllers/certificates/issue.ts';
import { lifetimes } from '../../src/controllers/certificates/lifetimes.ts';
import { certificatesIn, idOf, shortId } from '../../src/lib/certificates.ts';
import { listId } from '../../src/lib/revocation-lists.ts';
import type { AgentStatus } from '../../src/protocol/agent-status.ts';
import { known } from '../../src/protocol/known.ts';
import { availableMinors, etcdOf, missingMinors } from '../harness/etcd-binaries.ts';
import { EtcdClient } from '../harness/etcd-client.ts';
import type { EtcdMember } from '../harness/etcd-member.ts';
import { TestMember } from '../members/support/test-member.ts';
import { asked, type Files, type LeafName, leaves, Mounted, startMembers } from './support/mounted.ts';

let root: string;
beforeAll(() => {
  for (const minor of missingMinors()) console.warn(`etcd ${minor} is not at hand: untested`);
});
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'managed-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const path = (leaf: LeafName, key: string) => join(root, leaf, key);

/** Writes to one member after the other, and reads its certificate again for each new connection. */
class Writer {
  readonly acknowledged: string[] = [];
  readonly failed: string[] = [];
  readonly #retry: number;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  /** `retry`: how long a write is tried again, at every member in turn and with the files read again, ms. */
  constructor(members: readonly EtcdMember[], mounted: Mounted, retry = 0) {
    this.#retry = retry;
    this.#ended = this.#run(members, mounted);
  }

  async #run(members: readonly EtcdMember[], mounted: Mounted): Promise<void> {
    let until: number | undefined;
    for (let turn = 0; !this.#stop.signal.aborted; turn++) {
      const { ca, cert, key } = await mounted.files('client');
      const of = (text: string) => Buffer.from(text);
      const credentials = { rootCertificate: of(ca), certChain: of(cert), privateKey: of(key) };
      const client = new Etcd3({ hosts: members[turn % members.length]!.clientUrl, credentials });
      for (let n = 0; n < 5; n++) {
        const name = `w-${turn}-${n}`;
        await client
          .put(name)
          .value('x')
          .then(
            () => {
              until = undefined;
              this.acknowledged.push(name);
            },
            (error) => {
              until ??= Date.now() + this.#retry;
              if (Date.now() >= until) this.failed.push(`${name}: ${error}`);
            },
          );
        if (until !== undefined) break;
      }
      client.close();
    }
  }

  async more(count: number): Promise<void> {
    for (const before = this.acknowledged.length; this.acknowledged.length < before + count; ) await sleep(20);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }
}

/** The certificates that a server shows on a new connection, or why it refuses. Node checks the chain and the name. */
async function shown(url: string, { ca, cert, key }: Files): Promise<string[]> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), ca, cert, key });
  await once(socket, 'secureConnect');
  const leaf = socket.getPeerCertificate(true);
  socket.destroy();
  return [leaf.fingerprint256, leaf.issuerCertificate.fingerprint256];
}

const fingerprints = ({ cert }: Files): string[] => certificatesIn(cert)!.map(({ fingerprint256 }) => fingerprint256);

/** OpenSSL takes the chain of a leaf with its root alone. */
function openssl(leaf: LeafName, purpose: 'sslserver' | 'sslclient', ...more: string[]): string {
  const [chain, ca] = [path(leaf, 'tls.crt'), path(leaf, 'ca.crt')];
  const flags = ['verify', '-x509_strict', '-purpose', purpose, '-CAfile', ca, '-untrusted', chain, ...more, chain];
  return execFileSync('openssl', flags, { encoding: 'utf8', stdio: 'pipe' }).trim();
}

function checkChains(): void {
  for (const leaf of leaves) expect(openssl(leaf, 'sslclient')).toMatch(/: OK$/);
  for (const leaf of ['peer', 'server'] as const) expect(openssl(leaf, 'sslserver')).toMatch(/: OK$/);
  expect(() => openssl('client', 'sslserver')).toThrow('unsuitable certificate purpose');
}

test('OpenSSL takes each leaf for what it is for, and for its names', async () => {
  const mounted = await Mounted.make(root, { serverNames: ['*.etcd.example.com', '2001:DB8::5'] });
  checkChains();
  const names = ['localhost', 'orders', 'orders-6-client.shop.svc.cluster.local', 'a.etcd.example.com'];
  for (const name of names) expect(openssl('server', 'sslserver', '-verify_hostname', name)).toMatch(/: OK$/);
  for (const ip of ['127.0.0.1', '::1', '2001:db8::5'])
    expect(openssl('server', 'sslserver', '-verify_ip', ip)).toMatch(/: OK$/);
  expect(() => openssl('server', 'sslserver', '-verify_hostname', 'elsewhere')).toThrow('hostname mismatch');
  expect(mounted.secrets.reasons).toEqual([]);
});

describe.each(availableMinors())('etcd %s', (minor) => {
  let members: EtcdMember[] = [];
  afterEach(() => Promise.all(members.map((member) => member.kill())));

  test('leaves renewed, intermediates rotated: no restart, no failed write, and the old ones go on', async () => {
    const mounted = await Mounted.make(root);
    members = await startMembers(etcdOf(minor), mounted);
    const pids = members.map(({ pid }) => pid);
    const writer = new Writer(members, mounted);
    await writer.more(30);
    const old: Record<LeafName, Files>[] = [];
    const change = async (expected: string[]) => {
      const [peer, server, client] = await Promise.all(leaves.map((leaf) => mounted.files(leaf)));
      old.push({ peer: peer!, server: server!, client: client! });
      expect((await mounted.secrets.settle()).map((line) => line.split(':')[0])).toEqual(expected);
      await mounted.mount();
      checkChains();
      await writer.more(60);
      await isServedWithNewOnes();
    };
    /** Both ports of each member show the new chain, and take the new clients and every older one. */
    const isServedWithNewOnes = async () => {
      const [peer, server, client] = await Promise.all(leaves.map((leaf) => mounted.files(leaf)));
      for (const { clientUrl, peerUrl } of members) {
        expect(await shown(clientUrl, client!)).toEqual(fingerprints(server!));
        expect(await shown(peerUrl, peer!)).toEqual(fingerprints(peer!));
        for (const each of [client!, ...old.map((files) => files.client)])
          expect(await asked(`${clientUrl}/version`, each)).toBe(200);
        for (const each of [peer!, ...old.map((files) => files.peer)])
          expect(await asked(`${peerUrl}/version`, each)).toBe(200);
      }
    };

    mounted.secrets.now = Date.now();
    await change(['leaf peer', 'leaf server', 'leaf client']);
    mounted.rotate('once');
    const both = ['intermediate peers', 'intermediate clients'];
    await change([...both, 'leaf peer', 'leaf server', 'leaf client']);
    expect(fingerprints(await mounted.files('server'))[1]).not.toBe(fingerprints(old[0]!.server)[1]);
    expect((await mounted.files('server')).ca).toBe(old[0]!.server.ca);
    expect(members.map(({ pid }) => pid)).toEqual(pids);
    expect(writer.failed).toEqual([]);
    await writer.stop();

    // What was connected with the first leaves meets again with the newest.
    for (const member of members) {
      await member.kill();
      await member.start();
    }
    const { ca, cert, key } = await mounted.files('client');
    const pair = { cert: path('client', 'tls.crt'), key: path('client', 'tls.key') };
    expect([ca, cert, key].every(Boolean)).toBe(true);
    const tls = { ca: path('client', 'ca.crt'), client: pair, server: pair };
    for (const { clientUrl } of members) {
      const client = new EtcdClient(etcdOf(minor), [clientUrl], tls);
      const stored = await client.etcdctl('get', '--prefix', 'w-', '--keys-only', '--consistency=s');
      expect(new Set(stored.split('\n').filter(Boolean))).toEqual(new Set(writer.acknowledged));
      await client.etcdctl('put', 'after', clientUrl);
    }
  });

  test('both roots replaced: one restart of each member, no failed write', async () => {
    const mounted = await Mounted.make(root);
    const { secrets } = mounted;
    members = await startMembers(etcdOf(minor), mounted);
    secrets.now = Date.now();
    await secrets.settle();
    await mounted.mount();
    const writer = new Writer(members, mounted, 1_000);
    await writer.more(20);
    const before = Object.fromEntries(await Promise.all(leaves.map(async (leaf) => [leaf, await mounted.files(leaf)])));
    const follow = async (isLoaded: readonly boolean[]) => {
      secrets.members = known(
        await Promise.all(isLoaded.map((each, i) => mounted.report(i, each ? undefined : before))),
      );
      const written = (await secrets.settle()).map((line) => line.split(':')[0]);
      await mounted.mount();
      await writer.more(30);
      return written;
    };
    const none = [false, false, false];
    mounted.change({ rootRotation: 'once' });
    const allLeaves = ['leaf peer', 'leaf server', 'leaf client'];
    expect(await follow(none)).toEqual(['nextRoot peers', 'nextRoot clients', ...allLeaves]);
    checkChains();
    // The old leaves are still taken.
    for (const { clientUrl } of members) expect(await asked(`${clientUrl}/version`, before.client)).toBe(200);
    secrets.now += lifetimes.clients;
    expect(await follow(none)).toEqual(['trust peer', 'trust server', 'trust client']);
    secrets.now = Date.now();
    checkChains();

    for (const [i, member] of members.entries()) {
      await member.stop();
      await member.start();
      const loaded = none.map((_, each) => each <= i);
      expect(await follow(loaded)).toEqual(i < 2 ? [] : ['promotion peers', 'promotion clients']);
    }
    checkChains();
    // Who has read nothing since is shut out now.
    for (const { clientUrl } of members)
      await expect(asked(`${clientUrl}/version`, before.client, false)).rejects.toThrow();

    // The cross certificate goes with the next renewal, and a member that starts then finds the others.
    secrets.empty('peer').empty('server').empty('client');
    expect(await follow([true, true, true])).toEqual(allLeaves);
    expect(writer.failed).toEqual([]);
    await writer.stop();
    expect(certificatesIn((await mounted.files('peer')).cert)).toHaveLength(2);
    checkChains();
    await members[0]!.kill();
    await members[0]!.start();
    const now = { peer: await mounted.files('peer'), client: await mounted.files('client') };
    for (const { clientUrl, peerUrl } of members) {
      expect(await asked(`${clientUrl}/version`, now.client)).toBe(200);
      expect(await asked(`${peerUrl}/version`, now.peer)).toBe(200);
    }
  });

  test('earlier intermediates revoked: no restart, no failed write, and whoever has a certificate of one is refused', async () => {
    const mounted = await Mounted.make(root);
    const { secrets } = mounted;
    members = await startMembers(etcdOf(minor), mounted);
    secrets.now = Date.now();
    await secrets.settle();
    await mounted.mount();
    const writer = new Writer(members, mounted, 1_000);
    await writer.more(20);
    const before = { peer: await mounted.files('peer'), client: await mounted.files('client') };
    const follow = async () => {
      secrets.members = known(await Promise.all([0, 1, 2].map((i) => mounted.report(i))));
      const written = (await secrets.settle()).map((line) => line.split(':')[0]);
      await mounted.mount();
      await writer.more(30);
      return written;
    };
    const answers = async ({ peer, client }: typeof before) =>
      Promise.all(
        members.flatMap(({ clientUrl, peerUrl }) => [
          asked(`${clientUrl}/version`, client, false).catch(() => 'refused'),
          asked(`${peerUrl}/version`, peer, false).catch(() => 'refused'),
        ]),
      );
    mounted.change({ intermediateRevocation: 'stolen' });
    const allLeaves = ['leaf peer', 'leaf server', 'leaf client'];
    expect(await follow()).toEqual(['intermediate peers', 'intermediate clients', ...allLeaves]);
    expect(await answers(before)).toEqual(Array(6).fill(200));
    // Clients have three minutes, and peers need none.
    expect(await follow()).toEqual(['list peer']);
    secrets.now += lifetimes.revocation;
    expect(secrets.reasons).toEqual(['RevokingIntermediates', 'RevokingIntermediates']);
    expect(await follow()).toEqual(['list server']);
    secrets.now = Date.now();
    expect(await answers(before)).toEqual(Array(6).fill('refused'));
    expect(await answers({ peer: await mounted.files('peer'), client: await mounted.files('client') })).toEqual(
      Array(6).fill(200),
    );
    expect(await follow()).toEqual([]);
    expect(secrets.reasons).toEqual([]);
    // Renewed leaves keep the list, and a member that starts anew finds the others.
    await members[0]!.kill();
    await members[0]!.start();
    await writer.more(20);
    expect(writer.failed).toEqual([]);
    await writer.stop();
    checkChains();
  });

  test('what the agent says of its revocation lists is so, and a list that is lost is written again', async () => {
    const mounted = await Mounted.make(root);
    const directories = { peerTlsDir: join(root, 'peer'), serverTlsDir: join(root, 'server') };
    await using member = await TestMember.make(directories, etcdOf(minor));
    const { peerUrl, clientUrl } = member.config;
    await member.record({ seeded: true });
    await member.serve();
    await member.startEtcd();
    const lists = async () => {
      const [peer, client] = await Promise.all(
        [path('peer', 'ca.crl'), path('server', 'ca.crl')].map(async (file) => shortId(listId(await readFile(file)))),
      );
      return { peer, client };
    };
    const answers = async () => {
      const [peer, client] = [await mounted.files('peer'), await mounted.files('client')];
      return Promise.all([
        asked(`${peerUrl}/version`, peer, false).catch(() => 'refused'),
        asked(`${clientUrl}/version`, client, false).catch(() => 'refused'),
      ]);
    };
    const before = await lists();
    await member.until({ revocationLists: before });
    expect(await answers()).toEqual([200, 200]);

    mounted.change({ intermediateRevocation: 'stolen' });
    mounted.secrets.now = Date.now();
    mounted.secrets.members = known([]);
    await mounted.secrets.settle();
    mounted.secrets.now += lifetimes.revocation;
    await mounted.secrets.settle();
    const old = { peer: await mounted.files('peer'), client: await mounted.files('client') };
    await mounted.mount();
    const after = await lists();
    expect(after).not.toEqual(before);
    await member.until({ revocationLists: after });
    expect(await answers()).toEqual([200, 200]);
    await expect(asked(`${peerUrl}/version`, old.peer, false)).rejects.toThrow();
    await expect(asked(`${clientUrl}/version`, old.client, false)).rejects.toThrow();

    // etcd refuses everybody without its list. The agent names none, and the reconciler writes it again.
    for (const lost of [undefined, '', '-----BEGIN X509 CRL-----']) {
      mounted.secrets.set('peer', { 'ca.crl': lost }).set('server', { 'ca.crl': lost });
      await mounted.mount();
      expect(await answers()).toEqual(['refused', 'refused']);
      expect((await mounted.secrets.settle()).map((line) => line.split(':')[0])).toEqual(['list peer', 'list server']);
      await mounted.mount();
      expect(await answers()).toEqual([200, 200]);
    }
  });

  test('what the agent says of the roots that a member trusts is so', async () => {
    const mounted = await Mounted.make(root);
    const ends = { peer: 'peer', client: 'server' } as const;
    const rootOf = async (leaf: LeafName) => shortId(idOf(new X509Certificate((await mounted.files(leaf)).ca)));
    const directories = { peerTlsDir: join(root, 'peer'), serverTlsDir: join(root, 'server') };
    await using member = await TestMember.make(directories, etcdOf(minor));
    const { peerUrl, clientUrl } = member.config;
    await member.record({ seeded: true });
    const said = async (wanted: AgentStatus['roots']) =>
      expect((await member.until({ roots: wanted })).roots).toEqual(wanted);
    /** A caller of this authority, as a member and as a client. */
    const isTaken = async ({ peer, client }: Record<'peer' | 'client', Files>, taken: boolean) => {
      for (const [url, files] of [[peerUrl, peer] as const, [clientUrl, client] as const]) {
        const answer = asked(`${url}/version`, { ...files, ca: (await mounted.files('server')).ca }, false);
        if (taken) expect(await answer).toBe(200);
        else await expect(answer).rejects.toThrow();
      }
    };
    const callers = async () => ({ peer: await mounted.files('peer'), client: await mounted.files('client') });
    const roots = async () => ({ peer: await rootOf(ends.peer), client: await rootOf(ends.client) });
    const replaceRoots = async () => {
      mounted.secrets.empty('peers').empty('peer').empty('clients').empty('server').empty('client');
      await mounted.secrets.settle();
      await mounted.mount();
    };
    await member.serve();
    // A start is known to the second.
    await sleep(1_100);
    await member.startEtcd();
    const [a, callersOfA] = [await roots(), await callers()];
    await said({ peer: { onDisk: a.peer, loaded: a.peer }, client: { onDisk: a.client, loaded: a.client } });
    await isTaken(callersOfA, true);

    await replaceRoots();
    const [b, callersOfB] = [await roots(), await callers()];
    const stale = { peer: { onDisk: b.peer, loaded: a.peer }, client: { onDisk: b.client, loaded: a.client } };
    await said(stale);
    await isTaken(callersOfA, true);
    await isTaken(callersOfB, false);
    await member.end();
    await member.serve();
    await said(stale);

    await sleep(1_100);
    await member.killEtcd();
    await said({ peer: { onDisk: b.peer }, client: { onDisk: b.client } });
    await member.startEtcd();
    await said({ peer: { onDisk: b.peer, loaded: b.peer }, client: { onDisk: b.client, loaded: b.client } });
    await isTaken(callersOfB, true);
    await isTaken(callersOfA, false);

    // Nobody looked while it started.
    await sleep(1_100);
    await member.end();
    await member.killEtcd();
    await replaceRoots();
    await member.startEtcd();
    await sleep(1_100);
    await member.serve();
    await member.until({ state: 'Running' });
    const c = await roots();
    await said({ peer: { onDisk: c.peer }, client: { onDisk: c.client } });
    await sleep(500);
    await said({ peer: { onDisk: c.peer }, client: { onDisk: c.client } });
  });

  test('a leaf is taken until it expires, and not after', async () => {
    const mounted = await Mounted.make(root);
    members = await startMembers(etcdOf(minor), mounted);
    const { secrets } = mounted;
    const issuer = { cert: secrets.text('clients', 'tls.crt'), key: secrets.text('clients', 'tls.key') };
    const end = Date.now() + 4_000;
    const { cert, key } = await issueLeaf(secrets.spec.shapes.client, issuer, end - lifetimes.leaf);
    const files = { ca: secrets.text('clients', 'root.crt'), cert: cert + issuer.cert, key };
    const [{ clientUrl }] = members as [EtcdMember];
    expect(await asked(`${clientUrl}/version`, files)).toBe(200);
    await sleep(end + 1_500 - Date.now());
    await expect(asked(`${clientUrl}/version`, files)).rejects.toThrow();
  });
});
