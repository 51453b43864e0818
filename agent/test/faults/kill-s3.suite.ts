import { sample } from '../backup/extent.ts';
import type { AgentResult } from '../harness/agent.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { HoldProxy, type Match, type ProxiedRequest } from '../harness/proxies/hold-proxy.ts';
import { Versitygw } from '../harness/versitygw.ts';
import { BucketPlace } from './bucket-place.ts';
import {
  backup,
  CLUSTER,
  command,
  expectFailure,
  expectOnly,
  nextSecond,
  payloadsAlone,
  STOPPED,
  start,
  succeed,
  untilOld,
  wholeSnapshots,
} from './commands.ts';
import { forEach } from './for-each.ts';
import { copyAll } from './place.ts';

const MIB = 1024 * 1024;
const DEAD = 'etcd-snapshot-20260101-000000-dead00';

let etcd: EtcdCluster;
let server: Versitygw;
/** Three snapshots of the cluster while it was small. */
let past: BucketPlace;
/** Their ids, newest first. */
let ids: string[];

beforeAll(async () => {
  [etcd, server] = await Promise.all([EtcdCluster.start(), Versitygw.start()]);
  past = await BucketPlace.make(server);
  await etcd.put(50);
  for (let n = 0; n < 3; n++) await succeed(backup(etcd, past.store));
  ids = await wholeSnapshots(past);
  // Three parts of the default size.
  await etcd.put(14, { prefix: 'large-', valueSize: MIB });
});
afterAll(async () => {
  await past?.[Symbol.asyncDispose]();
  await Promise.all([etcd?.stop(), server?.stop()]);
});

interface Case {
  readonly snapshots: number;
  args(store: string): string[];
  prepare?(place: BucketPlace): Promise<void>;
}

const cases: Record<string, Case> = {
  backup: {
    snapshots: 2,
    args: (store) => backup(etcd, store, '--retention', 'last=2', '--compression', 'none'),
  },
  prune: {
    snapshots: 3,
    args: (store) => command('prune', store, '--retention', 'last=1', '--sweep-age', '1ms'),
    async prepare(place) {
      await place.put(`${CLUSTER}/${DEAD}.db.zst`, Buffer.from('the rest of a dead run'));
      // Retention was deleting it.
      await place.put(`${CLUSTER}/${DEAD}.deleting`, Buffer.alloc(0));
      await place.beginUpload(`${CLUSTER}/${DEAD}.db`);
      await untilOld();
    },
  },
};

interface Kill {
  readonly request: ProxiedRequest;
  readonly match: number;
  readonly when: 'before' | 'after';
  /** Requests that the server had executed by then in a healthy run. */
  readonly done: readonly ProxiedRequest[];
}

const isRead = ({ method }: ProxiedRequest) => method === 'GET' || method === 'HEAD';
const isCreate = ({ method, path }: ProxiedRequest) => method === 'POST' && path.endsWith('?uploads=');
const isComplete = ({ method, path }: ProxiedRequest) => method === 'POST' && path.includes('?uploadId=');
const isPutManifest = ({ method, path }: ProxiedRequest) => method === 'PUT' && path.includes('.json');
const deletes = ({ method, path }: ProxiedRequest, id: string, suffix: string) =>
  method === 'DELETE' && path.includes(`${id}${suffix}?`);

async function prepared({ snapshots, prepare }: Case): Promise<BucketPlace> {
  const place = await BucketPlace.make(server);
  await copyAll(past, place, (key) => ids.slice(0, snapshots).some((id) => key.includes(id)));
  await prepare?.(place);
  return place;
}

async function allKills(one: Case): Promise<Kill[]> {
  await using place = await prepared(one);
  await using proxy = await HoldProxy.start(server.endpoint);
  await succeed(one.args(place.through(proxy.endpoint)));
  const { requests } = proxy;
  return requests.flatMap((request) => [
    { request, match: request.n, when: 'before' as const, done: requests.slice(0, request.n - 1) },
    { request, match: request.n, when: 'after' as const, done: requests.slice(0, request.n) },
  ]);
}

async function kill(
  args: (store: string) => string[],
  { match, when }: { match: Match; when: Kill['when'] },
  place: BucketPlace,
  signal: NodeJS.Signals,
) {
  await using proxy = await HoldProxy.start(server.endpoint);
  if (when === 'before') proxy.holdBefore(match);
  else proxy.holdAfter(match);
  const agent = start(args(place.through(proxy.endpoint)));
  const ended = agent.finished.then(({ code, stderr }) => {
    throw new Error(`it ended with ${code} before it was killed:\n${stderr}`);
  });
  await Promise.race([proxy.held, ended]);
  ended.catch(() => {});
  const since = performance.now();
  const result = await agent.kill(signal);
  await proxy.release();
  return { ...result, seconds: (performance.now() - since) / 1000 };
}

/** Expects that exactly the snapshots with a manifest are listed and complete. Returns them, newest first. */
async function expectWhole(one: Case, { done }: Kill, place: BucketPlace): Promise<string[]> {
  const listed = await wholeSnapshots(place);
  const left = ids.slice(0, one.snapshots).filter((id) => !done.some((request) => deletes(request, id, '.json')));
  expect(listed.filter((id) => ids.includes(id))).toEqual(left);
  expect(listed.filter((id) => !ids.includes(id))).toHaveLength(done.some(isPutManifest) ? 1 : 0);
  return listed;
}

async function expectSwept(place: BucketPlace, listed: readonly string[]): Promise<void> {
  const flags = ['--retention', 'last=2', '--sweep-age', '1ms', '--compression', 'none'];
  const { snapshot } = await succeed(backup(etcd, place.store, ...flags));
  await expectOnly(place, [snapshot.id, ...listed.slice(0, 1)]);
}

/** Expects that a run that receives SIGTERM removes every upload that it knows of. */
async function expectTidy(
  { request, when, done }: Kill,
  place: BucketPlace,
  result: AgentResult & { seconds: number },
) {
  expectFailure(result, 143, STOPPED);
  expect(result.seconds).toBeLessThan(20);
  const ours = (key: string) => !key.includes(DEAD);
  // Without the server's answer the id of the upload is unknown; it is empty.
  const unheard = isCreate(request) && when === 'after';
  expect((await place.unfinished()).filter(ours)).toHaveLength(unheard ? 1 : 0);
  // It is unknown whether the commit succeeded, so the payload stays.
  const uncertain = (isComplete(request) && when === 'after') || (isPutManifest(request) && when === 'before');
  const alone = (await payloadsAlone(place)).filter(ours);
  expect(alone.filter((id) => !ids.includes(id))).toHaveLength(uncertain ? 1 : 0);
  const half = (id: string) =>
    done.some((each) => deletes(each, id, '.json')) && !done.some((each) => deletes(each, id, '.db.zst'));
  expect(alone.filter((id) => ids.includes(id))).toEqual(ids.filter(half));
}

const nameOf = ({ request, when }: Kill) => `${when} ${request.n} ${request.method} ${request.path}`;

describe.each(Object.keys(cases))('%s to S3, at each request, before the server has it and before we hear', (name) => {
  const one = cases[name]!;
  let kills: Kill[];
  beforeAll(async () => {
    kills = await allKills(one);
  });

  test('the healthy run makes every request that can be interrupted', () => {
    const requests = new Set(kills.map(({ request }) => request));
    const count = (matches: (request: ProxiedRequest) => boolean) => [...requests].filter(matches).length;
    if (name === 'backup') {
      expect([isCreate, isComplete, isPutManifest].map(count)).toEqual([1, 1, 1]);
      expect(count(({ path }) => path.includes('partNumber='))).toBeGreaterThan(1);
    }
    expect(count(({ method }) => method === 'DELETE')).toBeGreaterThanOrEqual(2);
  });

  test('kill -9', () => {
    // A read changes nothing: a kill after it equals a kill before the next request.
    const different = kills.filter(({ request, when }) => when === 'before' || !isRead(request));
    return forEach(sample(different), nameOf, async (at) => {
      await using place = await prepared(one);
      expect((await kill(one.args, at, place, 'SIGKILL')).signal).toBe('SIGKILL');
      const old = untilOld();
      const listed = await expectWhole(one, at, place);
      await old;
      await expectSwept(place, listed);
    });
  });

  test('SIGTERM', () =>
    forEach(sample(kills), nameOf, async (at) => {
      await using place = await prepared(one);
      const result = await kill(one.args, at, place, 'SIGTERM');
      const old = untilOld();
      await expectTidy(at, place, result);
      const listed = await expectWhole(one, at, place);
      await old;
      await expectSwept(place, listed);
    }));
});

describe('a payload that goes in one request', () => {
  let small: EtcdCluster;
  beforeAll(async () => {
    small = await EtcdCluster.start();
    await small.put(50);
  });
  afterAll(() => small?.stop());

  const match = ({ method, path }: ProxiedRequest) => method === 'PUT' && path.includes('.db');
  const moments = (['before', 'after'] as const).flatMap((when) =>
    (['SIGKILL', 'SIGTERM'] as const).map((signal) => [signal, when] as const),
  );

  test.each(moments)('%s %s the server has it', async (signal, when) => {
    await using place = await BucketPlace.make(server);
    const args = (store: string) => backup(small, store);
    // Only snapshots before and after it prove that a leftover is not needed.
    const before = await succeed(args(place.store));
    await nextSecond();
    const result = await kill(args, { match, when }, place, signal);
    if (signal === 'SIGTERM') expectFailure(result, 143, STOPPED);
    expect(await wholeSnapshots(place)).toEqual([before.snapshot.id]);
    // Without the server's answer its existence is unknown.
    expect(await payloadsAlone(place)).toHaveLength(when === 'after' ? 1 : 0);
    await untilOld();
    const { snapshot } = await succeed([...args(place.store), '--sweep-age', '1ms']);
    await expectOnly(place, [before.snapshot.id, snapshot.id]);
  });
});
