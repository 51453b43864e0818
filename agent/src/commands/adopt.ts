import {
  type AdoptableFile,
  type AdoptContext,
  adoptFile,
  findAdoptable,
  findByKey,
  isEncrypted,
  PROOF,
  replacedText,
  type Skipped,
  UNNAMEABLE,
} from '../backup/adopt/adopt.ts';
import { type Entry, isLost, isYoung, silentText } from '../backup/catalog/catalog.ts';
import { revisionOf, type SnapshotManifest } from '../backup/catalog/manifest.ts';
import { adoptable, remedyOf } from '../backup/catalog/remedy.ts';
import { AWAY, Turns } from '../backup/catalog/silence.ts';
import { isSnapshotId } from '../backup/catalog/snapshot-id.ts';
import { isRefused } from '../backup/catalog/withdraw.ts';
import { AgentError, ExitCode } from '../lib/errors.ts';
import { withTimeout } from '../lib/limits/budget.ts';
import { formatBytes } from '../lib/terminal/progress.ts';
import { table } from '../lib/terminal/table.ts';
import { timeAt } from '../store/clock.ts';
import { adoptAllText, adoptCommand, type KnownPlace } from './advice/adopt.ts';
import { advised, said, told } from './advice/advice.ts';
import { type Elsewhere, elsewhere, refuseTooDeep } from './advice/elsewhere.ts';
import type { Command, CommandContext } from './cli/command.ts';
import type { CommandResult } from './cli/result.ts';
import { adoptContext } from './shared/adopt-key.ts';
import { answeringOf } from './shared/answering.ts';
import type { OpenedStore } from './shared/opened-store.ts';
import { withStore } from './shared/store-run.ts';

interface Outcome {
  readonly key: string;
  readonly outcome: 'adopted' | 'would be adopted' | 'skipped' | 'failed';
  readonly detail: string;
  readonly id?: string;
  readonly createdAt?: string;
  readonly sizeBytes?: number;
  readonly revision?: number;
  readonly warning?: string;
  /** The alarms in its database, and what they mean. */
  readonly alarms?: readonly string[];
  readonly alarmNote?: string;
  /** What becomes of the finding of an earlier `verify`. */
  readonly finding?: string;
  /** Where the manifest is that was replaced. */
  readonly replaced?: string;
  /** Why it failed, as the exit code of a command for this file alone. */
  readonly exitCode?: ExitCode;
}

const away = new AgentError(
  ExitCode.storeUnreachable,
  `not read, because the ${AWAY} before it could not be; check that the store answers, and run the command again`,
);

/** Fixed time of a trial restore, as the number of bytes that take as long. */
const EACH = 20 * 1024 * 1024;

export const run: Command = (context) => withTimeout(context, adopt);

async function adopt(context: CommandContext): Promise<CommandResult> {
  const { settings, signal, log } = context;
  return withStore(context, async (opened) => {
    const { cluster, store } = opened;
    // Which files have no manifest yet is known only from all manifests.
    const entries = settings.args.length === 0 ? await opened.readAll() : await answeringOf(opened, context);
    await refuseTooDeep(opened, entries, context);
    const silent = settings.args.length === 0 ? silentText(entries.filter(({ manifest }) => !manifest)) : undefined;
    if (silent) {
      throw new AgentError(
        ExitCode.storeUnreachable,
        `${store.url}: ${silent}; it may name one of the files: try again, or name the files to adopt`,
      );
    }
    const refusedOnes = entries.filter(({ state, manifest }) => state === 'refused' && !manifest);
    for (const { id, problem } of settings.args.length === 0 ? refusedOnes : [])
      log.warn({ store: store.url }, `${id}: ${problem}; if it names one of these files, that file is adopted again`);
    const adopting = { ...(await adoptContext(opened, context, entries)), replacesIntact: true };
    const outcomes: Outcome[] = [];
    const found: AdoptableFile[] = [];
    const passBy = ({ key, why, finding }: Skipped) =>
      outcomes.push(
        why === UNNAMEABLE
          ? failure(escaped(key), new AgentError(ExitCode.refused, why))
          : { key, outcome: 'skipped', detail: told({ message: why, finding }) },
      );
    if (settings.args.length === 0) {
      const all = await findAdoptable(adopting, { signal });
      found.push(...all.found);
      all.skipped.forEach(passBy);
    }
    for (const key of new Set(settings.args.map((each) => each.replace(/^\/+/, '')))) {
      const one = await findByKey(key, adopting, { signal }).catch((error) =>
        orFailed(key, error, context, { place: opened, settings }),
      );
      if ('why' in one && !one.isDone) outcomes.push(orFailed(key, refused(one), context));
      else if ('why' in one) passBy(one);
      else if ('outcome' in one) outcomes.push(one);
      else found.push(one);
    }
    context.budget.grow(found.reduce((sum, { object }) => sum + 4 * object.size + EACH, 0));
    const turns = new Turns(store, found.length === 1);
    for (const one of found) {
      const outcome = turns.isOver
        ? failure(one.object.key, away)
        : await adoptOne(one, { ...adopting, store: turns.next() }, { place: opened, settings }, context);
      if (!turns.isOver) turns.count(outcome.exitCode === ExitCode.storeUnreachable);
      if (outcome.outcome === 'adopted') log.info(`${outcome.key}: adopted as ${outcome.id}`);
      outcomes.push(outcome);
    }
    for (const { key, outcome, detail } of outcomes) {
      if (outcome === 'failed') log.error(detail.includes(key) ? detail : `${key}: ${detail}`);
    }
    const dated = [...outcomes, ...adopting.entries.map(datedOf)];
    const checked = outcomes.map((outcome) => {
      const order = orderWarning(outcome, dated);
      if (!order) return outcome;
      log.warn(`${outcome.key}: ${order}`);
      return { ...outcome, warning: `${outcome.warning}; ${order}` };
    });
    const isNone = outcomes.length + entries.length === 0;
    const others = isNone ? await elsewhere(opened, context) : { text: '', isFound: false };
    const leftOut = settings.args.length === 0 ? await leftOutOf(opened, entries, context) : none;
    return describe(checked, { cluster, store: store.url, dryRun: settings.flag('dryRun') }, { leftOut, others });
  });
}

/** Payloads of the agent without a manifest. They are adopted only by their keys, as a backup may be running. */
interface LeftOut {
  readonly keys: readonly string[];
  readonly text: readonly string[];
}

const none: LeftOut = { keys: [], text: [] };

async function leftOutOf(
  opened: OpenedStore,
  entries: readonly Entry[],
  { settings, signal }: CommandContext,
): Promise<LeftOut> {
  const now = await timeAt(opened.store, { signal });
  const known = { place: opened, settings };
  // What is under names of the user's is among the files that are skipped.
  const without = (await opened.list()).withoutManifest(now).filter(({ id }) => isSnapshotId(id));
  const [lost, young] = [without.filter(isLost), without.filter(isYoung)];
  const keys = adoptable(lost, { entries });
  const [only] = keys;
  const how =
    keys.length === 1
      ? `if no backup is running, ${adoptCommand(known, [only!])} writes its manifest`
      : adoptAllText(opened, lost, { entries }, settings);
  return {
    keys: [...keys, ...adoptable(young, { entries })],
    text: [
      ...(keys.length > 0 ? [`left out: ${counted(keys.length)} of a backup without a manifest; ${how}`] : []),
      ...young.map(
        (entry) =>
          `left out: ${entry.id}: ${entry.problem}${advised(remedyOf(entry, opened, { now, entries }), known)}`,
      ),
    ],
  };
}

const counted = (count: number) => (count === 1 ? '1 payload' : `${count} payloads`);

type Dated = Pick<Outcome, 'id' | 'createdAt' | 'revision'>;

const datedOf = ({ id, manifest }: Entry): Dated => ({
  id,
  createdAt: manifest?.createdAt,
  revision: manifest && revisionOf(manifest),
});

/** Compares revisions where the time of a snapshot is uncertain. Only a restore can lower the revision. */
function orderWarning({ id, warning, createdAt, revision }: Outcome, dated: readonly Dated[]): string | undefined {
  if (!warning || createdAt === undefined || revision === undefined) return undefined;
  const isAhead = (other: Dated): boolean =>
    other.id !== id &&
    other.createdAt !== undefined &&
    Date.parse(other.createdAt) < Date.parse(createdAt) &&
    (other.revision ?? 0) > revision;
  const other = dated.find(isAhead);
  return (
    other &&
    `its revision ${revision} is lower than revision ${other.revision} of ${other.id}, which has an earlier time; if this snapshot is not the newest, name the snapshot to restore`
  );
}

async function adoptOne(
  found: AdoptableFile,
  adopting: AdoptContext,
  known: KnownPlace,
  context: CommandContext,
): Promise<Outcome> {
  const { settings, progress, signal } = context;
  const { key, size } = found.object;
  // If the user has named the file, this is an error instead.
  if (isEncrypted(key) && adopting.identities.length === 0 && settings.args.length === 0) {
    return { key, outcome: 'skipped', detail: 'it is encrypted; pass --age-identity-file' };
  }
  progress.phase('adopt', key);
  try {
    const onBytes = (bytes: number) => progress.bytes(bytes, size);
    const dryRun = settings.flag('dryRun');
    const { manifest, revision, warning, became, aside } = await adoptFile(found, { ...adopting, onBytes }, { dryRun });
    return {
      key,
      outcome: dryRun ? 'would be adopted' : 'adopted',
      detail: PROOF,
      id: manifest.id,
      createdAt: manifest.createdAt,
      sizeBytes: manifest.content.sizeBytes,
      revision,
      warning,
      ...alarmNote(manifest),
      finding: became && `${became.text}${advised(became.finding, known)}`,
      replaced: aside,
    };
  } catch (error) {
    signal.throwIfAborted();
    // A manifest that was written meanwhile.
    if (isRefused(error) && settings.args.length === 0) return { key, outcome: 'skipped', detail: said(error, known) };
    return orFailed(key, error, context, known);
  }
}

/** What the alarms in the database say about the snapshot. */
function alarmNote({ source: { alarms } }: SnapshotManifest): Pick<Outcome, 'alarms' | 'alarmNote'> {
  if (alarms.length === 0) return {};
  const isCorrupt = alarms.includes('CORRUPT');
  const alarmNote = isCorrupt
    ? 'its database has a CORRUPT alarm, so the data may be those of a damaged member: it is SUSPECT and does not count as verified'
    : 'its database has a NOSPACE alarm: a restored etcd refuses writes until it is defragmented and the alarm is cleared';
  return { alarms, alarmNote };
}

/** What fails for one file does not keep the others from being adopted. */
function orFailed(key: string, error: unknown, { settings, signal }: CommandContext, known?: KnownPlace): Outcome {
  signal.throwIfAborted();
  if (!(error instanceof AgentError)) throw error;
  // For a single file, this is the error of the command. A file that is not a snapshot is a result.
  if (settings.args.length === 1 && error.exitCode !== ExitCode.verificationFailed) throw error;
  return failure(key, error, known);
}

const refused = ({ key, why, finding }: Skipped) => new AgentError(ExitCode.refused, `${key}: ${why}`, { finding });

const failure = (key: string, error: AgentError, known?: KnownPlace): Outcome => ({
  ...{ key, outcome: 'failed', detail: said(error, known), exitCode: error.exitCode },
});

/** A name with control characters, on one line. */
const escaped = (key: string) => JSON.stringify(key);

/** If nothing was adopted, or if another run may adopt the rest, the code of the first failure says more than that some files were left out. */
function exitCodeOf(outcomes: readonly Outcome[]): ExitCode {
  const failed = outcomes.filter(({ outcome }) => outcome === 'failed');
  if (failed.length === 0) return ExitCode.done;
  const isPartial = outcomes.some(({ outcome }) => outcome !== 'failed');
  const isAway = failed.every(({ exitCode }) => exitCode === ExitCode.storeUnreachable);
  return isPartial && !isAway ? ExitCode.verificationFailed : (failed[0]!.exitCode ?? ExitCode.verificationFailed);
}

function describe(
  outcomes: readonly Outcome[],
  common: { cluster: string; store: string; dryRun: boolean },
  { leftOut, others }: { readonly leftOut: LeftOut; readonly others: Elsewhere },
): CommandResult {
  const count = (what: RegExp) => outcomes.filter(({ outcome }) => what.test(outcome)).length;
  const counts = { adopted: count(/adopted$/), skipped: count(/^skipped$/), failed: count(/^failed$/) };
  const rows = outcomes.map(
    ({ key, id, createdAt, sizeBytes, outcome, warning, alarmNote, finding, replaced, detail }) => [
      key,
      outcome,
      id ?? '',
      createdAt ?? '',
      sizeBytes === undefined ? '' : formatBytes(sizeBytes),
      [warning, alarmNote, replaced && replacedText(replaced), finding, id ? undefined : detail]
        .filter((note) => note !== undefined)
        .join('; '),
    ],
  );
  return {
    exitCode: others.isFound ? ExitCode.nothingThere : exitCodeOf(outcomes),
    text: [
      outcomes.length === 0
        ? `nothing to adopt in ${common.store}${others.text}`
        : table(['KEY', 'OUTCOME', 'ID', 'TIME', 'SIZE', 'NOTE'], rows),
      ...(counts.adopted > 0 ? [`${PROOF}`] : []),
      ...leftOut.text,
    ].join('\n'),
    data: { ...common, ...counts, snapshots: outcomes, leftOut: leftOut.keys.length > 0 ? leftOut.keys : undefined },
  };
}
