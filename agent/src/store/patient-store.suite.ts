import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { keysOf, once, read, storeContract } from '../../test/support/store-contract.ts';
import { ExitCode } from '../lib/errors.ts';
import { Budget } from '../lib/limits/budget.ts';
import { unlessAborted } from '../lib/limits/unless-aborted.ts';
import { FilesystemStore } from './filesystem/filesystem-store.ts';
import { PatientStore } from './patient-store.ts';
import type { CallOptions, Store } from './store.ts';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'patient-store-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

describe('contract', () => {
  let store: Store;
  let files: FilesystemStore;
  beforeAll(() => {
    files = new FilesystemStore({ path: join(root, 'contract') });
    store = new PatientStore(files.url, async () => files, { idle: () => 10_000 });
  });
  const rests = async () =>
    (await readdir(join(root, 'contract'), { recursive: true }).catch(() => [])).filter((name) =>
      name.endsWith('.part'),
    );
  storeContract(() => ({ store, rests }), 50);
});

const hang = () => new Promise<never>(() => {});
const hangingList = async function* (): AsyncGenerator<never> {
  yield await hang();
};
const abandoned = {
  exitCode: ExitCode.storeUnreachable,
  message: expect.stringMatching(/^file:.*: no sign of life for 0 s/),
};

/** A store of a directory with some calls replaced. */
function open(replaced: Partial<Store> = {}, opening: Promise<unknown> = Promise.resolve(), limit = 400): PatientStore {
  const files = new FilesystemStore({ path: join(root, 'files') });
  const store = Object.assign(Object.create(files) as Store, { url: files.url }, replaced);
  for (const name of ['put', 'get', 'list', 'stat', 'delete', 'sweep', 'now'] as const) {
    if (!replaced[name]) Object.assign(store, { [name]: files[name].bind(files) });
  }
  const ready = async () => {
    await opening;
    return store;
  };
  return new PatientStore(files.url, ready, { idle: () => limit });
}

test('a put does not wait for a body that is slow to close', async () => {
  const closed = Promise.withResolvers<void>();
  async function* body() {
    try {
      yield Buffer.from('x');
      yield Buffer.from('y');
    } finally {
      await closed.promise;
    }
  }
  const store = open({
    async put(_key, source) {
      const iterator = source[Symbol.asyncIterator]();
      await iterator.next();
      // Like an abort, which waits for nothing.
      void iterator.return?.();
      throw new Error('ended');
    },
  });
  await expect(store.put('a/x', body())).rejects.toThrow('ended');
  closed.resolve();
  await sleep(600);
  await expect(store.stat('a/x')).resolves.toBeUndefined();
});

test.each<[string, (store: Store) => Promise<unknown>]>([
  ['put', (store) => store.put('a/x', once('x'))],
  ['get', (store) => store.get('a/x')],
  ['list', (store) => keysOf(store, 'a/')],
  ['stat', (store) => store.stat('a/x')],
  ['delete', (store) => store.delete('a/x')],
  ['sweep', (store) => store.sweep('a/', 0)],
])('a %s that hangs is abandoned, and so is a hanging opening', async (name, call) => {
  const hung = name === 'list' ? hangingList : hang;
  await expect(call(open({ [name]: hung }))).rejects.toMatchObject(abandoned);
  await expect(call(open({}, hang()))).rejects.toMatchObject(abandoned);
});

test('a clock that hangs does not end the store, but a hanging opening does', async () => {
  const asked = Promise.withResolvers<Date>();
  const store = open({ now: () => asked.promise });
  const now = store.now();
  await sleep(600);
  await expect(store.stat('a/x')).resolves.toBeUndefined();
  asked.resolve(new Date(0));
  await expect(now).resolves.toEqual(new Date(0));
  await expect(open({}, hang()).now()).rejects.toMatchObject(abandoned);
});

test('an abandoned store stays abandoned: earlier and later calls fail at once', async () => {
  const asked: string[] = [];
  const now: Store['now'] = async () => {
    asked.push('now');
    return new Date();
  };
  const store = open({ stat: hang, sweep: hang, now });
  const startedAt = performance.now();
  const before = store.stat('x');
  await expect(store.sweep('a/', 0)).rejects.toMatchObject(abandoned);
  await expect(before).rejects.toMatchObject(abandoned);
  const calls = [store.now(), store.get('x'), store.put('x', once('x')), keysOf(store, 'a/'), store.stat('x')];
  for (const call of await Promise.allSettled(calls)) expect(call).toMatchObject({ reason: abandoned });
  expect(asked).toEqual([]);
  expect(performance.now() - startedAt).toBeLessThan(780);
});

test('the signal of the hanging call is aborted', async () => {
  const heard = Promise.withResolvers<unknown>();
  const stat: Store['stat'] = async (_, { signal } = {}) => {
    signal!.addEventListener('abort', () => heard.resolve(signal!.reason));
    return hang();
  };
  await expect(open({ stat }).stat('x')).rejects.toMatchObject(abandoned);
  expect(await heard.promise).toMatchObject(abandoned);
});

test('a stalled body is abandoned', async () => {
  const get: Store['get'] = async () =>
    (async function* () {
      yield Buffer.from('x');
      await hang();
    })();
  await expect(read(open({ get }), 'x')).rejects.toMatchObject(abandoned);
});

test('a put that stops reading is abandoned, and its source is released', async () => {
  let left = false;
  const body = (async function* (): AsyncGenerator<Uint8Array, void> {
    try {
      for (;;) yield Buffer.from('x');
    } finally {
      left = true;
    }
  })();
  const put: Store['put'] = async (_, taken) => {
    for await (const _ of taken) await hang();
    return {};
  };
  await expect(open({ put }).put('x', body)).rejects.toMatchObject(abandoned);
  await body.return(undefined);
  expect(left).toBe(true);
});

test("the caller's own time does not count", async () => {
  const slow = async function* () {
    for (const text of ['a', 'b']) {
      await sleep(2_000);
      yield Buffer.from(text);
    }
  };
  let stored = '';
  // In memory: on a busy machine a sync of a file alone may take longer than the limit.
  const store = open(
    {
      put: async (_key, body) => {
        for await (const chunk of body) stored += chunk;
        return {};
      },
      get: async () => once(stored.slice(0, 1), stored.slice(1)),
    },
    undefined,
    1_500,
  );
  await store.put('slow/x', slow());
  let text = '';
  for await (const chunk of await store.get('slow/x')) {
    await sleep(2_000);
    text += chunk;
  }
  expect(text).toBe('ab');
});

describe('the error of a run that has timed out', () => {
  const over = async (replaced: Partial<Store>, call: (store: Store, options: CallOptions) => Promise<unknown>) => {
    const budget = new Budget({ given: 200 });
    const files = new FilesystemStore({ path: join(root, 'files') });
    const inner = Object.assign(files, replaced);
    const store = new PatientStore('s3://slow', async () => inner, { budget });
    await unlessAborted(call(store, budget), budget.signal).catch(() => {});
    await ended(budget.signal);
    return budget.signal.reason.message;
  };
  const ended = (signal: AbortSignal) => unlessAborted(hang(), signal).catch(() => {});

  test('names the store and the call that it owes', async () => {
    expect(await over({ stat: hang }, (store, options) => store.stat('x', options))).toBe(
      's3://slow: not done after 0s, waiting for `stat x`',
    );
    const get = async () => hangingList();
    expect(await over({ get }, (store) => read(store, 'x'))).toBe('s3://slow: not done after 0s, waiting for `get x`');
  });

  test('names no store that waits for its caller, or has answered', async () => {
    expect(await over({}, (store, options) => store.put('x', hangingList(), options))).toBe('not done after 0s');
    expect(await over({}, (store, options) => store.stat('x', options))).toBe('not done after 0s');
  });
});
