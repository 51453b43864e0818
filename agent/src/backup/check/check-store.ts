import { randomBytes } from 'node:crypto';
import { AgentError, ExitCode, remarkOf } from '../../lib/errors.ts';
import { type Finding, together } from '../../lib/finding.ts';
import { formatAge } from '../../lib/terminal/format-age.ts';
import { timeAt } from '../../store/clock.ts';
import type { Store } from '../../store/store.ts';
import { type Entry, inFuture, isLost, isVerified, readCatalog } from '../catalog/catalog.ts';
import { Folder } from '../catalog/folder.ts';
import { folderOf, type NamedCluster } from '../catalog/identity/folder.ts';
import { isOf, linesOf, ownerOf } from '../catalog/identity/identity.ts';
import { otherFolders } from '../catalog/identity/locate.ts';
import { MAX_CLOCK_DIFFERENCE, NOT_VALID } from '../retention/clock-difference.ts';
import { newCanary } from '../retention/sweep.ts';
import { type CheckResult, failed, finding, ok, warning } from './finding.ts';

export async function checkStore(store: Store, named: NamedCluster, signal: AbortSignal): Promise<CheckResult[]> {
  const folder = new Folder(store, folderOf(named), signal);
  const canary = await finding('store', signal, async () => {
    const isNew = (await store.isThere?.({ signal }).catch(() => undefined)) === false;
    const found = await tryCanary(store, newCanary(folder.path), signal);
    return [found, ...(isNew ? [warning('store', `${store.url}: ${CREATED}`, { kind: 'newDirectory' })] : [])];
  });
  // One line is enough for a store that is not reachable.
  if (canary.some(({ outcome }) => outcome === 'failed')) return canary;
  return [
    ...canary,
    ...(await finding('clock', signal, () => checkClock(store, signal))),
    ...(await finding('snapshots', signal, async () => {
      const listing = await folder.list();
      const now = await timeAt(store, { signal });
      const known = await readCatalog(folder, { listing });
      const entries = [...known, ...listing.withoutManifest(now).filter(isLost)];
      const others = entries.length === 0 ? await otherFolders(store, named, { signal }) : undefined;
      return describeEntries(entries, store, named, others);
    })),
  ];
}

async function tryCanary(store: Store, key: string, signal: AbortSignal): Promise<CheckResult> {
  const bytes = randomBytes(64);
  let retained = false;
  let hasPut = false;
  try {
    await orSaying(
      { kind: 'readOnly' },
      store.put(
        key,
        (async function* () {
          yield bytes;
        })(),
        { signal, sizeHint: bytes.length },
      ),
    );
    hasPut = true;
    const read: Uint8Array[] = [];
    for await (const chunk of await store.get(key, { signal })) read.push(chunk);
    if (!Buffer.concat(read).equals(bytes)) {
      throw new AgentError(ExitCode.verificationFailed, `${store.url} does not return the bytes that were written`);
    }
    let listed = false;
    for await (const object of store.list(key, { signal })) listed ||= object.key === key;
    if (!listed) {
      throw new AgentError(ExitCode.storeRefused, `${store.url} does not list an object that was just written`);
    }
  } finally {
    // If the process is killed here, the sweep of a later backup deletes the object.
    const left = await orSaying(
      { kind: 'noDelete', key },
      store.delete(key, { signal: AbortSignal.timeout(10_000) }),
    ).catch((error) => {
      // Without a written object, the error of writing says more.
      if (hasPut && !signal.aborted) throw error;
    });
    retained = left === 'retained';
  }
  if (retained)
    return warning('store', `${store.url}: writes, reads and lists; an object lock protects the test object`);
  return ok('store', `${store.url}: writes, reads, lists and deletes`);
}

const CREATED = 'the directory did not exist, and is there now, as a first backup creates it';

const NO_CLOCK =
  'while the clock cannot be read, backups are stored, but their retention fails (exit code 3) and leftovers of dead runs stay';

/** Adds what it means if the store refuses the call. */
const orSaying = <T>(finding: Finding, call: Promise<T>): Promise<T> =>
  call.catch((error) => {
    if (!(error instanceof AgentError) || error.exitCode !== ExitCode.storeRefused) throw error;
    throw new AgentError(error.exitCode, error.message, { cause: error, finding: together(error.finding, finding) });
  });

async function checkClock(store: Store, signal: AbortSignal): Promise<CheckResult> {
  let theirs: Date | undefined;
  try {
    theirs = await store.now({ signal });
  } catch (error) {
    signal.throwIfAborted();
    const { message, finding } = remarkOf(error);
    return warning('clock', `${message}; ${NO_CLOCK}`, finding);
  }
  if (!theirs)
    return warning('clock', `${store.url}: its clock cannot be read, so only this machine's clock decides what is old`);
  const difference = theirs.getTime() - Date.now();
  const off = formatAge(Math.abs(difference));
  if (Math.abs(difference) <= MAX_CLOCK_DIFFERENCE)
    return ok('clock', `${store.url}: within ${off} of this machine's clock`);
  const far = `${off} ${difference > 0 ? 'ahead of' : 'behind'} this machine's clock`;
  const how = Number.isNaN(difference) ? NOT_VALID : far;
  return failed('clock', ExitCode.refused, `${store.url}: ${how}: retention would delete nothing; set the clocks`);
}

function describeEntries(
  entries: readonly Entry[],
  store: Store,
  named: NamedCluster,
  elsewhere: Finding | undefined,
): CheckResult[] {
  const folder = folderOf(named);
  const whole = entries.filter((entry) => !entry.problem && ownerOf(entry) === folder);
  const verified = whole.filter(isVerified).length;
  const others = new Set(entries.flatMap((entry) => ownerOf(entry) ?? []));
  others.delete(folder);
  return [
    ok('snapshots', `${store.url}: snapshots of ${folder}: ${whole.length}, verified: ${verified}`, elsewhere),
    ...entries.flatMap(({ id, problem, finding }) =>
      problem ? [warning('snapshots', `${id}: ${problem}`, finding)] : [],
    ),
    ...[...others].map((name) =>
      warning('snapshots', `${store.url}: some snapshots belong to another cluster, ${name}`),
    ),
    ...mixedEtcds(entries, store, named),
    ...entries
      .filter((entry) => inFuture(entry))
      .map(({ id, manifest }) => warning('snapshots', `${id} is dated in the future: ${manifest?.createdAt}`)),
  ];
}

/** Warns if the folder has snapshots of etcds that no restore connects. */
function mixedEtcds(entries: readonly Entry[], { url }: Store, named: NamedCluster): CheckResult[] {
  const own = entries.filter((entry) => isOf(named, entry));
  const families = new Map(linesOf(own).map(({ family, head }) => [family, head]));
  if (families.size < 2) return [];
  const which = `${families.size} etcds that no restore connects, ${[...families.values()].join(', ')}`;
  return [warning('snapshots', `${url}: the snapshots of ${folderOf(named)} are of ${which}`, { kind: 'mixedEtcds' })];
}
