import type { FencedRestore, Op, RecordDoc } from './record.ts';
import { isOfEtcdRestore } from './restore-id.ts';

// Why the record keeps an EtcdRestore from ever being carried out.

/** What tells two EtcdRestores apart. */
export interface RestoreIdentity {
  readonly name: string;
  readonly uid: string;
  readonly specHash: string;
}

export interface Refusal {
  readonly reason: string;
  readonly message: string;
}

const again = 'create an EtcdRestore with another name and another text in spec.again, such as the date';

/** The operation is its own, or that of the same EtcdRestore before it was created again. */
export const isOpOf = (op: Op | undefined, { name, uid, specHash }: RestoreIdentity): boolean =>
  op?.kind === 'Restore' && op.args.id === name && (op.args.uid === uid || op.args.specHash === specHash);

export const entryOf = ({ restores }: RecordDoc, name: string): FencedRestore | undefined =>
  restores.find(({ id }) => id === name);

/** The restore that the same spec asked for under another name: an EtcdRestore in Git that was renamed. */
export const namesakeOf = (
  { restores, op }: RecordDoc,
  { name, specHash }: RestoreIdentity,
): FencedRestore | undefined => {
  const inFlight = op?.kind === 'Restore' ? op.args.id : undefined;
  return restores.find(({ id, specHash: other }) => ![name, inFlight].includes(id) && other === specHash);
};

/** It was there before the data of the cluster, and would discard them. */
export const isOlder = ({ olderRestores = [] }: RecordDoc, { name, specHash }: RestoreIdentity): boolean =>
  olderRestores.some((older) => older.id === name || older.specHash === specHash);

/** One of its name failed. Whoever brings it back later would discard what was written since. */
export const hasFailed = ({ failedRestores = [] }: RecordDoc, { name }: RestoreIdentity): boolean =>
  failedRestores.includes(name);

/** The EtcdRestore whose data have replaced those of this one. */
export const successorOf = ({ restores }: RecordDoc, { name }: RestoreIdentity): FencedRestore | undefined => {
  const last = restores.findLast(({ id }) => isOfEtcdRestore(id));
  return last && last.id !== name ? last : undefined;
};

/** Why it does nothing, or its data are no longer there; undefined: they are, or it may still begin. */
export function refusalIn(doc: RecordDoc, asked: RestoreIdentity): Refusal | undefined {
  if (isOpOf(doc.op, asked)) return undefined;
  const own = entryOf(doc, asked.name);
  return own ? used(doc, asked, own) : unused(doc, asked);
}

function unused(doc: RecordDoc, asked: RestoreIdentity): Refusal | undefined {
  const other = namesakeOf(doc, asked);
  if (other) {
    const message = `EtcdRestore ${other.id} asked for the same before, so this one does nothing; to restore it again, ${again}`;
    return { reason: 'RestoredUnderOtherName', message };
  }
  if (isOlder(doc, asked)) {
    const message = `this EtcdRestore is older than the data of the cluster, and would discard them; to restore it nevertheless, ${again}`;
    return { reason: 'OlderThanCluster', message };
  }
  if (!hasFailed(doc, asked)) return undefined;
  return { reason: 'NameUsed', message: `an EtcdRestore ${asked.name} failed before; to try again, use another name` };
}

function used(doc: RecordDoc, asked: RestoreIdentity, own: FencedRestore): Refusal | undefined {
  const { name, uid, specHash } = asked;
  if (own.uid !== uid && own.specHash !== '' && own.specHash !== specHash)
    return { reason: 'NameUsed', message: `the name ${name} was used with another spec; use another name` };
  const next = own.uid === uid ? successorOf(doc, asked) : undefined;
  return next && { reason: 'Superseded', message: `EtcdRestore ${next.id} replaces the data that were restored` };
}

/** Of one that was created again: nothing is restored, and nothing is wrong. */
export function alreadyRestored(doc: RecordDoc, asked: RestoreIdentity): Refusal | undefined {
  const own = entryOf(doc, asked.name);
  if (!own || own.uid === asked.uid || isOpOf(doc.op, asked) || refusalIn(doc, asked)) return undefined;
  const next = successorOf(doc, asked);
  const isUnderWay = doc.phase === 'Restoring' && doc.restores.at(-1)?.id === asked.name;
  const what = next
    ? `${asked.name} was begun before, and EtcdRestore ${next.id} has replaced its data since`
    : `${asked.name} was ${isUnderWay ? 'begun' : 'restored'} before`;
  return { reason: 'AlreadyRestored', message: `${what}, so nothing is done; to restore it again, ${again}` };
}
