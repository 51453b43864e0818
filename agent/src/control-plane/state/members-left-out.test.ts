import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { errorLike } from '../../../test/support/error-like.ts';
import { blocksRestore, type LeftOut, leftOutNotes, leftOutOf, refuseAlive } from './members-left-out.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

interface Peer {
  readonly url: string;
  clusterId: string;
  members: readonly { name?: string; peerURLs: readonly string[]; isLearner?: boolean }[];
}

/** A server that answers like etcd's peer URL. */
async function peer(clusterId: string): Promise<Peer> {
  const server = createServer((_, response) => {
    response.setHeader('x-etcd-cluster-id', made.clusterId).end(JSON.stringify(made.members));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const made: Peer = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, clusterId, members: [] };
  return made;
}

const DEAD = 'http://localhost:1';
interface More {
  initialPeerUrls?: string[];
  clusterId?: string;
  source?: string;
  signal?: AbortSignal;
}
const find = (own: Peer, more: More = {}) =>
  leftOutOf({
    member: {
      dataDir: '/nowhere',
      listenPeerUrls: [own.url],
      initialPeerUrls: more.initialPeerUrls ?? [],
      peerTls: {},
    },
    manifest: { source: { clusterId: more.source ?? 'old' } as never, members: undefined },
    ofSnapshot: [{ name: 'cp1', peerUrls: [own.url] }],
    restored: [{ name: 'cp1', peerUrls: [own.url] }],
    ...(more.clusterId !== undefined && { clusterId: more.clusterId }),
    ...(more.signal && { signal: more.signal }),
  }).then(({ leftOut }) => leftOut);
const told = (found: readonly LeftOut[]) => found.map(({ name, isAlive }) => [name, isAlive]);

async function three() {
  const [own, late] = [await peer('old'), await peer('old')];
  const members = [
    { name: 'cp1', peerURLs: [own.url] },
    { name: 'cp2', peerURLs: [late.url], isLearner: true },
    { peerURLs: [DEAD] },
  ];
  own.members = members;
  late.members = members;
  return { own, late };
}

test('members that joined after the snapshot are found through members that answer', async () => {
  const { own } = await three();
  const found = await find(own);
  expect(told(found)).toEqual([
    ['cp2', true],
    ['', false],
  ]);
  expect(() => refuseAlive('snap', found)).toThrow(
    errorLike(/^cp2 \(127\.0\.0\.1\) is not a member .* serves the old one$/, {
      finding: { kind: 'leftOut', count: 1 },
    }),
  );
  expect(leftOutNotes(found)).toEqual([
    expect.stringMatching(/^cp2 .* serves the old one: the restore is refused/),
    expect.stringMatching(/^localhost .* does not answer: remove the manifests and data/),
  ]);
});

test('old data that cannot be read may list further members', async () => {
  const { own } = await three();
  const dataDir = await mkdtemp(join(tmpdir(), 'left-out-'));
  await mkdir(join(dataDir, 'member/snap/db'), { recursive: true });
  const found = await leftOutOf({
    member: { dataDir, listenPeerUrls: [own.url], initialPeerUrls: [], peerTls: {} },
    manifest: { source: { clusterId: 'old' } as never, members: undefined },
    ofSnapshot: [],
    restored: [{ name: 'cp1', peerUrls: [own.url] }],
  });
  expect(leftOutNotes(found.leftOut, found.unread).at(-1)).toMatch(/EISDIR.*members that joined after the snapshot/);
  await rm(dataDir, { recursive: true });
});

test('a member that lists this node serves its cluster, whatever the snapshot says', async () => {
  const { own, late } = await three();
  late.clusterId = 'restored before';
  servers[0]!.close();
  expect(told(await find(own, { initialPeerUrls: [late.url], source: 'unknown' }))).toContainEqual(['cp2', true]);
});

test('a member that joined the restored cluster is not left out, and an unrelated etcd does not count as alive', async () => {
  const { own, late } = await three();
  late.clusterId = 'new';
  expect(told(await find(own, { clusterId: 'new' }))).toEqual([['', false]]);
  late.clusterId = 'strange';
  late.members = [{ name: 'x', peerURLs: [late.url] }];
  expect(told(await find(own, { clusterId: 'new' })).find(([name]) => name === 'cp2')).toEqual(['cp2', false]);
  expect(leftOutNotes(await find(own, { clusterId: 'new' }))).toContainEqual(
    expect.stringMatching(/^cp2 .*; the etcd that answers there belongs to the cluster strange, .* left alone$/),
  );
});

test('an etcd that was restored alone from the same snapshot still has the name of a member', async () => {
  const { own, late } = await three();
  late.clusterId = 'restored alone';
  late.members = [{ name: 'cp2', peerURLs: [late.url] }];
  const found = await find(own, { clusterId: 'new' });
  expect(told(found)).toContainEqual(['cp2', true]);
  expect(() => refuseAlive('snap', found)).toThrow(/^cp2 /);
});

test('a restored member waits for an etcd with the name of a left-out member, not for an unrelated etcd at its address', () => {
  const url = 'http://b:2380';
  const isAsked = blocksRestore({
    leftOut: [{ name: 'cp2', peerUrls: [url], isAlive: false }],
    oldIds: ['old'],
    initialCluster: 'cp1=http://a:2380',
  });
  const answer = (name: string) => ({ url, clusterId: 'another', members: [{ name, peerUrls: [url] }] });
  expect(['cp2', 'x'].map((name) => isAsked(answer(name)))).toEqual([true, false]);
});

test("etcd's default name does not identify a member", async () => {
  const { own, late } = await three();
  own.members = [
    { name: 'cp1', peerURLs: [own.url] },
    { name: 'default', peerURLs: [late.url] },
  ];
  late.clusterId = 'strange';
  late.members = [{ name: 'default', peerURLs: [late.url] }];
  expect(told(await find(own, { clusterId: 'new' }))).toEqual([['default', false]]);
});

describe('a peer that names another URL in each answer', () => {
  async function endless(onAsked: (asked: number) => void = () => {}) {
    const own = await peer('old');
    let asked = 0;
    Object.defineProperty(own, 'members', {
      get: () => {
        onAsked(++asked);
        if (asked > 200) return [];
        return [{ name: `x${asked}`, peerURLs: [`${own.url}/${asked}`] }];
      },
    });
    return { own, asked: () => asked };
  }

  test('is queried a limited number of times', async () => {
    const { own, asked } = await endless();
    expect((await find(own)).length).toBeLessThan(40);
    expect(asked()).toBeLessThanOrEqual(32);
  });

  test('is not queried any more once the run is stopped', async () => {
    const stopped = new AbortController();
    const { own, asked } = await endless((count) => {
      if (count === 3) stopped.abort(new Error('stopped'));
    });
    await expect(find(own, { signal: stopped.signal })).rejects.toThrow('stopped');
    expect(asked()).toBe(3);
  });
});
