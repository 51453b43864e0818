import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { type AdoptContext, findAdoptable } from '../../src/backup/adopt/adopt.ts';
import { type Entry, readCatalog } from '../../src/backup/catalog/catalog.ts';
import { Folder as StoreFolder } from '../../src/backup/catalog/folder.ts';
import { folderOf, type NamedCluster } from '../../src/backup/catalog/identity/folder.ts';
import type { SnapshotManifest } from '../../src/backup/catalog/manifest.ts';
import { differences, MARKER, readMarker } from '../../src/backup/restore/restore-marker.ts';
import type { Origin, StoreRequest } from '../../src/backup/take/request.ts';
import { takeSnapshot } from '../../src/backup/take/take.ts';
import { advising, said, told } from '../../src/commands/advice/advice.ts';
import { Etcdutl } from '../../src/etcd/offline/etcdutl.ts';
import { SnapshotCheck } from '../../src/etcd/snapshot-stream.ts';
import { AgentError } from '../../src/lib/errors.ts';
import { Budget } from '../../src/lib/limits/budget.ts';
import { FilesystemStore } from '../../src/store/filesystem/filesystem-store.ts';
import { seal } from '../mutations/mutate.ts';
import { type Ran, runHere } from '../support/in-process.ts';
import { copyFolder, folders, objectsIn, readGolden } from './copy-folder.ts';

const identities = join(import.meta.dirname, '../fuzz/corpus/age-identity/one');
/** Of a folder with more snapshots, a few are enough. */
const MANY = 20;
const policies = ['last=1 --force', 'last=2', 'daily=2 --force'];

/** Fields of results that are sentences for people: another wording is not another decision. */
const WORDS = new Set([
  'problem',
  'detail',
  'error',
  'why',
  'reasons',
  'verificationFailed',
  'warning',
  'veto',
  'note',
]);

/** Fields that are the same in every result, or not in two runs. */
const PLACES = new Set(['store', 'to', 'phases']);

type Words = { readonly of: string; readonly texts: string[] }[];

/** What the agent makes of one golden folder, and its words for it. */
export async function decide(name: string): Promise<{ readonly decisions: object; readonly words: string }> {
  const place = await mkdtemp(join(tmpdir(), 'golden-'));
  try {
    const folder = new Folder(name, place);
    await folder.reset();
    const { objectKeys = [], clusters = [] } = await readGolden(name);
    const all = await folder.run('list');
    const decisions: Record<string, object> = { list: folder.decided('list', all) };
    for (const { cluster, namespace } of [...all.data.clusters, ...clusters]) {
      const named = namespace === undefined ? { cluster } : { cluster, namespace };
      decisions[folderOf(named)] ??= await ofCluster(folder, named);
    }
    const restored = await restoredIn(name, place);
    if (restored) decisions['data dir'] = restored;
    if (objectKeys.length > 0) decisions['object keys'] = await ofKeys(folder, objectKeys);
    const words = folder.words.map(({ of, texts }) => [`# ${of}`, ...texts, ''].join('\n')).join('\n');
    return { decisions, words: words.replaceAll(place, '/golden').replaceAll(identities, '/keys/age') };
  } finally {
    await rm(place, { recursive: true });
  }
}

class Folder {
  readonly name: string;
  readonly place: string;
  readonly words: Words = [];
  readonly #said = new Set<string>();
  #files = 0;

  constructor(name: string, place: string) {
    this.name = name;
    this.place = place;
  }

  get path(): string {
    return join(this.place, 'store');
  }

  /** Makes the store what it was. */
  async reset(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
    await copyFolder(this.name, this.path);
  }

  run(command: string, ...flags: string[]): Promise<Ran> {
    return runHere(...command.split(' '), ...flags, `--store=file://${this.path}`);
  }

  newFile(): string {
    return join(this.place, `file-${this.#files++}`);
  }

  /** The result without its words, which are kept with the log. */
  decided(of: string, { exitCode, data, log }: Pick<Ran, 'exitCode' | 'data' | 'log'>): object {
    const texts = [...log];
    const decisions = withoutWords(data, texts) as object;
    this.say(of, texts);
    return { exitCode, ...decisions };
  }

  /** Keeps what is said for the first time. */
  say(of: string, texts: readonly string[]): void {
    const fresh = [...new Set(texts)].filter((text) => !this.#said.has(text));
    for (const text of fresh) this.#said.add(text);
    if (fresh.length > 0) this.words.push({ of, texts: fresh });
  }

  /** Does the work, and returns the keys of the objects that it removed, and of those that are new. */
  async changes(work: () => Promise<unknown>) {
    const before = await objectsIn(this.path);
    await work();
    const after = await objectsIn(this.path);
    const removed = [...before.keys()].filter((key) => !after.has(key));
    const written = [...after.keys()].filter((key) => !before.has(key));
    return { removed, written };
  }
}

function withoutWords(value: unknown, texts: string[]): unknown {
  if (Array.isArray(value)) return value.map((each) => withoutWords(each, texts));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, each]) => {
      if (PLACES.has(name)) return [];
      if (!WORDS.has(name)) return [[name, withoutWords(each, texts)]];
      const id = 'id' in value ? `${value.id}: ` : '';
      texts.push(`${id}${Array.isArray(each) ? each.join(', ') : each}`);
      return [];
    }),
  );
}

async function ofCluster(folder: Folder, own: NamedCluster): Promise<object> {
  const { cluster, namespace = '' } = own;
  const flags = [`--cluster=${cluster}`, `--namespace=${namespace}`];
  const where = folderOf(own);
  const run = (command: string, ...more: string[]) => folder.run(command, ...flags, ...more);
  const decided = async (command: string, ...more: string[]) =>
    folder.decided(`${command} ${more.join(' ')} of ${where}`.replace('  ', ' '), await run(command, ...more));

  await folder.reset();
  const list = await run('list');
  const status = await decided('status', '--max-age=1000d');
  const ids = (await entriesOf(folder, own)).map(({ id }) => id);
  const others = [...(list.data.broken ?? []), ...(list.data.unfinished ?? []), ...(list.data.deleting ?? [])];
  const named = [...new Set([...ids, ...others.map(({ id }) => id)])];
  const fetch = await fetched(
    folder,
    flags,
    named.length > MANY ? [...named.slice(0, 2), ...named.slice(-2)] : named,
    where,
  );

  const isLarge = ids.length > MANY;
  const verify = await run('verify', '--level=read', ...(isLarge ? ['--subset=1/7'] : []));
  const findings = folder.decided(`verify of ${where}`, verify);
  const after = await run('list');

  const prune: Record<string, object> = {};
  for (const policy of isLarge ? policies.slice(1) : policies) {
    await folder.reset();
    const [rules, ...force] = policy.split(' ');
    const args = [`--retention=${rules}`, ...force];
    const pruned = async (...more: string[]) => {
      let ran: Ran | undefined;
      const { removed, written } = await folder.changes(async () => {
        ran = await run('prune', ...args, ...more);
      });
      folder.say(`prune ${policy} of ${where} ${more.join(' ')}`.trim(), [
        ...ran!.log,
        ...(ran!.data.error ? [ran!.data.error] : []),
        ...(more.length > 0 ? (ran!.data.snapshots ?? []).map(reasonsOf) : []),
      ]);
      const { exitCode, data } = ran!;
      const { deleted, deferred, retained } = data;
      return more.length > 0 ? { exitCode, deferred, deleted } : { exitCode, deferred, retained, removed, written };
    };
    prune[policy] = { 'would be': await pruned('--dry-run'), first: await pruned(), second: await pruned() };
  }

  await folder.reset();
  const adopt = await adoptable(folder, own);
  const copy = isLarge ? undefined : await copied(folder, flags, where);
  const backups: Record<string, object> = {};
  for (const clusterId of await runningIn(folder, own)) {
    await folder.reset();
    backups[`next backup of ${clusterId}`] = await nextBackup(folder, own, clusterId);
  }
  return {
    list: folder.decided(`list of ${where}`, list),
    status,
    fetch,
    verify: findings,
    'states after verify': statesOf(after),
    prune,
    adopt,
    copy,
    ...backups,
  };
}

const reasonsOf = ({ id, action, reasons }: { id: string; action: string; reasons: string[] }) =>
  `${id}: ${action}: ${reasons.join(', ')}`;

const statesOf = ({ data }: Ran) => ({
  ...Object.fromEntries((data.snapshots ?? []).map(({ id, state }: { id: string; state: string }) => [id, state])),
  ...Object.fromEntries((data.broken ?? []).map(({ id }: { id: string }) => [id, 'incomplete'])),
});

const storeOf = (folder: Folder) => new FilesystemStore({ path: folder.path });
const entriesOf = (folder: Folder, named: NamedCluster): Promise<Entry[]> =>
  readCatalog(new StoreFolder(storeOf(folder), folderOf(named)));

/** Which snapshot `restore fetch` writes, and which it refuses. */
async function fetched(folder: Folder, flags: readonly string[], ids: readonly string[], where: string) {
  const fetch = async (name: string, ...more: string[]) => {
    const ran = await folder.run(
      'restore fetch',
      ...more,
      ...flags,
      `--age-identity-file=${identities}`,
      `--to=${folder.newFile()}`,
    );
    folder.say(`restore fetch ${name} of ${where}`, [...ran.log, ...(ran.data.error ? [ran.data.error] : [])]);
    return ran.exitCode === 0 ? ran.data.id : ran.exitCode;
  };
  const byId: Record<string, string | number> = {};
  for (const id of ids) {
    const found = await fetch(id, id);
    byId[id] = found === id ? 'fetched' : found;
  }
  const days = new Set(ids.flatMap((id) => /-(2026\d{4})-/.exec(id)?.[1] ?? []));
  const before: Record<string, string | number> = {};
  for (const day of [...days].sort()) {
    const time = `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}T12:00:00Z`;
    before[time] = await fetch(`before ${time}`, `--latest-verified-before=${time}`);
  }
  return { latest: await fetch('latest'), before, 'by id': byId };
}

/** What a later run reads of the restore that the data directory came from, and whether it would restore again. */
async function restoredIn(name: string, place: string): Promise<object | undefined> {
  const file = join(folders, name, 'data-dir.json');
  if (!existsSync(file)) return undefined;
  await copyFile(file, join(place, MARKER));
  const marker = await readMarker(place).catch((error) => {
    if (!(error instanceof AgentError)) throw error;
    return error.exitCode;
  });
  if (typeof marker !== 'object') return { marker };
  const { id, sha256, name: member, initialCluster, initialAdvertisePeerUrls, initialClusterToken } = marker;
  const request = { dataDir: place, name: member, initialCluster, initialAdvertisePeerUrls, initialClusterToken };
  const named = { named: true, repeat: 'refuse' } as const;
  const { wal: _, at: __, ...read } = marker;
  return {
    ...read,
    'differs from the same request': differences(marker, { id, sha256 }, { ...request, ...named }).length > 0,
    'differs from another one': differences(marker, { id: 'other' }, { ...request, ...named }).length > 0,
  };
}

async function ofKeys(folder: Folder, keys: readonly string[]): Promise<object> {
  await folder.reset();
  const decisions: Record<string, object> = {};
  for (const key of keys) {
    const flags = ['--cluster=orders', '--namespace=prod', `--object-key=${key}`];
    const to = ['--to', folder.newFile(), `--age-identity-file=${identities}`];
    const fetch = await folder.run('restore fetch', ...flags, ...to);
    const verify = await folder.run('verify', '--level=read', ...flags);
    const texts = [fetch, verify].flatMap(({ log, data }) => [...log, ...(data.error ? [data.error] : [])]);
    folder.say(`object key ${key}`, texts);
    decisions[key] = { fetch: fetch.data.id ?? fetch.exitCode, verify: verify.exitCode };
  }
  return decisions;
}

/** What `adopt` would adopt. It would read the files with etcdutl first. */
async function adoptable(folder: Folder, named: NamedCluster): Promise<object> {
  const context: AdoptContext = {
    ...named,
    store: storeOf(folder),
    agentVersion: 'test',
    forceForeign: false,
    entries: await entriesOf(folder, named),
    warn: () => {},
    backupEnded: false,
    replacesIntact: false,
    scratch: folder.place,
    etcdutl: new Etcdutl('etcdutl'),
    identities: [],
    signal: AbortSignal.timeout(30_000),
  };
  const { found, skipped } = await findAdoptable(context, {});
  folder.say(`adopt of ${folderOf(named)}`, [
    ...skipped.map(({ key, why }) => `${key}: ${why}`),
    ...found.flatMap(({ object, warning }) => (warning ? [`${object.key}: ${warning}`] : [])),
  ]);
  return {
    found: found.map(({ object, id, createdAt }) => `${object.key} as ${id} of ${createdAt.toISOString()}`),
    skipped: skipped.map(({ key }) => key),
  };
}

async function copied(folder: Folder, flags: readonly string[], where: string): Promise<object> {
  const to = join(folder.place, 'copy');
  const copy = async (command: string) => {
    const ran = await folder.run('copy', ...flags, `--to=file://${to}`);
    folder.say(`${command} of ${where}`, [...ran.log, ...(ran.data.error ? [ran.data.error] : [])]);
    return ran.exitCode;
  };
  const [first, second] = [await copy('copy'), await copy('copy again')];
  const keys = first === 0 ? [...(await objectsIn(to)).keys()] : [];
  await rm(to, { recursive: true, force: true });
  return { exitCodes: [first, second], keys };
}

/** Cluster ids of the newest etcd, and of those that were restored and have no snapshot yet. */
async function runningIn(folder: Folder, named: NamedCluster): Promise<readonly string[]> {
  const own = (await entriesOf(folder, named)).flatMap(({ manifest }) => manifest?.source.clusterId ?? []);
  const notes = [...(await objectsIn(folder.path)).keys()].filter((key) => key.startsWith(`${folderOf(named)}/`));
  const noted = notes.flatMap((key) => /\.restored-([0-9a-f]+)\.json$/.exec(key)?.[1] ?? []);
  const [newest = 'abc'] = own.filter((id) => id !== 'unknown');
  return [...new Set([newest, ...noted.filter((id) => !own.includes(id))])];
}

/** What the next backup of an etcd makes of the folder. */
async function nextBackup(folder: Folder, named: NamedCluster, clusterId: string): Promise<object> {
  const log: string[] = [];
  const lines = advising(pino({ level: 'warn' }, { write: (line) => log.push(JSON.parse(line).msg) }));
  const store = storeOf(folder);
  const request: StoreRequest = {
    ...named,
    ...{ targets: [{ store, retention: { last: 2 } }], compression: 'none', level: 'read', trigger: 'manual' },
    ...{ fileNameTimeZone: 'UTC', overwrite: false, restoredFrom: [], force: false, sweepAge: 86_400_000 },
    ...{ scratch: folder.place, etcdutl: new Etcdutl('etcdutl'), agentVersion: 'test' },
  };
  let taken:
    | { manifest: SnapshotManifest; deleted?: readonly string[] | undefined; deferred?: number | undefined }
    | undefined;
  let failure: unknown;
  const { removed, written } = await folder.changes(async () => {
    try {
      const signal = AbortSignal.timeout(30_000);
      const progress = { phase() {}, bytes() {}, end() {} };
      const run = { log: lines, progress, signal, budget: new Budget({ signal }) };
      const { manifest, targets } = await takeSnapshot(request, run, async () => originOf(clusterId));
      const { deleted, deferred, veto, retentionError } = targets[0]!;
      log.push(...[veto, retentionError].flatMap((remark) => (remark ? [told(remark)] : [])));
      const at = `${folderOf(named)}/${manifest.id}.json`;
      const stored = JSON.parse(await textOf(store, at)) as SnapshotManifest;
      taken = { manifest: stored, deleted, deferred };
    } catch (error) {
      if (!(error instanceof AgentError)) throw error;
      failure = error.exitCode;
      log.push(said(error));
    }
  });
  folder.say(
    `next backup of ${folderOf(named)}, etcd ${clusterId}`,
    log.map((text) => text.replaceAll(/etcd-snapshot-2026113\d-\S+-[0-9a-f]{6}/g, 'the new one')),
  );
  if (!taken) return { exitCode: failure, removed };
  const { manifest, deleted, deferred } = taken;
  const { cluster, sameEtcdSince, sameEtcdUntil } = manifest;
  const { lineage, family } = cluster;
  // The new snapshot has another name each time.
  const others = written.filter((key) => !key.includes(manifest.id));
  return { lineage, family, sameEtcdSince, sameEtcdUntil, deleted, deferred, removed, written: others };
}

async function textOf(store: FilesystemStore, key: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of await store.get(key)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function originOf(clusterId: string): Origin {
  const bytes = seal(Buffer.alloc(4096, 'a database'));
  return {
    source: { clusterId, endpoint: 'http://127.0.0.1:2379', role: 'leader', alarms: [] },
    comparison: 'one member',
    revision: 1_000_000,
    [Symbol.dispose]: () => {},
    open: async () => {
      const check = new SnapshotCheck(bytes.length, 'the snapshot');
      const body = (async function* () {
        check.add(bytes);
        yield bytes;
      })();
      return { expectedBytes: bytes.length, storageVersion: undefined, body, sums: () => check.finish() };
    },
  };
}
