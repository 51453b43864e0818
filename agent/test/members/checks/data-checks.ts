import type { Target } from '../support/kv-client.ts';
import type { Watcher } from '../support/watcher.ts';
import { acknowledged, type History, type Write } from './history.ts';
import { contradictions } from './linearizable.ts';
import { type MemberView, openVoters } from './member-view.ts';

/** A restore: writes that this cluster acknowledged after this revision are missing in the next one. */
export interface Loss {
  readonly clusterId: string;
  readonly revision: number;
}

const some = (wrong: readonly string[]): string[] =>
  wrong.length > 5 ? [...wrong.slice(0, 5), `… and ${wrong.length - 5} more`] : [...wrong];

/**
 * Every acknowledged write is readable with its value, by a linearizable read and from each voter, and nothing else is
 * (protocol.md: AcknowledgedWritesKept).
 */
export async function dataIsThere(
  target: Target,
  prefix: string,
  history: History,
  losses: readonly Loss[],
  voters: number,
): Promise<string[]> {
  const members = await openVoters(target);
  try {
    if (members.length !== voters) return [`AcknowledgedWritesKept: ${members.length} voters answer, not ${voters}`];
    const revision = Math.max(...(await Promise.all(members.map((member) => member.sync()))));
    const wrong: string[] = [];
    for (const member of members) {
      for (const serializable of [false, true]) {
        const found = await member.read(prefix, { revision, serializable });
        const how = `AcknowledgedWritesKept: ${serializable ? 'serializable' : 'linearizable'} read at ${member.endpoint}`;
        wrong.push(...some(missing(found, history, losses)).map((what) => `${how}: ${what}`));
      }
    }
    return [...wrong, ...(await sameHashes(members, revision))];
  } finally {
    for (const member of members) member[Symbol.dispose]();
  }
}

function missing(
  found: ReadonlyMap<string, string>,
  { writes, registers }: History,
  losses: readonly Loss[],
): string[] {
  const byKey = new Map(writes.map((write) => [write.key, write]));
  const registerKeys = new Set(registers.map(({ key }) => key));
  const strange = [...found.keys()].filter((key) => !byKey.has(key) && !registerKeys.has(key));
  return [
    ...strange.map((key) => `${key} was never written`),
    ...writes.flatMap((write) => wrongWith(write, found.get(write.key), losses)),
  ];
}

function wrongWith(write: Write, value: string | undefined, losses: readonly Loss[]): string[] {
  const { key, outcome, clusterId, revision } = write;
  if (value !== undefined && value !== write.value) return [`${key} is ${value}, not ${write.value}`];
  if (outcome === 'failed' && value !== undefined) return [`${key} is there, though it was refused`];
  if (outcome !== 'ok') return [];
  const lost = losses.some((loss) => loss.clusterId === clusterId && revision! > loss.revision);
  if (lost && value !== undefined) return [`${key} of revision ${revision} is there, though the snapshot is older`];
  if (!lost && value === undefined) return [`${key} of revision ${revision} of cluster ${clusterId} is missing`];
  return [];
}

/** HashKV is equal on all voters (protocol.md: VotersAgree). */
async function sameHashes(members: readonly MemberView[], revision: number): Promise<string[]> {
  const answers = await Promise.all(
    members.map(async (member) => {
      const { hash, compactRevision } = await member.hashKV(revision);
      return { endpoint: member.endpoint, told: `${hash} (compacted at ${compactRevision})` };
    }),
  );
  if (new Set(answers.map(({ told }) => told)).size <= 1) return [];
  return [
    `VotersAgree: HashKV at ${revision}: ${answers.map(({ endpoint, told }) => `${endpoint} ${told}`).join(', ')}`,
  ];
}

/** The revisions that one client sees never decrease (protocol.md: RevisionsRise). */
export function revisionsRise({ writes, registers }: History): string[] {
  const last = new Map<number, number>();
  const answers = acknowledged([...writes, ...registers]).sort((a, b) => a.start - b.start);
  return some(
    answers.flatMap(({ client, revision, key }) => {
      const before = last.get(client) ?? 0;
      last.set(client, revision);
      return revision < before
        ? [`RevisionsRise: client ${client} saw revision ${revision} after ${before}, at ${key}`]
        : [];
    }),
  );
}

/** Every register is linearizable. */
export const registersLinearize = ({ registers, clusterIds }: History): string[] =>
  contradictions(registers, clusterIds);

/** The watcher saw every acknowledged change once, in order, at its revision, and no other change. */
export function watchedAll({ writes, registers }: History, watcher: Watcher): string[] {
  const seen = new Map(watcher.events.map((event) => [`${event.clusterId} ${event.modRevision}`, event]));
  const skipped = (clusterId: string, revision: number) =>
    watcher.compacted.some(
      (one) => one.compactRevision > revision && (one.asked <= revision || one.clusterId !== clusterId),
    );
  const changes = [...writes, ...registers.filter(({ kind }) => kind !== 'read')];
  const unseen = acknowledged(changes).flatMap(({ key, value, clusterId, revision }) => {
    const event = seen.get(`${clusterId} ${revision}`);
    if (event?.key === key && event.value === value) return [];
    if (!event && skipped(clusterId, revision)) return [];
    return [`the watcher saw ${event ? `${event.key}=${event.value}` : 'nothing'} at ${revision}, not ${key}=${value}`];
  });
  const made = new Set(
    changes.filter(({ outcome }) => outcome !== 'failed').map(({ key, value }) => `${key}=${value}`),
  );
  const strange = watcher.events
    .filter(({ key, value }) => !made.has(`${key}=${value}`))
    .map(({ key, value, modRevision }) => `the watcher saw ${key}=${value} at ${modRevision}, which nobody wrote`);
  return [...some(unseen), ...some(strange), ...some(watcher.disorder)];
}
