import { createHash } from 'node:crypto';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seal } from '../../../test/mutations/mutate.ts';
import { CrashingStore, Killed } from '../../../test/support/crashing-store.ts';
import { runHere } from '../../../test/support/in-process.ts';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import { unlessAborted } from '../../lib/limits/unless-aborted.ts';
import { createLog } from '../../lib/log.ts';
import { createProgress } from '../../lib/terminal/progress.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import type { CallOptions } from '../../store/store.ts';
import { readCatalog } from '../catalog/catalog.ts';
import { Folder } from '../catalog/folder.ts';
import { copySnapshot } from './copy.ts';

const cluster = 'orders';
const [old, middle, newest] = ['20261119', '20261120', '20261121'].map(
  (day) => `etcd-snapshot-${day}-020000-abc123`,
) as [string, string, string];

let root: string;
let from: string;
let to: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'copy-'));
  [from, to] = [join(root, 'from'), join(root, 'to')];
  for (const id of [old, middle, newest]) await put(from, id);
});
afterEach(() => rm(root, { recursive: true }));

async function put(place: string, id: string, content = id, changes: object = {}): Promise<void> {
  const snapshot = seal(Buffer.from(content));
  const [day = ''] = /\d{8}/.exec(id) ?? [];
  const createdAt = `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T02:00:00.000Z`;
  await mkdir(join(place, cluster), { recursive: true });
  await writeFile(join(place, cluster, `${id}.db`), snapshot);
  const manifest = manifestOf(snapshot, snapshot, { id, createdAt, object: { key: `${cluster}/${id}.db` } });
  await writeFile(join(place, cluster, `${id}.json`), JSON.stringify({ ...manifest, ...changes }));
}

const copy = (...more: string[]) =>
  runHere('copy', ...more, `--cluster=${cluster}`, `--store=file://${from}`, `--to=file://${to}`);
const files = async (place: string) => (await readdir(join(place, cluster)).catch(() => [])).sort();
const both = (id: string) => [`${id}.db`, `${id}.json`];

test('every verified snapshot is copied unchanged, newest first, and a second run does nothing', async () => {
  const first = await copy();
  expect(first).toMatchObject({ exitCode: 0, data: { copied: 3, there: 0 } });
  expect(first.data.snapshots.map(({ id }: { id: string }) => id)).toEqual([newest, middle, old]);
  expect(await files(to)).toEqual(await files(from));
  for (const name of (await files(from)).filter((each) => each.endsWith('.db'))) {
    expect(await readFile(join(to, cluster, name))).toEqual(await readFile(join(from, cluster, name)));
  }
  const before = await readFile(join(to, cluster, `${old}.json`), 'utf8');
  expect((await copy()).data).toMatchObject({ copied: 0, there: 3 });
  expect(await readFile(join(to, cluster, `${old}.json`), 'utf8')).toBe(before);
});

test('the copy is verified at the time of the copy, keeps unknown fields, and loses those of the old store', async () => {
  await put(from, newest, 'x', { later: { field: 1 } });
  const path = join(from, cluster, `${newest}.json`);
  const source = JSON.parse(await readFile(path, 'utf8'));
  await writeFile(path, JSON.stringify({ ...source, object: { ...source.object, etag: 'abc', parts: 2 } }));
  await copy(newest);
  const manifest = JSON.parse(await readFile(join(to, cluster, `${newest}.json`), 'utf8'));
  expect(manifest).toMatchObject({ id: newest, later: { field: 1 }, verified: { level: 'read' } });
  expect(Date.now() - Date.parse(manifest.verified.at)).toBeLessThan(600_000);
  expect(manifest.object).not.toHaveProperty('etag');
  expect(manifest.object).not.toHaveProperty('parts');
});

test('notes of restores from snapshots that are not copied go beside one of the same etcd, else they keep their names', async () => {
  const note = '{"schema":"cdk8s-etcd/restore/v1","id":"x","clusterId":"c1"}';
  await put(from, old, old, { verified: undefined });
  const alone = ['etcd-snapshot-20261101-020000-abc123.restored-c2.json', '.restored-c3.json'];
  for (const name of [`${old}.restored-c1.json`, `${old}.restored-c1-a1.json`, ...alone]) {
    await writeFile(join(from, cluster, name), note);
  }
  const found = [...alone, ...both(newest), `${newest}.restored-c1.json`, `${newest}.restored-c1-a1.json`];
  expect(await copy(middle)).toMatchObject({ exitCode: 0, data: { copied: 1 } });
  expect(await files(to)).toEqual(both(middle));
  for (const left of [1, 0]) {
    expect(await copy()).toMatchObject({ exitCode: 0, data: { copied: left } });
    expect(await files(to)).toEqual([...found, ...both(middle)].sort());
  }
});

test('notes of restores are copied also if no snapshot is', async () => {
  for (const id of [old, middle, newest]) await put(from, id, id, { verified: undefined });
  const note = `${old}.restored-c1.json`;
  await writeFile(join(from, cluster, note), '{"schema":"cdk8s-etcd/restore/v1","id":"x","clusterId":"c1"}');
  const why = expect.stringContaining('holds no verified snapshot of orders');
  expect(await copy()).toMatchObject({ exitCode: ExitCode.nothingThere, text: why });
  expect(await files(to)).toEqual([note]);
});

test('a note of a restore is copied once, wherever it lies at the target', async () => {
  await put(from, old, old, { verified: undefined });
  const notes = ['restored-c1.json', 'restored-c1-a1.json'];
  for (const name of notes) await writeFile(join(from, cluster, `${old}.${name}`), '{"id":"x","clusterId":"c1"}');
  const noted = async () => (await files(to)).filter((name) => name.includes('.restored-'));
  await copy();
  const first = notes.map((name) => `${newest}.${name}`).sort();
  expect(await noted()).toEqual(first);
  await put(from, 'etcd-snapshot-20261122-020000-abc123');
  expect(await copy()).toMatchObject({ exitCode: 0, data: { copied: 1 } });
  expect(await noted()).toEqual(first);
});

test('with --cluster-id only snapshots of that etcd and of its past are copied', async () => {
  const content = seal(Buffer.from(newest));
  const manifest = manifestOf(content, content, {
    ...{ id: newest, createdAt: '2026-11-21T02:00:00.000Z', source: { clusterId: 'd0' } },
  });
  await writeFile(join(from, cluster, `${newest}.json`), JSON.stringify(manifest));
  expect(await copy('--cluster-id=c0')).toMatchObject({ exitCode: 0, data: { copied: 2 } });
  expect(await files(to)).toEqual([...both(old), ...both(middle)].sort());
});

test.each(['/', '/.', '/orders', '/archive/'])(
  'a target that is the store, or looks like a namespace of it, is refused: %s',
  async (below) => {
    const args = ['copy', `--cluster=${cluster}`, `--store=file://${from}`, `--to=file://${from}${below}`];
    const text = expect.stringMatching(/^--to: (is the same store as|lies in) --store/);
    expect(await runHere(...args)).toMatchObject({ exitCode: ExitCode.usage, text });
    expect(await readdir(from)).toEqual([cluster]);
    expect(await files(from)).not.toContain(cluster);
  },
);

test('restore notes are copied, also later; pins and findings are not', async () => {
  const note = JSON.stringify({ schema: 'cdk8s-etcd/restore/v1', id: old, clusterId: 'c1' });
  await copy();
  const notes = [`${old}.restored-c1-a1.json`, `${old}.restored-c1.json`];
  for (const name of notes) await writeFile(join(from, cluster, name), note);
  await writeFile(join(from, cluster, `${old}.pin`), '');
  await copy();
  expect(await files(to)).toEqual([...both(old), ...notes, ...both(middle), ...both(newest)].sort());
});

describe('extra files', () => {
  const key = `${cluster}/${newest}.extra.tar.age`;
  const withExtra = async (content: string) => {
    const sha256 = createHash('sha256').update('extra').digest('hex');
    await put(from, newest, newest, { extra: { key, sizeBytes: 5, sha256, paths: ['/etc/pki'], recipients: [] } });
    await writeFile(join(from, key), content);
  };

  test('are copied', async () => {
    await withExtra('extra');
    expect(await copy(newest)).toMatchObject({ exitCode: 0, data: { copied: 1 } });
    expect(await readFile(join(to, key), 'utf8')).toBe('extra');
    expect(await files(to)).toHaveLength(3);
  });

  test('that are damaged or missing make the copy fail', async () => {
    await withExtra('exTra');
    expect(await copy(newest)).toMatchObject({ exitCode: ExitCode.verificationFailed, data: { failed: 1 } });
    expect(await files(to)).toEqual([]);
    await rm(join(from, key));
    expect(await copy(newest)).toMatchObject({ exitCode: ExitCode.verificationFailed, data: { failed: 1 } });
  });
});

async function damage(id: string): Promise<void> {
  const path = join(from, cluster, `${id}.db`);
  const bytes = await readFile(path);
  bytes[3]! ^= 1;
  await writeFile(path, bytes);
}

test('a damaged snapshot is not committed, and the others are copied', async () => {
  await damage(middle);
  const result = await copy();
  expect(result).toMatchObject({ exitCode: ExitCode.verificationFailed, data: { copied: 2, failed: 1 } });
  expect(result.data.snapshots[1]).toMatchObject({
    id: middle,
    outcome: 'failed',
    detail: expect.stringMatching(/sha256 differs/),
  });
  expect(await files(to)).toEqual([...both(old), ...both(newest)].sort());
});

test('a snapshot that verify found bad is not copied, even if it is named', async () => {
  const verification = {
    schema: 'cdk8s-etcd/verification/v1',
    id: old,
    level: 'open',
    outcome: 'failed',
    at: '2026-11-21T00:00:00Z',
    detail: 'torn',
    agent: { version: 'x' },
  };
  await writeFile(join(from, cluster, `${old}.verify.json`), JSON.stringify(verification));
  expect((await copy()).data).toMatchObject({ copied: 2 });
  expect(await copy(old)).toMatchObject({ exitCode: ExitCode.verificationFailed, data: { failed: 1 } });
  expect(await files(to)).not.toContain(`${old}.json`);
});

describe('a copy that is damaged at the target', () => {
  const path = () => join(to, cluster, `${middle}.db`);
  const verify = (...more: string[]) => runHere('verify', ...more, `--cluster=${cluster}`, `--store=file://${to}`);
  beforeEach(async () => {
    await copy();
    const bytes = await readFile(path());
    bytes[3]! ^= 1;
    await writeFile(path(), bytes);
    expect(await verify(middle)).toMatchObject({ exitCode: ExitCode.verificationFailed });
  });

  test('is replaced once verify has found it', async () => {
    expect(await copy()).toMatchObject({ exitCode: 0, data: { copied: 1, there: 2 } });
    expect(await files(to)).toEqual(await files(from));
    expect(await readFile(path())).toEqual(await readFile(join(from, cluster, `${middle}.db`)));
  });

  test('is replaced if its payload is missing', async () => {
    await rm(path());
    expect(await copy()).toMatchObject({ exitCode: 0, data: { copied: 1, there: 2 } });
    expect(await verify(middle)).toMatchObject({ exitCode: 0 });
  });

  test('is replaced if its payload was cut', async () => {
    await truncate(path(), 5);
    await rm(join(to, cluster, `${middle}.verify.json`));
    expect(await copy()).toMatchObject({ exitCode: 0, data: { copied: 1, there: 2 } });
    expect(await verify(middle)).toMatchObject({ exitCode: 0 });
  });

  test('stays as it is if the source is damaged too', async () => {
    await damage(middle);
    const before = await readFile(path());
    expect(await copy()).toMatchObject({ exitCode: ExitCode.verificationFailed, data: { there: 2, failed: 1 } });
    expect(await readFile(path())).toEqual(before);
    expect(await files(to)).toContain(`${middle}.verify.json`);
  });

  test('is reported if only its data are bad', async () => {
    const finding = join(to, cluster, `${middle}.verify.json`);
    const { damaged: _, ...rest } = JSON.parse(await readFile(finding, 'utf8'));
    await writeFile(finding, JSON.stringify({ ...rest, detail: 'hashes differ' }));
    expect(await copy()).toMatchObject({ exitCode: ExitCode.verificationFailed, data: { there: 2, failed: 1 } });
  });
});

test('a snapshot of the same name with other content is refused and stays', async () => {
  await put(to, middle, 'something else');
  const before = await readFile(join(to, cluster, `${middle}.db`));
  const copied = await copy();
  expect(copied).toMatchObject({ exitCode: ExitCode.refused, data: { copied: 2, refused: 1 } });
  const why = `file://${to} has another snapshot under the name ${middle}; find out which one is right, and move`;
  expect(JSON.stringify(copied.data)).toContain(why);
  expect(await readFile(join(to, cluster, `${middle}.db`))).toEqual(before);
});

test('a file with a user-defined name and without a manifest is not overwritten, unless its bytes are the same', async () => {
  const own = 'orders-20261122-0200';
  await put(from, own);
  await mkdir(join(to, cluster), { recursive: true });
  await writeFile(join(to, cluster, `${own}.db`), 'not ours');
  expect(await copy(own)).toMatchObject({ exitCode: ExitCode.refused });
  expect(await readFile(join(to, cluster, `${own}.db`), 'utf8')).toBe('not ours');
  await writeFile(join(to, cluster, `${own}.db`), await readFile(join(from, cluster, `${own}.db`)));
  expect(await copy(own)).toMatchObject({ exitCode: 0, data: { copied: 1 } });
});

test('mistakes are reported before anything is copied', async () => {
  expect(await copy(newest, 'no-such-id')).toMatchObject({
    exitCode: ExitCode.nothingThere,
    text: expect.stringMatching(/no-such-id/),
  });
  const common = ['copy', `--cluster=${cluster}`, `--store=file://${from}`];
  expect(await runHere(...common)).toMatchObject({
    exitCode: ExitCode.usage,
    text: expect.stringMatching(/^--to: name/),
  });
  expect(await runHere(...common, '--to=ftp://x')).toMatchObject({
    exitCode: ExitCode.usage,
    text: expect.stringMatching(/^--to: unknown scheme/),
  });
  expect(await runHere(...common, `--to=file://${from}`)).toMatchObject({
    exitCode: ExitCode.usage,
    text: expect.stringMatching(/is the same store as --store/),
  });
  expect(await runHere('copy', '--cluster=other', `--store=file://${from}`, `--to=file://${to}`)).toMatchObject({
    exitCode: ExitCode.nothingThere,
  });
  expect(await files(to)).toEqual([]);
});

describe('a payload at the target whose manifest was lost', () => {
  const key = (place: string, id: string) => join(place, cluster, `${id}.db`);
  beforeEach(async () => {
    await copy();
    await rm(join(to, cluster, `${middle}.json`));
  });

  test('gets its manifest if it is good, also if the source is damaged by now', async () => {
    const before = await readFile(key(to, middle));
    await damage(middle);
    expect(await copy()).toMatchObject({ exitCode: 0, data: { copied: 1, there: 2 } });
    expect(await readFile(key(to, middle))).toEqual(before);
    expect(await files(to)).toEqual(await files(from));
  });

  test('is replaced if it is not the same', async () => {
    await writeFile(key(to, middle), 'torn');
    expect(await copy()).toMatchObject({ exitCode: 0, data: { copied: 1, there: 2 } });
    expect(await readFile(key(to, middle))).toEqual(await readFile(key(from, middle)));
  });

  test('stays as it is if it cannot be replaced', async () => {
    await writeFile(key(to, middle), 'torn');
    await damage(middle);
    const before = await files(to);
    expect(await copy()).toMatchObject({ exitCode: ExitCode.verificationFailed, data: { there: 2, failed: 1 } });
    expect(await files(to)).toEqual(before);
    expect(await readFile(key(to, middle), 'utf8')).toBe('torn');
  });

  test('its extra files stay if those of the source are missing', async () => {
    const extra = `${cluster}/${middle}.extra.tar.age`;
    const sha256 = createHash('sha256').update('extra').digest('hex');
    await put(from, middle, middle, { extra: { key: extra, sizeBytes: 5, sha256, paths: ['/etc'], recipients: [] } });
    await writeFile(join(to, extra), 'torn');
    expect(await copy()).toMatchObject({ exitCode: ExitCode.verificationFailed, data: { there: 2, failed: 1 } });
    expect(await readFile(join(to, extra), 'utf8')).toBe('torn');
    await writeFile(join(to, extra), 'extra');
    expect(await copy()).toMatchObject({ exitCode: 0, data: { copied: 1, there: 2 } });
  });

  test.each(['good', 'torn'])('stays without the marker of a backup if the run is killed: %s', async (content) => {
    if (content === 'torn') await writeFile(key(to, middle), content);
    const healthy = join(root, 'healthy');
    await cp(to, healthy, { recursive: true });
    const steps = await attempt(healthy);
    expect(steps).toBeGreaterThan(2);
    for (let step = 1; step <= steps; step++) {
      const path = join(root, `to-${step}`);
      await cp(to, path, { recursive: true });
      await attempt(path, step).catch((error) => expect(error).toBeInstanceOf(Killed));
      const left = (await files(path)).filter((name) => name.startsWith(middle));
      expect([[`${middle}.db`], both(middle)]).toContainEqual(left);
    }
  });
});

describe('a payload that is deleted at the target before its manifest is written', () => {
  const original = FilesystemStore.prototype.put;
  afterEach(() => {
    FilesystemStore.prototype.put = original;
  });
  const deleting = (times: number) => {
    let left = times;
    FilesystemStore.prototype.put = async function (this: FilesystemStore, key, body, options) {
      const isIt = this.url.endsWith('/to') && key.endsWith(`${middle}.json`) && left-- > 0;
      if (isIt) await rm(join(to, cluster, `${middle}.db`));
      return original.call(this, key, body, options);
    };
  };

  test.each([
    ['new', async () => {}],
    [
      'there before',
      async () => {
        await copy();
        await rm(join(to, cluster, `${middle}.json`));
      },
    ],
  ])('is put again: %s', async (_, prepare) => {
    await prepare();
    deleting(1);
    expect(await copy(middle)).toMatchObject({ exitCode: 0, data: { copied: 1 } });
    expect((await files(to)).filter((name) => name.startsWith(middle))).toEqual(both(middle));
  });

  test('is not reported as copied if that happens again', async () => {
    deleting(2);
    expect(await copy()).toMatchObject({
      exitCode: ExitCode.verificationFailed,
      data: { copied: 2, failed: 1, error: expect.stringContaining('copy it again') },
    });
    expect(await files(to)).toEqual([...both(old), ...both(newest)].sort());
  });
});

test('two copies at once: what one has put and committed, the other does not delete when it fails', async () => {
  const { put: original } = FilesystemStore.prototype;
  let isFirst = true;
  FilesystemStore.prototype.put = async function (this: FilesystemStore, key, body, options) {
    if (!isFirst || !this.url.endsWith('/to') || !key.endsWith('.db')) return original.call(this, key, body, options);
    isFirst = false;
    expect(await copy(newest)).toMatchObject({ exitCode: 0, data: { copied: 1 } });
    await damage(newest);
    return original.call(this, key, body, options);
  };
  try {
    expect(await copy(newest)).toMatchObject({ data: { failed: 1 } });
  } finally {
    FilesystemStore.prototype.put = original;
  }
  expect(await files(to)).toEqual(both(newest));
});

describe('a source that does not give out everything', () => {
  const { get } = FilesystemStore.prototype;
  afterEach(() => {
    FilesystemStore.prototype.get = get;
  });
  const fails = (exitCode: ExitCode) => () => Promise.reject<never>(new AgentError(exitCode, '503'));
  const hangs = () => new Promise<never>(() => {});
  const withhold = (isAway: (key: string) => boolean, answer: () => Promise<never>) => {
    FilesystemStore.prototype.get = function (this: FilesystemStore, key, options) {
      return this.url.endsWith('/from') && isAway(key) ? answer() : get.call(this, key, options);
    };
  };
  const copyFast = (...more: string[]) => copy('--timeout=8s', ...more);

  describe.each([
    ['fails', fails(ExitCode.storeUnreachable), ExitCode.storeUnreachable],
    ['hangs', hangs, ExitCode.storeUnreachable],
    ['is refused', fails(ExitCode.storeRefused), ExitCode.storeRefused],
  ])('and %s', (_, answer, exitCode) => {
    const outcome = { id: newest, outcome: 'failed', detail: expect.stringContaining(newest) };
    const others = [...both(old), ...both(middle)].sort();

    test.each(['json', 'db'])(
      'the .%s of the newest: the others are copied, and the exit code says so',
      async (type) => {
        withhold((key) => key.endsWith(`${newest}.${type}`), answer);
        for (const ids of [[], [middle, newest, old]]) {
          const ran = await copyFast(...ids);
          expect(ran).toMatchObject({ exitCode, data: { failed: 1, error: expect.stringContaining(newest) } });
          expect(ran.data.snapshots).toContainEqual(expect.objectContaining(outcome));
          expect(await files(to)).toEqual(others);
        }
      },
    );

    test('a manifest whose snapshot the target has: nothing is left out', async () => {
      await copy();
      withhold((key) => key.endsWith(`${newest}.json`), answer);
      expect(await copyFast()).toMatchObject({ exitCode: 0, data: { copied: 0, there: 3 } });
    });
  });

  test('what is damaged as well decides the exit code', async () => {
    withhold((key) => key.endsWith(`${newest}.db`), fails(ExitCode.storeUnreachable));
    await damage(middle);
    expect(await copyFast()).toMatchObject({ exitCode: ExitCode.verificationFailed, data: { copied: 1, failed: 2 } });
  });

  test.each([
    ['fail', fails(ExitCode.storeUnreachable), '503'],
    ['hang', hangs, 'no sign of life for \\d s; .*'],
  ])('nothing more is asked of it after four in a row that %s', async (_, answer, why) => {
    const more = ['20261116', '20261117', '20261118'].map((day) => `etcd-snapshot-${day}-020000-abc123`);
    for (const id of more) await put(from, id);
    let asked = 0;
    withhold((key) => key.endsWith('.db') && ++asked > 0, answer);
    const { exitCode, text } = await copyFast();
    expect({ exitCode, asked }).toEqual({ exitCode: ExitCode.storeUnreachable, asked: 4 });
    expect(text).toMatch(new RegExp(`: ${why} \\(file:.* 0 copied, 0 already there, 4 failed, 0 refused\\)$`));
  });
});

describe('what another run does at the target meanwhile', () => {
  const original = FilesystemStore.prototype.put;
  afterEach(() => {
    FilesystemStore.prototype.put = original;
  });
  /** Runs once, before the target gets an object with this ending. */
  const beforePut = (ending: string, work: () => Promise<unknown>) => {
    let isDone = false;
    FilesystemStore.prototype.put = async function (this: FilesystemStore, key, body, options) {
      const isIt = !isDone && this.url.endsWith('/to') && key.endsWith(ending);
      isDone ||= isIt;
      if (isIt) await work();
      return original.call(this, key, body, options);
    };
  };
  const own = 'orders-20261122-0200';
  const at = (name: string) => join(to, cluster, name);
  const refusing = (detail: string) => ({
    exitCode: ExitCode.refused,
    data: { copied: 0, refused: 1, snapshots: [{ detail: expect.stringContaining(detail) }] },
  });

  describe('a backup under the same user-defined name', () => {
    beforeEach(() => put(from, own));

    test.each(['.db', '.json'])('that has ended before the %s is written keeps its snapshot', async (ending) => {
      beforePut(`${own}${ending}`, () => put(to, own, 'of the backup, and longer'));
      const ran = await copy(own);
      expect(ran).toMatchObject({ exitCode: ExitCode.refused, data: { copied: 0, refused: 1 } });
      const kept = JSON.parse(await readFile(at(`${own}.json`), 'utf8'));
      expect(kept.object.sizeBytes).toBe((await readFile(at(`${own}.db`))).length);
    });

    test('a JSON file of another program with the name of the manifest is not overwritten', async () => {
      await mkdir(join(to, cluster), { recursive: true });
      await writeFile(at(`${own}.json`), '{"schema":"other"}');
      expect(await copy(own)).toMatchObject(refusing(`has another file ${cluster}/${own}.json`));
      expect(await files(to)).toEqual([`${own}.json`]);
    });
  });

  test('another copy may commit the same snapshot first, and its manifest stays', async () => {
    let first = '';
    beforePut(`${newest}.json`, async () => {
      expect(await copy(newest)).toMatchObject({ exitCode: 0, data: { copied: 1 } });
      first = await readFile(at(`${newest}.json`), 'utf8');
    });
    expect(await copy(newest)).toMatchObject({ exitCode: 0, data: { copied: 1 } });
    expect(await readFile(at(`${newest}.json`), 'utf8')).toBe(first);
    expect(await files(to)).toEqual(both(newest));
  });

  describe('retention that is deleting the snapshot', () => {
    const marker = () => at(`${middle}.deleting`);
    const begin = () => writeFile(marker(), JSON.stringify({ payload: `${cluster}/${middle}.db` }));
    const why = /retention is deleting it there; run `copy` again after \d{4}-\d\d-\d\dT/;
    const refusal = {
      exitCode: ExitCode.refused,
      data: {
        refused: 1,
        snapshots: expect.arrayContaining([expect.objectContaining({ detail: expect.stringMatching(why) })]),
      },
    };

    test('is waited for', async () => {
      await copy();
      await begin();
      await rm(at(`${middle}.json`));
      const before = await files(to);
      expect(await copy()).toMatchObject(refusal);
      expect(await files(to)).toEqual(before);
    });

    test('leaves one that still has its manifest as it is: credentials that may not delete leave such markers', async () => {
      await copy();
      await begin();
      const before = await files(to);
      expect(await copy()).toMatchObject({ exitCode: 0, data: { there: 3 } });
      expect(await files(to)).toEqual(before);
    });

    test('is noticed also when it begins during the copy', async () => {
      await copy();
      await truncate(at(`${middle}.db`), 5);
      beforePut(`${middle}.db`, begin);
      expect(await copy()).toMatchObject(refusal);
    });

    test('has ended if the marker is an hour old', async () => {
      await copy();
      await begin();
      const old = new Date(Date.now() - 3_700_000);
      await utimes(marker(), old, old);
      await rm(at(`${middle}.json`));
      expect(await copy()).toMatchObject({ exitCode: 0, data: { copied: 1, there: 2 } });
      expect(await files(to)).toEqual(await files(from));
    });
  });

  describe('deletion of what was copied, or was there', () => {
    const failed = (id: string, why: string) => ({
      exitCode: ExitCode.storeUnreachable,
      data: {
        failed: 1,
        error: expect.stringContaining(`${id}: was ${why} at the target meanwhile; run \`copy\` again`),
        snapshots: expect.arrayContaining([expect.objectContaining({ id, outcome: 'failed' })]),
      },
    });

    test.each(['json', 'db'])('of the .%s of a copy is reported', async (type) => {
      beforePut(`${old}.json`, () => rm(at(`${newest}.${type}`)));
      const ran = await copy();
      expect(ran).toMatchObject(failed(newest, 'deleted'));
      expect(ran.data).toMatchObject({ copied: 2, there: 0 });
      expect(ran.log).toContainEqual(expect.stringContaining('was deleted at the target meanwhile'));
    });

    test('of one that was there is reported', async () => {
      await copy(newest, middle);
      beforePut(`${old}.json`, () => Promise.all(both(middle).map((name) => rm(at(name)))));
      const ran = await copy();
      expect(ran).toMatchObject(failed(middle, 'deleted'));
      expect(ran.data).toMatchObject({ copied: 1, there: 1 });
    });

    test('and a payload that is cut are reported', async () => {
      beforePut(`${old}.json`, () => truncate(at(`${newest}.db`), 5));
      expect(await copy()).toMatchObject(failed(newest, 'changed'));
    });
  });
});

describe('a target that refuses an object, or hangs with it', () => {
  const { put: putOf, get: getOf, delete: deleteOf } = FilesystemStore.prototype;
  afterEach(() => Object.assign(FilesystemStore.prototype, { put: putOf, get: getOf, delete: deleteOf }));
  const hangs = () => new Promise<never>(() => {});
  const fails = (exitCode: ExitCode, message: string) => () => Promise.reject<never>(new AgentError(exitCode, message));
  const { storeUnreachable, storeRefused } = ExitCode;
  let asked: string[];
  const withhold = (method: 'put' | 'get' | 'delete', isIt: (key: string) => boolean, answer: () => Promise<never>) => {
    asked = [];
    const original = FilesystemStore.prototype[method] as (...args: unknown[]) => unknown;
    FilesystemStore.prototype[method] = function (this: FilesystemStore, key: string, ...more: unknown[]) {
      if (!this.url.endsWith('/to') || !isIt(key)) return original.call(this, key, ...more) as never;
      asked.push(key);
      return unlessAborted(answer(), (more.at(-1) as CallOptions).signal) as never;
    };
  };
  const copyFast = (...more: string[]) => copy('--timeout=8s', ...more);
  const addMore = async () => {
    for (const day of [16, 17, 18]) await put(from, `etcd-snapshot-202611${day}-020000-abc123`);
  };

  describe.each([
    ['refuses', fails(storeRefused, 'denied'), storeRefused, () => 'denied'],
    ['fails', fails(storeUnreachable, '503'), storeUnreachable, () => '503'],
    ['hangs', hangs, storeUnreachable, (call: string) => `${call}: no sign of life for`],
  ])('%s', (_, answer, exitCode, why) => {
    test.each([
      ['put', 'db'],
      ['put', 'json'],
      ['put', 'taking'],
      ['get', 'db'],
    ] as const)('%s of the .%s of the newest: the others are copied', async (method, type) => {
      const key = `${cluster}/${newest}.${type}`;
      withhold(method, (each) => each === key, answer);
      const isMarker = type === 'taking' && exitCode === storeRefused;
      const ran = await copyFast();
      if (isMarker) return expect(ran).toMatchObject({ exitCode: 0, data: { copied: 3 } });
      expect(ran).toMatchObject({ exitCode, data: { copied: 2, failed: 1 } });
      expect(ran.data.snapshots[0]).toMatchObject({
        id: newest,
        outcome: 'failed',
        detail: expect.stringMatching(newest),
      });
      expect(ran.data.error).toContain(why(`${method} ${key}`));
      expect((await readCatalog(new Folder(new FilesystemStore({ path: to }), cluster))).map(({ id }) => id)).toEqual([
        middle,
        old,
      ]);
    });

    test('four in a row end the copy', async () => {
      await addMore();
      withhold('put', (key) => key.endsWith('.db'), answer);
      const { text, ...ran } = await copyFast();
      expect(ran).toMatchObject({ exitCode, data: { copied: 0, failed: 4 } });
      expect(asked).toHaveLength(4);
      expect(text).toMatch(/ 0 copied, 0 already there, 4 failed, 0 refused\)$/);
    });
  });

  test.each([
    'the volume is full; enlarge it',
    'its disk is full; give it more room',
    'the store is full; give it more room',
    'the quota is used up; raise it',
  ])('because %s: nothing more is tried', async (why) => {
    withhold('put', (key) => key.endsWith('.db'), fails(storeRefused, why));
    expect(await copy()).toMatchObject({ exitCode: storeRefused, text: expect.stringContaining(why) });
    expect(asked).toHaveLength(1);
  });

  test('for an unknown reason: the others are tried', async () => {
    const why = 'it gives no reason; check whether its disk or quota is full, and read its log';
    withhold('put', (key) => key.endsWith(`${newest}.db`), fails(storeRefused, why));
    expect(await copy()).toMatchObject({ exitCode: storeRefused, data: { copied: 2, failed: 1 } });
  });

  test('a marker that it does not delete: the snapshot is copied all the same', async () => {
    withhold('delete', (key) => key === `${cluster}/${newest}.taking`, hangs);
    expect(await copyFast()).toMatchObject({ exitCode: 0, data: { copied: 3, failed: 0 } });
  });

  test('a payload that is gone when it is read back fails alone', async () => {
    withhold('get', (key) => key.endsWith(`${newest}.db`), fails(ExitCode.nothingThere, 'has no db'));
    expect(await copy()).toMatchObject({ exitCode: storeUnreachable, data: { copied: 2, failed: 1 } });
  });

  test('the only snapshot is waited for, and the error names the call', async () => {
    const key = `${cluster}/${newest}.db`;
    withhold('put', (each) => each === key, hangs);
    const ran = await copy('--timeout=2s', newest);
    expect(ran).toMatchObject({
      exitCode: ExitCode.timedOut,
      text: expect.stringContaining(`waiting for \`put ${key}\``),
    });
  });
});

describe('a target with snapshots of another etcd', () => {
  const other = 'etcd-snapshot-20261101-020000-abc123';
  const ofOther = { source: { clusterId: 'd0', alarms: [] } };
  const warning = `orders has snapshots of another etcd (cluster id d0, newest ${other}), and those that are copied have the cluster id c0;`;
  beforeEach(() => put(to, other, other, ofOther));

  test('is warned of', async () => {
    for (const copied of [3, 0]) {
      const { exitCode, data, log } = await copy();
      expect({ exitCode, copied: data.copied, log }).toEqual({
        exitCode: 0,
        copied,
        log: [expect.stringContaining(warning)],
      });
    }
  });

  test.each([
    ['lineage', () => put(from, old, old, { cluster: { name: 'orders', lineage: ['d0'] } })],
    ['a note', () => writeFile(join(to, cluster, `${other}.restored-c0.json`), '{"id":"x","clusterId":"c0"}')],
  ])('that %s connects causes no warning, whichever are copied', async (_, connect) => {
    await connect();
    expect(await copy(newest)).toMatchObject({ exitCode: 0, log: [] });
    expect(await copy()).toMatchObject({ exitCode: 0, log: [] });
  });

  test('that is adopted, or is of another cluster, causes no warning', async () => {
    await put(to, other, other, { source: { clusterId: 'unknown', alarms: [] } });
    expect((await copy()).log).toEqual([]);
    await put(to, other, other, { ...ofOther, cluster: { name: 'users' } });
    expect((await copy()).log).toEqual([]);
  });
});

/** Copies to a target that is killed at this step. Returns the number of steps. */
async function attempt(path: string, diesAt?: number): Promise<number> {
  const entries = await readCatalog(new Folder(new FilesystemStore({ path: from }), cluster));
  const log = createLog(process.stderr);
  log.level = 'silent';
  const target = new CrashingStore(new FilesystemStore({ path }), diesAt);
  const there = await readCatalog(new Folder(target, cluster));
  const common = { folder: cluster, from: new FilesystemStore({ path: from }), to: target, there, log };
  const context = {
    ...common,
    progress: createProgress(log, { isTTY: false } as NodeJS.WriteStream),
    signal: new AbortController().signal,
  };
  for (const entry of entries) await copySnapshot(entry, context);
  return target.steps.length;
}

test('killed at any step, the target has no partial snapshot, and the next copy completes it', async () => {
  const steps = await attempt(join(root, 'healthy'));
  expect(steps).toBeGreaterThan(12);
  for (let step = 1; step <= steps; step++) {
    const path = join(root, `to-${step}`);
    await attempt(path, step).catch((error) => expect(error).toBeInstanceOf(Killed));
    const half = (await readCatalog(new Folder(new FilesystemStore({ path }), cluster))).filter(
      ({ problem }) => problem,
    );
    expect(half).toEqual([]);
    await attempt(path);
    expect(await files(path)).toEqual(await files(from));
  }
}, 180_000);
