import { readFile, writeFile } from 'node:fs/promises';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { HoldProxy, type ProxiedRequest } from '../harness/proxies/hold-proxy.ts';
import { Versitygw } from '../harness/versitygw.ts';
import { AlteringProxy, type Exchange, flipped } from './altering-proxy.ts';
import { BucketPlace } from './bucket-place.ts';
import {
  backup,
  command,
  expectFailure,
  expectOnly,
  payloadsAlone,
  run,
  start,
  succeed,
  untilOld,
  wholeSnapshots,
} from './commands.ts';
import { DirectoryPlace } from './directory-place.ts';
import { copyAll } from './place.ts';

const MIB = 1024 * 1024;

let etcd: EtcdCluster;
let server: Versitygw;
/** One snapshot, and its id. */
let past: BucketPlace;
let old: string;

beforeAll(async () => {
  [etcd, server] = await Promise.all([EtcdCluster.start(), Versitygw.start()]);
  past = await BucketPlace.make(server);
  await etcd.put(50);
  old = (await succeed(backup(etcd, past.store))).snapshot.id;
  // Three parts of the default size.
  await etcd.put(14, { prefix: 'large-', valueSize: MIB });
});
afterAll(async () => {
  await past?.[Symbol.asyncDispose]();
  await Promise.all([etcd?.stop(), server?.stop()]);
});

async function prepared(): Promise<BucketPlace> {
  const place = await BucketPlace.make(server);
  await copyAll(past, place);
  return place;
}

const args = (store: string, ...more: string[]) => backup(etcd, store, '--compression', 'none', ...more);

async function expectUntouched(place: BucketPlace): Promise<void> {
  await expectOnly(place, [old]);
  expect(await wholeSnapshots(place)).toEqual([old]);
}

/** Returns true the first time that it is called for a request. */
function firstOfEach(): (request: Exchange) => boolean {
  const seen = new Set<string>();
  return ({ method, path }) => {
    const request = `${method} ${path}`;
    return !seen.has(request) && Boolean(seen.add(request));
  };
}

const part = (n: number) => (request: Exchange) => request.path.includes(`partNumber=${n}&`);
const isPayload = ({ path }: Exchange) => /\.db\?/.test(path) && !path.includes(old);
const isReadBack = (request: Exchange) => request.method === 'GET' && isPayload(request);
const isStat = ({ method, path }: Exchange) => method === 'HEAD' && path.endsWith('.db');
const isManifest = ({ method, path }: Exchange) => method === 'PUT' && path.includes('.json');

describe('a server that fails', () => {
  test.each([500, 503, 429])('%i for everything: retried, then given up', async (status) => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    proxy.answer(() => true, { status });
    expectFailure(await run(args(place.through(proxy.endpoint))), 20, new RegExp(`\\(${status}\\)`));
    expect(proxy.requests.length).toBeGreaterThanOrEqual(3);
    await expectUntouched(place);
  });

  test.each([500, 503, 429])('%i for the first try of each request', async (status) => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    proxy.answer(firstOfEach(), { status });
    const { snapshot } = await succeed(args(place.through(proxy.endpoint)));
    await expectOnly(place, [snapshot.id, old]);
  });

  test.each<[string, (request: ProxiedRequest) => boolean]>([
    ['a part', part(2)],
    ['the end of the upload', ({ method, path }) => method === 'POST' && path.includes('?uploadId=')],
    ['the read-back', isReadBack],
  ])('500 for %s: nothing stays', async (_, matches) => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    proxy.answer(matches, { status: 500 });
    expectFailure(await run(args(place.through(proxy.endpoint))), 20, /\(500\)/);
    await expectUntouched(place);
  });

  test('500 for the manifest: not listed, and swept by the next run', async () => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    proxy.answer(isManifest, { status: 500 });
    expectFailure(await run(args(place.through(proxy.endpoint))), 20, /\(500\)/);
    expect(await wholeSnapshots(place)).toEqual([old]);
    expect(await payloadsAlone(place)).toHaveLength(1);
    await untilOld();
    const { snapshot } = await succeed(args(place.store, '--sweep-age', '1ms'));
    await expectOnly(place, [snapshot.id, old]);
  });

  test('500 for a deletion by retention: the snapshot counts, and the next run deletes', async () => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    proxy.answer(({ method }) => method === 'DELETE', { status: 500 });
    const { code, result } = await run(args(place.through(proxy.endpoint), '--retention', 'last=1'));
    expect(code).toBe(3);
    expect(result.stores[0]).toMatchObject({ verified: 'read', retentionError: expect.stringContaining('(500)') });
    expect(await wholeSnapshots(place)).toEqual([result.snapshot.id, old]);
    await untilOld();
    await succeed(command('prune', place.store, '--retention', 'last=1', '--sweep-age', '1ms'));
    await expectOnly(place, [result.snapshot.id]);
  });
});

describe('a server that refuses', () => {
  test('403 for a part: refused, and nothing remains', async () => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    proxy.answer(part(2), { status: 403 });
    expectFailure(await run(args(place.through(proxy.endpoint))), 21, /AccessDenied \(403\)/);
    await expectUntouched(place);
  });

  test('credentials that were rotated between two parts are read again', async () => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    const first = firstOfEach();
    proxy.answer((request) => part(2)(request) && first(request), { status: 403 });
    const { snapshot } = await succeed(args(place.through(proxy.endpoint)));
    await expectOnly(place, [snapshot.id, old]);
  });

  test('a store that is full', async () => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    const body = '<Error><Code>XMinioStorageFull</Code><Message>no room</Message></Error>';
    proxy.answer(part(3), { status: 507, body });
    expectFailure(await run(args(place.through(proxy.endpoint))), 21, /the store is full/);
    await expectUntouched(place);
  });
});

describe('a connection that ends', () => {
  test('in the middle of each body, once', async () => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    const first = firstOfEach();
    proxy.cutRequest((request) => request.method === 'PUT' && first(request), 1_000_000);
    const { snapshot } = await succeed(args(place.through(proxy.endpoint)));
    await expectOnly(place, [snapshot.id, old]);
  });

  test('in the middle of a part, each time', async () => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    proxy.cutRequest(part(2), 1_000_000);
    expectFailure(await run(args(place.through(proxy.endpoint))), 20, /UploadPart 2 .* cannot reach/);
    await expectUntouched(place);
  });

  test('in the middle of the read-back', async () => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    proxy.cutResponse(isReadBack, 5 * MIB);
    expectFailure(await run(args(place.through(proxy.endpoint))), 20, /GetObject/);
    await expectUntouched(place);
  });

  test('after the server has executed the request, once for each request', async () => {
    await using place = await prepared();
    await using proxy = await AlteringProxy.start(server.endpoint);
    const lost = firstOfEach();
    proxy.answer = (request, body) => (lost(request) ? undefined : body);
    const { snapshot } = await succeed(args(place.through(proxy.endpoint)));
    expect(await wholeSnapshots(place)).toEqual([snapshot.id, old]);
    await untilOld();
    const next = await succeed(args(place.store, '--sweep-age', '1ms'));
    await expectOnly(place, [next.snapshot.id, snapshot.id, old]);
  });

  test('permanently between upload and read-back', async () => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    proxy.holdBefore(isStat);
    const agent = start(args(place.through(proxy.endpoint)));
    await proxy.held;
    await proxy.stop();
    expectFailure(await agent.finished, 20, /cannot reach/);
    expect(await wholeSnapshots(place)).toEqual([old]);
    await untilOld();
    const { snapshot } = await succeed(args(place.store, '--sweep-age', '1ms'));
    await expectOnly(place, [snapshot.id, old]);
  });
});

describe('bytes that differ from those that were sent', () => {
  test.each<[string, Record<string, string>]>([
    ['its length', { 'content-length': '5' }],
    ['no length', {}],
  ])('a short body with status 200 and %s', async (_, headers) => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    proxy.answer(isReadBack, { status: 200, body: 'short', headers });
    expectFailure(await run(args(place.through(proxy.endpoint))), 30, /returned 5 bytes, not \d+/);
    await expectUntouched(place);
  });

  test('a bit that flips on the way out', async () => {
    await using place = await prepared();
    await using proxy = await AlteringProxy.start(server.endpoint);
    proxy.answer = (request, body) => (isReadBack(request) ? flipped(body) : body);
    expectFailure(await run(args(place.through(proxy.endpoint))), 30, /sha256 differs/);
    await expectUntouched(place);
  });

  test('a bit that flips in the store', async () => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    proxy.holdBefore(isStat);
    const agent = start(args(place.through(proxy.endpoint)));
    const [, key] = /(orders\/.*)/.exec((await proxy.held).path)!;
    await writeFile(place.fileOf(key!), flipped(await readFile(place.fileOf(key!))));
    await proxy.release();
    expectFailure(await agent.finished, 30, /sha256 differs/);
    await expectUntouched(place);
  });

  test('a bit that flips on the way in: the server reports it, and the next run may succeed', async () => {
    await using place = await prepared();
    await using proxy = await AlteringProxy.start(server.endpoint);
    proxy.request = (request, body) => (part(2)(request) ? flipped(body) : body);
    expectFailure(await run(args(place.through(proxy.endpoint))), 20, /damaged on its way/);
    await expectUntouched(place);
  });
});

describe('a server that stalls', () => {
  test.each<[string, (request: ProxiedRequest) => boolean]>([
    ['the first list', ({ n }) => n === 1],
    ['a part', part(2)],
    ['the read-back', isReadBack],
  ])('--timeout in %s: cleaned up', async (_, matches) => {
    // A busy machine may not be there after 2 s. What the time-out meets instead, such as a write, may then be carried out late.
    for (let seconds = 2, isThere = false; !isThere; seconds *= 2) {
      await using place = await prepared();
      await using proxy = await HoldProxy.start(server.endpoint);
      proxy.holdBefore(matches);
      const held = proxy.held.then(() => true);
      const ended = await run(args(place.through(proxy.endpoint), '--timeout', `${seconds}s`));
      expectFailure(ended, 50, new RegExp(`not done after ${seconds}s`));
      isThere = await Promise.race([held, false]);
      if (isThere) await expectUntouched(place);
    }
  });

  test('permanently, when the run is stopped: it ends within 20 s, and the next run sweeps', async () => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    let stalled = false;
    proxy.holdBefore((request) => {
      stalled ||= part(2)(request);
      return stalled;
    });
    const agent = start(args(place.through(proxy.endpoint)));
    await proxy.held;
    const since = performance.now();
    expectFailure(await agent.kill('SIGTERM'), 143, /stopped by SIGTERM/);
    expect(performance.now() - since).toBeLessThan(20_000);
    await proxy.stop();
    expect(await wholeSnapshots(place)).toEqual([old]);
    const { snapshot } = await succeed(args(place.store, '--sweep-age', '1ms'));
    await expectOnly(place, [snapshot.id, old]);
  });

  test.each<[string, string[]]>([
    ['prune', ['--retention', 'last=1']],
    ['verify', []],
    ['restore fetch', ['--to', 'x.db']],
    ['restore data-dir', ['--data-dir', 'x']],
  ])('--timeout of %s', async (name, flags) => {
    await using place = await prepared();
    await using proxy = await HoldProxy.start(server.endpoint);
    proxy.holdBefore(1);
    const stalled = command(name, place.through(proxy.endpoint), ...flags, '--timeout', '1s');
    expectFailure(await run(stalled), 50, /not done after 1s/);
  });
});

test('one of two stores fails: partial, and the other has it', async () => {
  await using place = await prepared();
  await using other = await DirectoryPlace.make();
  await using proxy = await HoldProxy.start(server.endpoint);
  proxy.answer(part(2), { status: 500 });
  const { code, result } = await run(args(place.through(proxy.endpoint), '--store', other.store));
  expect(code).toBe(3);
  expect(result.stores).toMatchObject([{ exitCode: 20, error: expect.any(String) }, { verified: 'read' }]);
  await expectUntouched(place);
  expect(await wholeSnapshots(other)).toEqual([result.snapshot.id]);
});
