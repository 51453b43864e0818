// Clients in Go, Node and Python, as the guide shows them, while the certificates of the reconciler are rotated: none that reads its
// files again has a failed write, and one that does not breaks when the guide says so. Their connections are cut at
// every step.
import { cp, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { issueLeaf } from '../../src/controllers/certificates/issue.ts';
import { lifetimes } from '../../src/controllers/certificates/lifetimes.ts';
import { known } from '../../src/protocol/known.ts';
import { asked, leaves, Mounted, startMembers } from '../etcd/support/mounted.ts';
import { availableMinors, etcdOf } from '../harness/etcd-binaries.ts';
import { EtcdClient } from '../harness/etcd-client.ts';
import type { EtcdMember } from '../harness/etcd-member.ts';
import { TcpProxy } from '../harness/proxies/tcp-proxy.ts';
import { some } from '../members/support/smoke.ts';
import { languages, type Reads, WritingClient } from './support/writing-client.ts';

const minors = availableMinors().filter((minor) => some(['3.5', '3.6', '3.7'], ['3.6']).includes(minor));

test('there is an etcd to test with', () => expect(minors).not.toEqual([]));

describe.each(minors)('etcd %s', (minor) => {
  let root: string;
  let mounted: Mounted;
  let members: EtcdMember[] = [];
  let clients: WritingClient[] = [];
  let proxies: TcpProxy[] = [];

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), 'clients-'));
    mounted = await Mounted.make(root);
    members = await startMembers(etcdOf(minor), mounted);
    mounted.secrets.now = Date.now();
    await mounted.secrets.settle();
    await mounted.mount();
    proxies = await Promise.all(members.map(({ clientUrl }) => TcpProxy.start(clientUrl)));
  });
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.kill()));
    await Promise.all(proxies.map((proxy) => proxy.stop()));
    await Promise.all(members.map((member) => member.kill()));
    [members, clients, proxies] = [[], [], []];
    await rm(root, { recursive: true, force: true });
  });

  /** One in each language. */
  async function start(reads: Reads, directory = join(root, 'client'), of = languages): Promise<WritingClient[]> {
    const at = { endpoints: proxies.map(({ url }) => url), directory, logs: root, reads };
    const started = await Promise.all(of.map((language) => WritingClient.start({ language, ...at })));
    clients.push(...started);
    await Promise.all(started.map((client) => client.more(20)));
    return started;
  }

  /** All of them write, also after each connection to each member was cut. Only `others` may have had a failure. */
  async function goOn(those: readonly WritingClient[], others: readonly WritingClient[] = []): Promise<void> {
    for (const proxy of proxies) {
      proxy.cut();
      await Promise.all([...those, ...others].map((client) => client.more(20)));
    }
    await haveNotFailed(those);
  }

  async function haveNotFailed(those: readonly WritingClient[]): Promise<void> {
    for (const client of those)
      expect({ of: client.name, failures: await client.failures() }).toEqual({ of: client.name, failures: [] });
  }

  /** Their connections have been cut. */
  const areBroken = (those: readonly WritingClient[]) => Promise.all(those.map((client) => client.isBroken()));

  /** Ends all clients: every acknowledged key is there. */
  async function keepEveryWrite(): Promise<void> {
    const summaries = await Promise.all(clients.map(async (client) => ({ client, summary: await client.stop() })));
    const pair = { cert: mounted.path('client', 'tls.crt'), key: mounted.path('client', 'tls.key') };
    const tls = { ca: mounted.path('client', 'ca.crt'), client: pair, server: pair };
    const etcd = new EtcdClient(etcdOf(minor), [members[1]!.clientUrl], tls);
    const keys = await etcd.etcdctl('get', '--prefix', '', '--keys-only');
    const stored = new Set(keys.split('\n').filter(Boolean));
    for (const { client, summary } of summaries) {
      console.info(`${client.name}: ${JSON.stringify(summary)}`);
      const lost = (await client.acknowledged(summary)).filter((key) => !stored.has(key));
      expect({ of: client.name, lost }).toEqual({ of: client.name, lost: [] });
    }
  }

  /** What the reconciler writes next, and the kubelets mount. `isLoaded`: whether each member has loaded the roots on its disk. */
  async function follow(isLoaded: readonly boolean[], before: Parameters<Mounted['report']>[1]): Promise<string[]> {
    const reports = isLoaded.map((each, i) => mounted.report(i, each ? undefined : before));
    mounted.secrets.members = known(await Promise.all(reports));
    const written = (await mounted.secrets.settle()).map((line) => line.split(':')[0]!);
    await mounted.mount();
    return written;
  }

  test('leaves renewed and intermediates rotated: nobody fails before its certificate expires', async () => {
    const reading = await start('all');
    const others = [...(await start('none')), ...(await start('certificate', undefined, ['go']))];
    for (const leaf of leaves) mounted.secrets.empty(leaf);
    await mounted.secrets.settle();
    await mounted.mount();
    await goOn([...reading, ...others]);
    mounted.rotate('once');
    await mounted.secrets.settle();
    await mounted.mount();
    await goOn([...reading, ...others]);
    await keepEveryWrite();
  });

  test('a certificate expires: who has not read the next one fails', async () => {
    const { secrets } = mounted;
    const issuer = { cert: secrets.text('clients', 'tls.crt'), key: secrets.text('clients', 'tls.key') };
    const end = Date.now() + 40_000;
    const { cert, key } = await issueLeaf(secrets.spec.shapes.client, issuer, end - lifetimes.leaf);
    const [short, next] = [join(root, 'short'), join(root, 'next')];
    await mkdir(join(root, 'short-1'));
    const files = { 'ca.crt': secrets.text('clients', 'root.crt'), 'tls.crt': cert + issuer.cert, 'tls.key': key };
    for (const [name, text] of Object.entries(files)) await writeFile(join(root, 'short-1', name), text);
    await symlink(join(root, 'short-1'), short);
    const [reading, never] = await Promise.all([start('all', short), start('none', short)]);
    expect(Date.now()).toBeLessThan(end);
    await haveNotFailed([...reading, ...never]);
    await cp(join(root, 'client'), join(root, 'short-2'), { recursive: true, dereference: true });
    await symlink(join(root, 'short-2'), next);
    await rename(next, short);
    await sleep(end + 1_500 - Date.now());
    await goOn(reading);
    await areBroken(never);
    await keepEveryWrite();
  });

  test('both roots replaced: who reads all files goes on; who reads none fails once the members have restarted', async () => {
    const reading = await start('all');
    const [never, certificate] = [await start('none'), await start('certificate', undefined, ['go'])];
    const [peer, server, client] = await Promise.all(leaves.map((leaf) => mounted.files(leaf)));
    const before = { peer: peer!, server: server!, client: client! };
    const none = [false, false, false];
    const everyone = [...reading, ...never, ...certificate];
    mounted.change({ rootRotation: 'once' });
    expect(await follow(none, before)).toContain('nextRoot clients');
    await goOn(everyone);
    mounted.secrets.now += lifetimes.clients;
    expect(await follow(none, before)).toEqual(['trust peer', 'trust server', 'trust client']);
    mounted.secrets.now = Date.now();
    await goOn(everyone);
    for (const [i, member] of members.entries()) {
      expect(await asked(`${member.clientUrl}/version`, before.client)).toBe(200);
      await member.stop();
      await member.start();
      await expect(asked(`${member.clientUrl}/version`, before.client, false)).rejects.toThrow();
      // Who has read nothing finds a member that has not restarted yet.
      if (i < 2) await goOn([...reading, ...certificate], never);
      await follow(
        none.map((_, each) => each <= i),
        before,
      );
    }
    await goOn([...reading, ...certificate]);
    await areBroken(never);
    // The next renewal is without the cross certificate.
    for (const leaf of leaves) mounted.secrets.empty(leaf);
    await follow([true, true, true], before);
    await goOn(reading);
    await areBroken(certificate);
    await keepEveryWrite();
  });

  test('earlier intermediates revoked: who reads its files again goes on, the others fail with the list', async () => {
    const reading = await start('all');
    const never = await start('none');
    const certificate = await start('certificate', undefined, ['go']);
    const loaded = [true, true, true];
    mounted.change({ intermediateRevocation: 'stolen' });
    expect(await follow(loaded, undefined)).toContain('intermediate clients');
    expect(await follow(loaded, undefined)).toEqual(['list peer']);
    await goOn([...reading, ...never, ...certificate]);
    mounted.secrets.now += lifetimes.revocation;
    expect(await follow(loaded, undefined)).toEqual(['list server']);
    mounted.secrets.now = Date.now();
    await goOn([...reading, ...certificate]);
    await areBroken(never);
    await keepEveryWrite();
  });
});
