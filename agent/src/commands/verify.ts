import { createHash } from 'node:crypto';
import {
  type Entry,
  isLost,
  isUnread,
  manifestKey,
  readEntry,
  rewrittenProblem,
  verificationKeyOf,
  type WholeEntry,
  withFinding,
  withoutId,
} from '../backup/catalog/catalog.ts';
import { folderOf } from '../backup/catalog/identity/folder.ts';
import { entriesAsked } from '../backup/catalog/identity/identity.ts';
import { lineOf } from '../backup/catalog/identity/lineage.ts';
import { type Level, levels } from '../backup/catalog/manifest.ts';
import { remedyOf } from '../backup/catalog/remedy.ts';
import { newestOfLine } from '../backup/catalog/select.ts';
import { AWAY, isUnreachable, Turns } from '../backup/catalog/silence.ts';
import { clusterLabels, storeSamples } from '../backup/metrics/samples.ts';
import { NoIdentityError } from '../backup/payload/encryption.ts';
import { checkDecryptable } from '../backup/payload/read-payload.ts';
import { verifyStored } from '../backup/payload/verify.ts';
import { datedOf, successorOf, takenBy } from '../backup/retention/superseded.ts';
import { Etcdutl } from '../etcd/offline/etcdutl.ts';
import { AgentError, ExitCode, usageError } from '../lib/errors.ts';
import { withTimeout } from '../lib/limits/budget.ts';
import { type Sample, sample } from '../lib/metrics/sample.ts';
import { timeAt } from '../store/clock.ts';
import type { Store } from '../store/store.ts';
import { advised, said } from './advice/advice.ts';
import type { Command, CommandContext } from './cli/command.ts';
import type { CommandResult } from './cli/result.ts';
import { answeringOf } from './shared/answering.ts';
import { namedEntries } from './shared/named-entries.ts';
import type { OpenedStore } from './shared/opened-store.ts';
import { findingOf, putFinding, type VerifyFinding } from './shared/put-finding.ts';
import { askedFor, withStore } from './shared/store-run.ts';

/** Milliseconds that a snapshot adds to the time limit, however small it is. */
const EACH = 500;

interface Checked {
  readonly finding: VerifyFinding;
  /**
   * False: the finding says what this run could not read, not how good the snapshot is. Another run may have a newer agent,
   * more rights or the right key, so the finding is not stored and does not change the metrics.
   */
  readonly isLasting: boolean;
  /** The snapshot, if it is broken. */
  readonly entry?: Entry;
}

export const run: Command = (context) => withTimeout(context, verify);

async function verify(context: CommandContext): Promise<CommandResult> {
  const { settings, signal } = context;
  const level = settings.oneOf('level', '--level', levels);
  const part = parseSubset(settings.text('subset'));
  const identities = await settings.identities();
  return withStore(context, async (opened) => {
    const { chosen, lost, superseded, going } = settings.text('objectKey')
      ? { chosen: [await askedFor(opened, context)], lost: [], superseded: [], going: [] }
      : await choose(opened, part, context);
    context.budget.grow(chosen.reduce((sum, { manifest }) => sum + (manifest?.content.sizeBytes ?? 0), 0));
    context.budget.extend(chosen.length * EACH);
    // Before the first payload is downloaded.
    const undecryptable = level === 'open' ? await withoutIdentity(chosen, identities) : new Map();
    const [first] = undecryptable.values();
    if (first && undecryptable.size === chosen.length) throw first;
    const now = await timeAt(opened.store, { signal });
    const checked: Checked[] = [];
    await verifyEach(chosen, { level, identities, undecryptable }, opened, context, checked);
    const deleted = chosen.filter(({ id }) => !checked.some(({ finding }) => finding.id === id));
    checked.push(...lost.map((entry) => broken(entry, level)));
    const entries = await answeringOf(opened, context);
    const remedied = (entry: Entry) => advised(remedyOf(entry, opened, { now, entries }), { place: opened, settings });
    const findings = checked.map(({ finding }) => finding);
    const count = (what: VerifyFinding['outcome']) => findings.filter(({ outcome }) => outcome === what).length;
    const [failed, inconclusive] = [count('failed'), count('inconclusive')];
    const isNamed = settings.args.length > 0 || settings.text('objectKey') !== undefined;
    const otherwise = isNamed && deleted.length > 0 ? ExitCode.nothingThere : ExitCode.done;
    return {
      exitCode: failed ? ExitCode.verificationFailed : inconclusive ? ExitCode.inconclusive : otherwise,
      text: [
        ...(part && chosen.length + lost.length + superseded.length + going.length === 0
          ? [`no snapshot is in part ${part.number} of ${part.of}`]
          : []),
        ...checked.map(
          ({ finding: { id, outcome, detail = '' }, entry }) =>
            `${id}: ${outcome}: ${withoutId(detail, id)}${entry ? remedied(entry) : ''}`,
        ),
        ...deleted.map(({ id }) => `${id}: not verified: it was deleted meanwhile`),
        ...superseded.map(({ id, problem }) => `${id}: not verified: ${problem}; later snapshots supersede it`),
        ...going.map(({ id, problem }) => `${id}: not verified: ${problem}`),
      ].join('\n'),
      data: {
        cluster: opened.cluster,
        namespace: opened.namespace,
        store: opened.store.url,
        level,
        verified: count('verified'),
        failed,
        inconclusive,
        snapshots: findings.map(({ isPassing: _, ...finding }) => finding),
        deleted: deleted.length > 0 ? deleted.map(({ id }) => id) : undefined,
        broken: lost.length > 0 ? lost.map(({ id, problem }) => ({ id, problem })) : undefined,
        superseded: superseded.length > 0 ? superseded.map(({ id, problem }) => ({ id, problem })) : undefined,
        deleting: going.length > 0 ? going.map(({ id, problem }) => ({ id, problem })) : undefined,
      },
      metrics: await verifySamples(opened, context, checked),
    };
  });
}

/**
 * The snapshots, by id, that no identity decrypts, as far as their manifests name the recipients. A snapshot that is broken
 * or cannot be read is left out: no key is needed to report that.
 */
async function withoutIdentity(
  chosen: readonly Entry[],
  identities: readonly string[],
): Promise<ReadonlyMap<string, NoIdentityError>> {
  const found = new Map<string, NoIdentityError>();
  for (const entry of chosen) {
    const { id, manifest } = entry;
    if (!manifest || isUnreadable(entry) || entry.state === 'broken') continue;
    await checkDecryptable(manifest, { identities }).catch((error: unknown) => {
      if (!(error instanceof NoIdentityError)) throw error;
      found.set(id, error);
    });
  }
  return found;
}

interface Request {
  readonly level: Level;
  readonly identities: readonly string[];
  readonly undecryptable: ReadonlyMap<string, NoIdentityError>;
}

async function verifySamples(
  opened: OpenedStore,
  context: CommandContext,
  checked: readonly Checked[],
): Promise<Sample[]> {
  const { cluster, namespace, store } = opened;
  const labels = { command: 'verify', ...clusterLabels(opened), store: store.url };
  const failed = checked.filter(({ finding }) => finding.outcome === 'failed');
  const lasting = checked.filter(({ isLasting }) => isLasting);
  const byId = new Map(lasting.map(({ finding }) => [finding.id, finding]));
  const entries = (await answeringOf(opened, context)).map((entry): Entry => {
    const finding = byId.get(entry.id);
    return finding && !standsAgainst(finding, standingOf(entry)) ? withFinding(entry, finding) : entry;
  });
  const now = new Date();
  const line = lineOf(entries, { now, clusterName: cluster, namespace }, opened);
  return [
    sample('etcd_backup_last_run_failed_snapshots', labels, failed.length),
    ...storeSamples(opened, store.url, newestOfLine(entries, opened, line, now)),
  ];
}

/**
 * One snapshot that fails or hangs does not keep the others from being verified. If nothing is given out, throws the error of
 * the first.
 */
async function verifyEach(
  chosen: readonly Entry[],
  request: Request,
  opened: OpenedStore,
  context: CommandContext,
  checked: Checked[],
): Promise<void> {
  const { signal } = context;
  const turns = new Turns(opened.store);
  const errors: AgentError[] = [];
  for (const entry of chosen) {
    const { id } = entry;
    const unread = (detail: string) =>
      checked.push({ finding: { id, level: request.level, outcome: 'inconclusive', detail }, isLasting: false });
    if (isSilent(entry)) {
      unread(entry.problem ?? '');
      continue;
    }
    if (turns.isOver) {
      unread(`not read, because the ${AWAY} before it could not be: ${said(errors.at(-1))}`);
      continue;
    }
    try {
      const one = await verifyOne(entry, request, { ...opened, store: turns.next() }, context);
      if (one) checked.push(one);
      turns.count(false);
    } catch (error) {
      signal.throwIfAborted();
      if (!isUnreachable(error)) throw error;
      errors.push(error);
      turns.count(true);
      unread(`cannot be read: ${said(error)}`);
    }
  }
  if (errors[0] && errors.length === checked.length) throw errors[0];
}

const isSilent = ({ state, manifest }: Entry) => state === 'unreachable' && !manifest;

/** Returns undefined when the snapshot was deleted meanwhile, for example by retention: it is neither good nor bad. */
async function verifyOne(
  chosen: Entry,
  request: Request,
  opened: OpenedStore,
  context: CommandContext,
): Promise<Checked | undefined> {
  const { progress, signal, log } = context;
  const { store } = opened;
  const { id } = chosen;
  progress.phase('verify', id);
  const isThere = () => store.stat(chosen.manifestKey, { signal });
  // A snapshot under an exact key is not an entry of the folder.
  const isExact = chosen.manifestKey !== manifestKey(folderOf(opened), id);
  const entry = isExact ? (chosen as WholeEntry) : await readEntry(opened.folder.within(store), id);
  const checked = entry && (await check(entry, request, store, context));
  if (!checked || (checked.finding.outcome === 'failed' && !(await isThere()))) {
    log.info(`${id}: deleted meanwhile`);
    return undefined;
  }
  const { finding, isLasting } = checked;
  if (!isLasting) return checked;
  const standing = standingOf(entry);
  if (standsAgainst(finding, standing)) {
    const { level, detail = `it failed at level ${level}`, damaged } = standing;
    return {
      // What a damaged finding says is not known.
      finding: {
        ...{ id, level, outcome: entry.state === 'damaged' ? 'inconclusive' : 'failed' },
        ...{ detail: `${detail}; level ${finding.level} does not disprove that`, damaged: damaged || undefined },
      },
      isLasting: false,
    };
  }
  await putFinding(entry, finding, store, context);
  if (await isThere()) return checked;
  await store.delete(verificationKeyOf(entry.manifestKey), { signal });
  log.info(`${id}: deleted meanwhile`);
  return undefined;
}

/** Not stored: every listing shows it for as long as it is so, and the snapshot may become whole again. */
const broken = (entry: Entry, level: Level): Checked => ({
  finding: { id: entry.id, level, outcome: 'failed', detail: entry.problem ?? '', damaged: true },
  isLasting: false,
  entry,
});

function isOnlyRewritten(entry: Entry): boolean {
  const payload = entry.objects.find(({ key }) => key === entry.manifest?.object.key);
  return entry.problem !== undefined && entry.problem === rewrittenProblem(entry, payload);
}

/** A snapshot that is refused, or that this agent cannot read, does not keep the others from being verified. */
async function check(
  entry: Entry | WholeEntry,
  { level, identities, undecryptable }: Request,
  store: Store,
  { settings, progress, signal, log }: CommandContext,
): Promise<Checked> {
  const { id, problem } = entry;
  const unread = (detail: string): Checked => ({
    finding: { id, level, outcome: 'inconclusive', detail },
    isLasting: false,
  });
  if (isUnreadable(entry)) return unread(problem ?? '');
  // Somebody has touched the file, or written it again: its bytes tell.
  const isRewritten = level !== 'stream' && isOnlyRewritten(entry);
  if (entry.state === 'broken' && !isRewritten) return broken(entry, level);
  const { manifest } = entry as WholeEntry;
  const verifyAt = async (wanted: Level): Promise<Checked> => {
    try {
      const proof = await verifyStored(store, manifest, {
        level: wanted,
        identities,
        signal,
        scratch: settings.scratch,
        etcdutl: new Etcdutl(settings.text('etcdutl') ?? 'etcdutl'),
        onBytes: (bytes) => progress.bytes(bytes, manifest.object.sizeBytes),
      });
      const outcome = proof.level === wanted ? 'verified' : 'inconclusive';
      return { finding: { id, level: wanted, outcome, detail: proof.detail }, isLasting: true };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof AgentError)) throw error;
      // In cold storage, or not readable with these credentials.
      if (error.exitCode === ExitCode.storeRefused) return unread(said(error));
      const finding = findingOf(error, id, wanted);
      if (!finding) throw error;
      // `adopt` makes another snapshot of it. A finding would stand against that one.
      if (isRewritten) return broken(entry, level);
      return { finding, isLasting: !finding.isPassing };
    }
  };
  /** The stored bytes can be checked without a key. */
  const withoutKey = async (error: NoIdentityError): Promise<Checked> => {
    const message = said(error);
    log.warn({ id }, message);
    const { finding, isLasting } = await verifyAt('read');
    if (finding.outcome === 'failed') return { finding, isLasting };
    return unread(`${message}; ${finding.detail}`);
  };
  const known = undecryptable.get(id);
  if (known) return withoutKey(known);
  try {
    return await verifyAt(level);
  } catch (error) {
    // The recipients of an adopted snapshot are not known before its payload is read.
    if (error instanceof NoIdentityError) return withoutKey(error);
    throw error;
  }
}

/** Whether nothing can be said of the snapshot. A damaged finding says nothing either, but a new one replaces it. */
const isUnreadable = (entry: Entry) => isUnread(entry) && entry.state !== 'damaged';

/** The finding that counts so far. One that is damaged may have been the worst. */
const standingOf = ({ state, problem, verification }: Entry): Entry['verification'] =>
  state === 'damaged' ? { level: 'open', outcome: 'failed', detail: problem } : verification;

/** Whether a failure that was found at a deeper level outweighs the new finding. */
function standsAgainst(
  { outcome, level }: VerifyFinding,
  standing: Entry['verification'],
): standing is NonNullable<Entry['verification']> {
  if (outcome === 'failed') return false;
  const proved = outcome === 'verified' ? level : 'read';
  return standing?.outcome === 'failed' && levels.indexOf(proved) < levels.indexOf(standing.level);
}

interface Chosen {
  readonly chosen: readonly Entry[];
  /** Snapshots that have lost their manifest. */
  readonly lost: readonly Entry[];
  /** Such snapshots that later ones are known to supersede, as the leftovers of killed runs. A later backup deletes them. */
  readonly superseded: readonly Entry[];
  /** Snapshots that retention was deleting. */
  readonly going: readonly Entry[];
}

async function choose(
  opened: OpenedStore,
  part: Part | undefined,
  { settings, signal }: CommandContext,
): Promise<Chosen> {
  const { store, readAll } = opened;
  const ids = settings.args;
  const without = async () => (await opened.list()).withoutManifest(await timeAt(store, { signal }));
  if (ids.length > 0) return named(opened, ids, without, signal);
  const isIn = ({ id }: Entry) => !part || bucketOf(id, part.of) === part.number;
  const [all, rests] = [await readAll(), (await without()).filter(isIn)];
  const lost = rests.filter(isLost);
  const going = rests.filter(({ state }) => state === 'deleting');
  const entries = entriesAsked(all, opened);
  if (entries.length + lost.length + going.length > 0) {
    const dated = datedOf(folderOf(opened), all, await timeAt(store, { signal }));
    // Without the marker of its backup, the snapshot was whole, and its manifest was lost.
    const isSuperseded = (entry: Entry) => entry.state === 'killed' && successorOf(takenBy(entry), dated) !== undefined;
    return {
      chosen: entries.filter(isIn),
      lost: lost.filter((entry) => !isSuperseded(entry)),
      superseded: lost.filter(isSuperseded),
      going,
    };
  }
  const of = `${folderOf(opened)}${opened.clusterId === undefined ? '' : ` with the cluster id ${opened.clusterId}`}`;
  throw new AgentError(ExitCode.nothingThere, `no snapshots of ${of} in ${store.url}`);
}

/** A snapshot without a manifest that no running backup explains is `lost`. */
async function named(
  opened: OpenedStore,
  ids: readonly string[],
  without: () => Promise<readonly Entry[]>,
  signal: AbortSignal,
): Promise<Chosen> {
  const lost = new Map<string, Entry>();
  const found = await namedEntries(opened, ids, signal, async (id) => {
    const entry = (await without()).find((each) => each.id === id && isLost(each));
    if (entry) lost.set(id, entry);
    return entry;
  });
  return { chosen: found.filter(({ id }) => !lost.has(id)), lost: [...lost.values()], superseded: [], going: [] };
}

interface Part {
  readonly number: number;
  readonly of: number;
}

/** Depends on the id alone, so that a snapshot stays in its part while others come and go. */
function bucketOf(id: string, of: number): number {
  return (createHash('sha256').update(id).digest().readUInt32BE() % of) + 1;
}

function parseSubset(text: string | undefined): Part | undefined {
  if (text === undefined) return undefined;
  const [number, of] = text.split('/').map(Number);
  if (!number || !of || number < 1 || number > of || !Number.isInteger(number) || !Number.isInteger(of)) {
    throw usageError(`--subset: '${text}' is not a part; write 1/7 for the first of seven`);
  }
  return { number, of };
}
