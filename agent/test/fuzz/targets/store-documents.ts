import { gzipSync } from 'node:zlib';
import { toCandidate } from '../../../src/backup/catalog/candidate.ts';
import { type Entry, readCatalog, readEntry } from '../../../src/backup/catalog/catalog.ts';
import { readIndex } from '../../../src/backup/catalog/catalog-index.ts';
import { Folder } from '../../../src/backup/catalog/folder.ts';
import { linesOf } from '../../../src/backup/catalog/identity/identity.ts';
import { lineOf } from '../../../src/backup/catalog/identity/lineage.ts';
import { moveNotes } from '../../../src/backup/catalog/restore-notes.ts';
import { badness, selectEntry } from '../../../src/backup/catalog/select.ts';
import { storeStatus } from '../../../src/backup/check/store-status.ts';
import { copySnapshot } from '../../../src/backup/copy/copy.ts';
import { storedExtra } from '../../../src/backup/payload/extra.ts';
import { readContent } from '../../../src/backup/payload/read-payload.ts';
import { changeSince, differences, readMarker } from '../../../src/backup/restore/restore-marker.ts';
import { prune } from '../../../src/backup/retention/prune.ts';
import { readMarker as readMemberMarker } from '../../../src/control-plane/node/data-directory.ts';
import { bumpOf } from '../../../src/control-plane/state/bump.ts';
import { notedIn } from '../../../src/control-plane/state/noted-restores.ts';
import { servedIn } from '../../../src/control-plane/state/served-revisions.ts';
import { corpusFile } from '../corpus.ts';
import { secretWords } from '../secrets.ts';
import { refused, type Target } from '../target.ts';
import { MemoryStore } from './memory-store.ts';
import { fileWith } from './scratch.ts';

const ID = 'etcd-snapshot-20261121-023807-3f9c2a';
const OTHER = 'etcd-snapshot-20261122-023807-3f9c2b';
const key = (suffix: string, id = ID) => `orders/${id}${suffix}`;
const wanted = { cluster: 'orders' };

/** A complete snapshot of the same cluster, next to the damaged one. */
const other = JSON.parse(corpusFile('manifest/whole').toString());
Object.assign(other, { id: OTHER, createdAt: '2026-11-22T02:38:07.123Z' });
delete other.extra;
other.object.key = key('.db', OTHER);
other.object.sizeBytes = 9;
const payload = Buffer.alloc(9);

const storeWith = (objects: Record<string, Uint8Array>): MemoryStore =>
  new MemoryStore({
    [key('.json', OTHER)]: Buffer.from(JSON.stringify(other)),
    [key('.db', OTHER)]: payload,
    [key('.json')]: corpusFile('manifest/whole'),
    [key('.db.zst.age')]: payload,
    [key('.extra.tar.age')]: Buffer.alloc(5),
    ...objects,
  });

/**
 * Does everything that the commands do with the documents of a folder, except deletions. Returns true if the snapshot
 * in question is complete.
 */
async function explore(store: MemoryStore): Promise<unknown> {
  const entries = await readCatalog(new Folder(store, 'orders'));
  const now = await store.now();
  const owner = { now, clusterName: 'orders' };
  const candidates = entries.map(toCandidate);
  const line = lineOf(entries, owner);
  linesOf(entries);
  for (const entry of entries) {
    JSON.stringify(entry);
    badness(entry);
  }
  const policy = { last: 1, daily: 3, timeZone: 'Europe/Berlin' };
  await prune(new Folder(store, 'orders'), entries, policy, { ...owner, cluster: line, force: true }, { dryRun: true });
  await storeStatus({ ...wanted, folder: new Folder(store, 'orders'), maxAge: 86_400_000 });
  const readAnswering = async () => entries;
  for (const id of [ID, 'latest']) {
    const asked = { ...wanted, id };
    const selected = await selectEntry(new Folder(store, 'orders'), asked, {
      readAnswering,
      list: () => new Folder(store, 'orders').list(),
      warn: none,
    }).catch(orRefusal);
    if (selected === undefined) continue;
    await drained(readContent(store, selected.manifest, {})).catch(orRefusal);
    const { extra } = selected.manifest;
    if (extra) await storedExtra(store, extra, {}).catch(orRefusal);
  }
  const restored = entries.find(({ id }) => id === OTHER)!;
  const { signal } = new AbortController();
  const { notes } = await notedIn(store, ['orders/'], signal);
  const served = { ...servedIn(entries), notes, here: [], own: [] };
  await Promise.resolve()
    .then(() =>
      bumpOf(served, { id: OTHER, revision: 7, several: true, token: () => secretWords.token, clusterId: () => 'c1' }),
    )
    .catch(orRefusal);
  const one = await readEntry(new Folder(store, 'orders'), ID);
  if (one) await copied(one, store, entries);
  if (one) await moveNotes(new Folder(store, 'orders'), wanted, one, [restored]);
  return candidates.length === 2 && one && one.state === 'verified' ? undefined : refused;
}

async function copied(entry: Entry, from: MemoryStore, there: readonly Entry[]): Promise<void> {
  const quiet = { debug: none, info: none, warn: none, error: none, phase: none, bytes: none, note: none } as never;
  const { signal } = new AbortController();
  const common = { folder: 'orders', from, log: quiet, progress: quiet, signal };
  for (const known of [[], there])
    await copySnapshot(entry, { ...common, to: new MemoryStore({}), there: known }).catch(orRefusal);
}

const none = () => {};

/** An error that the command would show. Any other error is a mistake. */
function orRefusal(error: unknown): undefined {
  if ((error as Error).name === 'AgentError' || (error as Error).name === 'NoIdentityError') return undefined;
  throw error;
}

async function drained(source: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of source);
}

const GZIP = Buffer.from([0x1f, 0x8b]);

export const storeDocuments: readonly Target[] = [
  {
    name: 'manifest',
    about: 'the document beside a snapshot: one that is damaged is a problem of this snapshot',
    kind: 'json',
    corpus: ['manifest'],
    run: (input) => explore(storeWith({ [key('.json')]: input })),
  },
  {
    name: 'verification',
    about: 'the finding of `verify` beside a snapshot',
    kind: 'json',
    corpus: ['verification'],
    run: (input) => explore(storeWith({ [key('.verify.json')]: input })),
  },
  {
    name: 'note',
    about: 'the note of a restore beside a snapshot',
    kind: 'json',
    corpus: ['note'],
    async run(input) {
      await explore(storeWith({ [key('.restored-c1.json')]: input, [key('.restored-c1-a.json')]: input }));
    },
  },
  {
    name: 'index',
    about: "the catalog's index: without one, or with a damaged one, the manifests are read",
    kind: 'json',
    corpus: ['index'],
    async run(input) {
      const folder = { 'orders/.index.jsonl.gz': input.subarray(0, 2).equals(GZIP) ? input : gzipSync(input) };
      let used = 0;
      await readIndex(new Folder(new MemoryStore(folder), 'orders'), () => used++);
      return used > 0 ? undefined : refused;
    },
  },
  {
    name: 'index-gzip',
    about: 'the same, with a damaged compression',
    kind: 'bytes',
    corpus: ['index-gzip'],
    async run(input) {
      let used = 0;
      await readIndex(new Folder(new MemoryStore({ 'orders/.index.jsonl.gz': input }), 'orders'), () => used++);
      return used > 0 ? undefined : refused;
    },
  },
  {
    name: 'restore-marker',
    about: 'the file that a restore leaves in a data directory',
    kind: 'json',
    corpus: ['restore-marker'],
    async run(input) {
      const file = fileWith('restored/etcd-agent-restore.json', input);
      const directory = file.slice(0, file.lastIndexOf('/'));
      await readMemberMarker(directory);
      const marker = await readMarker(directory);
      if (!marker) return refused;
      differences(marker, { id: ID }, markerRequest);
      JSON.stringify(marker);
      return changeSince(marker, directory);
    },
  },
];

const markerRequest = {
  ...{ dataDir: '/data', name: 'etcd-0', initialCluster: 'etcd-0=http://10.0.0.1:2380' },
  ...{ initialAdvertisePeerUrls: 'http://10.0.0.1:2380', named: true, repeat: 'refuse' as const },
};
