import { createHash } from 'node:crypto';
import {
  type Entry,
  manifestKey,
  putJson,
  readEntry,
  stateOf,
  verificationKeyOf,
  type WholeEntry,
} from '../backup/catalog/catalog.ts';
import { folderOf } from '../backup/catalog/folder.ts';
import { entriesAsked } from '../backup/catalog/identity.ts';
import { lineOf } from '../backup/catalog/lineage.ts';
import { type Level, levels, VERIFICATION_SCHEMA, type Verification } from '../backup/catalog/manifest.ts';
import { anyEntry, newestOfLine } from '../backup/catalog/select.ts';
import { clusterLabels, gauge, type Sample, storeSamples } from '../backup/metrics/samples.ts';
import { checkDecryptable } from '../backup/payload/read-payload.ts';
import { verifyStored } from '../backup/payload/verify.ts';
import { Etcdutl } from '../etcd/offline/etcdutl.ts';
import { AgentError, ExitCode, messageOf } from '../lib/errors.ts';
import { moreTime, withTimeout } from '../lib/run-limit.ts';
import { agentVersion } from '../lib/version.ts';
import type { Store } from '../store/store.ts';
import type { Command, CommandContext } from './cli/command.ts';
import type { CommandResult } from './cli/result.ts';
import { askedFor, type OpenedStore, withStore } from './shared/store-run.ts';

/** What each adds to a run's time, however small. */
const SECONDS_EACH = 0.5;

type Finding = Pick<Verification, 'id' | 'level' | 'outcome' | 'detail'>;

export const run: Command = (context) => withTimeout(context, (signal, grow) => verify({ ...context, signal }, grow));

async function verify(context: CommandContext, grow: (bytes: number) => void): Promise<CommandResult> {
  const { settings, signal, log } = context;
  const level = settings.oneOf('level', '--level', levels);
  const part = parseSubset(settings.text('subset'));
  const identities = await settings.identities();
  return withStore(context, async (opened) => {
    const chosen = settings.text('objectKey')
      ? [await askedFor(opened, context)]
      : await choose(opened, settings.args, part, signal);
    grow(chosen.reduce((sum, { manifest }) => sum + (manifest?.content.sizeBytes ?? 0), 0));
    moreTime(signal, chosen.length * SECONDS_EACH);
    // Before the first of them is downloaded.
    const undecryptable = level === 'open' ? await withoutIdentity(chosen, identities) : new Map<string, AgentError>();
    const [first] = undecryptable.values();
    if (first && undecryptable.size === chosen.length) throw first;
    const findings: Finding[] = [];
    for (const entry of chosen) {
      const mistake = undecryptable.get(entry.id);
      if (mistake) log.warn(mistake.message);
      const finding: Finding | undefined = mistake
        ? { id: entry.id, level, outcome: 'inconclusive', detail: mistake.message }
        : await verifyOne(entry, { level, identities }, opened, context);
      if (finding) findings.push(finding);
    }
    const count = (what: Finding['outcome']) => findings.filter(({ outcome }) => outcome === what).length;
    const [failed, inconclusive] = [count('failed'), count('inconclusive')];
    return {
      exitCode: failed ? ExitCode.verificationFailed : inconclusive ? ExitCode.inconclusive : ExitCode.done,
      text: findings.map(({ id, outcome, detail }) => `${id}: ${outcome}: ${detail}`).join('\n'),
      data: {
        cluster: opened.cluster,
        namespace: opened.namespace,
        store: opened.store.url,
        level,
        verified: count('verified'),
        failed,
        inconclusive,
        snapshots: findings,
      },
      metrics: await verifySamples(opened, findings),
    };
  });
}

/** By id, those that no identity decrypts: one of another key must not keep the others from being verified. */
async function withoutIdentity(
  chosen: readonly Entry[],
  identities: readonly string[],
): Promise<ReadonlyMap<string, AgentError>> {
  const found = new Map<string, AgentError>();
  for (const { id, manifest } of chosen) {
    if (!manifest) continue;
    const mistake = await checkDecryptable(manifest, { identities }).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (mistake !== undefined && !(mistake instanceof AgentError)) throw mistake;
    if (mistake) found.set(id, mistake);
  }
  return found;
}

type Request = { readonly level: Level; readonly identities: readonly string[] };

async function verifySamples(opened: OpenedStore, findings: readonly Finding[]): Promise<Sample[]> {
  const { cluster, namespace, store } = opened;
  const labels = { command: 'verify', ...clusterLabels(opened), store: store.url };
  const failed = findings.filter(({ outcome }) => outcome === 'failed');
  const byId = new Map(findings.map((finding) => [finding.id, finding]));
  const entries = (await opened.readAll()).map((entry): Entry => {
    const finding = byId.get(entry.id);
    return finding && !standsAgainst(finding, standingOf(entry)) ? { ...entry, verification: finding } : entry;
  });
  const now = new Date();
  const line = lineOf(entries, { now, clusterName: cluster, namespace }, opened);
  return [
    gauge('etcd_backup_last_run_failed_snapshots', labels, failed.length),
    ...storeSamples(opened, store.url, newestOfLine(entries, opened, line, now)),
  ];
}

/** Undefined when it was deleted meanwhile, as retention does: such a snapshot is neither good nor bad. */
async function verifyOne(
  chosen: Entry,
  request: Request,
  opened: OpenedStore,
  context: CommandContext,
): Promise<Finding | undefined> {
  const { progress, signal, log } = context;
  const { store } = opened;
  const { id } = chosen;
  progress.phase('verify', id);
  const isThere = () => store.stat(chosen.manifestKey, { signal });
  // Only the manifest of an exact key is no entry of the folder.
  const isExact = chosen.manifestKey !== manifestKey(folderOf(opened), id);
  const entry = isExact ? (chosen as WholeEntry) : await readEntry(store, folderOf(opened), id, { signal });
  const finding = entry && (await findOut(entry, request, store, context));
  if (!entry || !finding || (finding.outcome === 'failed' && !(await isThere()))) {
    log.info(`${id}: it was deleted meanwhile`);
    return undefined;
  }
  // Nor is anything noted beside it: a newer agent, or one with more rights, would take it for a finding.
  if (isUnread(entry)) return finding;
  const standing = standingOf(entry);
  if (standsAgainst(finding, standing)) {
    log.warn(`${id}: it still counts as ${stateOf(entry)}: ${standing?.detail}`);
    return finding;
  }
  const document: Verification = {
    schema: VERIFICATION_SCHEMA,
    ...finding,
    at: new Date().toISOString(),
    agent: { version: agentVersion },
  };
  const key = verificationKeyOf(entry.manifestKey);
  await putJson(store, key, document, { signal }).catch((error) => {
    signal.throwIfAborted();
    log.warn(`${id}: what was found could not be noted beside it: ${messageOf(error)}`);
  });
  if (await isThere()) return finding;
  await store.delete(key, { signal });
  log.info(`${id}: it was deleted meanwhile`);
  return undefined;
}

/** Only what was found wrong is a finding; a store that is away says nothing about the snapshot. */
async function findOut(
  entry: Entry | WholeEntry,
  { level, identities }: Request,
  store: Store,
  { settings, progress, signal }: CommandContext,
): Promise<Finding | undefined> {
  const { id, problem } = entry;
  const state = stateOf(entry);
  if (isUnread(entry)) return { id, level, outcome: 'inconclusive', detail: problem ?? '' };
  if (state === 'broken') return { id, level, outcome: 'failed', detail: problem ?? '' };
  const { manifest } = entry as WholeEntry;
  try {
    const proof = await verifyStored(store, manifest, {
      level,
      identities,
      signal,
      scratch: settings.scratch,
      etcdutl: new Etcdutl(settings.text('etcdutl') ?? 'etcdutl'),
      onBytes: (bytes) => progress.bytes(bytes, manifest.object.sizeBytes),
    });
    return { id, level, outcome: proof.level === level ? 'verified' : 'inconclusive', detail: proof.detail };
  } catch (error) {
    signal.throwIfAborted();
    const code = error instanceof AgentError ? error.exitCode : undefined;
    // Gone between two calls.
    if (code === ExitCode.nothingThere) return { id, level, outcome: 'failed', detail: messageOf(error) };
    if (code === ExitCode.verificationFailed) return { id, level, outcome: 'failed', detail: messageOf(error) };
    throw error;
  }
}

const isUnread = ({ unread }: Entry) => unread !== undefined && unread !== 'damaged';

/** A finding that is damaged may have been the worst. */
const standingOf = ({ unread, problem, verification }: Entry): Entry['verification'] =>
  unread === 'damaged' ? { level: 'open', outcome: 'failed', detail: problem } : verification;

/** What a deeper look found wrong, a shallower one does not take back. */
function standsAgainst({ outcome, level }: Finding, standing: Entry['verification']): boolean {
  if (outcome === 'failed') return false;
  const proved = outcome === 'verified' ? level : 'read';
  return standing?.outcome === 'failed' && levels.indexOf(proved) < levels.indexOf(standing.level);
}

async function choose(
  opened: OpenedStore,
  ids: readonly string[],
  part: Part | undefined,
  signal: AbortSignal,
): Promise<readonly Entry[]> {
  const { store, readAll } = opened;
  if (ids.length > 0) {
    const named: Entry[] = [];
    for (const id of ids) named.push(await anyEntry(store, opened, id, { signal }));
    return named;
  }
  const entries = entriesAsked(await readAll(), opened);
  if (entries.length > 0) return entries.filter(({ id }) => !part || bucketOf(id, part.of) === part.number);
  const of = `${folderOf(opened)}${opened.clusterId === undefined ? '' : ` with the cluster id ${opened.clusterId}`}`;
  throw new AgentError(ExitCode.nothingThere, `no snapshots of ${of} in ${store.url}`);
}

interface Part {
  readonly number: number;
  readonly of: number;
}

/** By the id alone, so that a snapshot stays in its part while others come and go. */
function bucketOf(id: string, of: number): number {
  return (createHash('sha256').update(id).digest().readUInt32BE() % of) + 1;
}

function parseSubset(text: string | undefined): Part | undefined {
  if (text === undefined) return undefined;
  const [number, of] = text.split('/').map(Number);
  if (!number || !of || number < 1 || number > of || !Number.isInteger(number) || !Number.isInteger(of)) {
    throw new AgentError(ExitCode.usage, `--subset: '${text}' is no part; write 1/7 for the first of seven`);
  }
  return { number, of };
}
