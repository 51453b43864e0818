import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import type { ClusterLine } from './candidate.ts';
import { type Entry, isVerified, lostManifests, PAYLOAD, readEntry, stateOf, type WholeEntry } from './catalog.ts';
import { folderOf, type NamedCluster } from './folder.ts';
import { entriesOf, isOf, ownEntries, ownerOf, type Wanted } from './identity.ts';
import { listNames } from './names.ts';
import { passedOver, passedOverText } from './passed-over.ts';

// Snapshots of the near future are those of clocks that are a little off.
const TOLERANCE = 5 * 60_000;

/** Whether a snapshot is dated later than now, by more than clocks may differ. */
export function inFuture({ manifest }: Pick<Entry, 'manifest'>, now = new Date()): boolean {
  return manifest !== undefined && Date.parse(manifest.createdAt) > now.getTime() + TOLERANCE;
}

export interface Newest {
  readonly newest?: Entry;
  /** Verified ones that are dated in the future: they say nothing about which is the newest. */
  readonly future: readonly Entry[];
  /** All that are of this cluster. */
  readonly own: readonly Entry[];
}

/** The newest verified snapshot of a cluster; with `before`, of those that were taken before. */
export function newestVerified(
  entries: readonly Entry[],
  wanted: Wanted,
  where: string,
  { now, before }: { readonly now: Date; readonly before?: Date },
): Newest {
  const isEarly = ({ manifest }: Entry) => !before || (manifest && Date.parse(manifest.createdAt) < before.getTime());
  const isDated = (entry: Entry) => Boolean(isEarly(entry)) && !inFuture(entry, now);
  const isCandidate = (entry: Entry) => isVerified(entry) && isDated(entry);
  const own = ownEntries(entries, wanted, where, { isCandidate, isDated });
  return {
    newest: own.find(isCandidate),
    future: own.filter((entry) => isVerified(entry) && inFuture(entry, now)),
    own,
  };
}

/** The same of a line that is known; undefined is none. */
export function newestOfLine(
  entries: readonly Entry[],
  named: NamedCluster,
  line: ClusterLine | undefined,
  now = new Date(),
): Pick<Newest, 'newest' | 'own'> {
  const own = line ? entriesOf(entries, named, line) : entries.filter((entry) => isOf(named, entry));
  return { newest: own.find((entry) => isVerified(entry) && !inFuture(entry, now)), own };
}

/** Why there is none, for whoever asked for the newest. */
export function noneVerified(
  { future }: Pick<Newest, 'future'>,
  entries: readonly Entry[],
  wanted: Wanted,
  where: string,
): AgentError {
  const unread = entries.filter((entry) => stateOf(entry) === 'unread');
  const bad = entries.filter((entry) => ['broken', 'suspect', 'failed', 'unverified'].includes(stateOf(entry)));
  const others = new Set(entries.filter(isVerified).map((entry) => ownerOf(entry)));
  others.delete(folderOf(wanted));
  const why = [
    ...(future.length > 0 ? [`${future.length} dated in the future, such as ${future[0]?.id}`] : []),
    ...(others.size > 0 ? [`some of ${[...others].join(', ')}; name one by its id`] : []),
    ...(unread.length > 0
      ? [`${unread.length} that cannot be read, such as ${unread[0]?.id}: ${unread[0]?.problem}`]
      : []),
  ];
  if (why.length === 0 && bad.length > 0) {
    const [{ id, problem }] = bad as [Entry];
    why.push(`${bad.length} that are not good, such as ${id}: ${problem ?? stateOf(bad[0]!)}; see \`etcd-agent list\``);
  }
  const of = `${folderOf(wanted)}${wanted.clusterId === undefined ? '' : ` with the cluster id ${wanted.clusterId}`}`;
  return new AgentError(
    unread.length > 0 ? ExitCode.storeRefused : ExitCode.nothingThere,
    `${where} holds no verified snapshot of ${of}${why.length > 0 ? `, but ${why.join(', and ')}` : ''}`,
  );
}

/** However young its payload is. */
const FOREVER = new Date(8.64e15);

export interface Asked extends Wanted {
  /** Default, and `latest`: the newest verified one. */
  readonly id?: string | undefined;
  /** The newest verified one from before this moment. */
  readonly before?: Date;
}

export interface SelectOptions extends CallOptions {
  readonly readAll: () => Promise<readonly Entry[]>;
  /** Those that have lost their manifest. */
  readonly readLost: (now: Date) => Promise<readonly Entry[]>;
  /** Called with what is newer than the newest, and why it is not taken. */
  readonly warn: (message: string) => void;
}

/** The snapshot that is asked for, with all that its manifest says. */
export async function selectEntry(store: Store, asked: Asked, options: SelectOptions): Promise<WholeEntry> {
  const { id, before } = asked;
  if (id && id !== 'latest') return whole(store, asked, id, options);
  const entries = await options.readAll();
  const now = (await store.now(options)) ?? new Date();
  const found = newestVerified(entries, asked, store.url, { now, ...(before && { before }) });
  for (const { id: other, manifest } of found.future) {
    options.warn(
      `${other} is dated in the future (${manifest?.createdAt}) and is not taken for the newest; name it to use it`,
    );
  }
  if (found.newest) {
    const all = [...entries, ...(await options.readLost(now))];
    const passed = passedOver(all, found.newest, asked, before);
    for (const message of passedOverText(passed, found.newest.id)) options.warn(message);
    return whole(store, asked, found.newest.id, options);
  }
  if (!before) throw noneVerified(found, [...entries, ...(await options.readLost(now))], asked, store.url);
  throw new AgentError(
    ExitCode.nothingThere,
    `${store.url} holds no verified snapshot of ${folderOf(asked)} from before ${before.toISOString()}; see \`etcd-agent list\``,
  );
}

/** One by its id, with all that its manifest says; no other manifest is read. */
export async function whole(store: Store, named: NamedCluster, id: string, options: CallOptions): Promise<WholeEntry> {
  return usable(await anyEntry(store, named, id, options));
}

/** The same of one that need not be whole. */
export async function anyEntry(
  store: Store,
  named: NamedCluster,
  id: string,
  options: CallOptions,
): Promise<Entry | WholeEntry> {
  const folder = folderOf(named);
  const entry = await readEntry(store, folder, id, options);
  if (entry) return entry;
  const [lost] = lostManifests(folder, await listNames(store, folder, options, id), FOREVER);
  const payload = lost?.objects.find(({ key }) => PAYLOAD.test(key.slice(folder.length + 1 + id.length)));
  if (payload) {
    throw new AgentError(
      ExitCode.nothingThere,
      `${store.url}: ${id} has no manifest: its backup is under way, or the manifest was deleted; then \`adopt ${payload.key}\` makes one`,
    );
  }
  throw new AgentError(
    ExitCode.nothingThere,
    `${store.url} holds no snapshot ${id} of ${folderOf(named)}; see \`etcd-agent list\``,
  );
}

/** Why a snapshot is known, or may be known, to be bad; undefined for one that only was not verified. */
export function badness(entry: Entry): string | undefined {
  const { manifest, verification, problem } = entry;
  switch (stateOf(entry)) {
    case 'failed':
      return `it was found FAILED by \`verify\`: ${verification?.detail ?? `at level ${verification?.level}`}`;
    case 'suspect':
      return `its source was SUSPECT: ${manifest?.source.suspect?.join(', ')}`;
    case 'unread':
    case 'broken':
      return problem ?? 'its manifest cannot be read';
  }
}

/** Throws unless manifest and payload are there, and says what it is if not. How good it is, is another question. */
export function usable(entry: Entry | WholeEntry): WholeEntry {
  if (entry.manifest && stateOf(entry) !== 'broken') return entry as WholeEntry;
  const exitCode = entry.unread === 'refused' ? ExitCode.storeRefused : ExitCode.verificationFailed;
  throw new AgentError(exitCode, `${entry.id}: ${entry.problem ?? 'its manifest cannot be read'}`);
}
