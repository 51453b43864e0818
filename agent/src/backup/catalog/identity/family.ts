import { type Entry, isUnread } from '../catalog.ts';
import type { Brief } from '../manifest.ts';
import { earliestOf } from '../passed-over.ts';
import { familiesOf } from './identity.ts';
import { ALLOWANCE, livesOf } from './lineage.ts';

type Family = NonNullable<Brief['cluster']['family']>;

/** A snapshot that is about to be taken. */
interface Taken {
  readonly clusterId: string;
  readonly lineage: readonly string[];
  readonly at: Date;
}

/**
 * Returns what a snapshot that is being taken records of its etcd and of those that restores connect with it. `entries` are all
 * that the run has found. `isListed`: there is none but them in the folder. One without a readable manifest may be of this etcd.
 */
export function familyOf(entries: readonly Entry[], { clusterId, lineage, at }: Taken, isListed: boolean): Family {
  const lives = livesOf(entries);
  // A wrong date would be recorded for good.
  const until = at.getTime() + ALLOWANCE;
  const dated = livesOf(entries.filter(({ manifest }) => manifest && Date.parse(manifest.createdAt) <= until));
  // Of a salvaged directory it may not be known which etcd it was.
  const isKnown = clusterId !== 'unknown';
  const ids = new Set(isKnown ? [clusterId, ...lineage] : lineage);
  for (const family of familiesOf(entries))
    if ([...ids].some((id) => family.has(id))) for (const id of family) ids.add(id);
  const earliest = Math.min(
    at.getTime(),
    ...entries.filter((entry) => !entry.manifest && isUnread(entry)).map(earliestOf),
  );
  const own = (isKnown ? lives.get(clusterId) : undefined) ?? {
    first: earliest,
    isWhole: isKnown && isListed && Number.isFinite(earliest),
  };
  const iso = (time: number) => new Date(time).toISOString();
  const family: Family = own.isWhole ? [{ id: clusterId, first: iso(Math.min(own.first, at.getTime())) }] : [];
  for (const id of ids) {
    const life = id === clusterId ? undefined : lives.get(id);
    const last = dated.get(id)?.last;
    if (!life) continue;
    family.push({
      id,
      first: life.isWhole ? iso(life.first) : undefined,
      last: last === undefined ? undefined : iso(last),
    });
  }
  return family;
}
