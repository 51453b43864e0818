import { type Condition, is, unknown } from '../../../protocol/condition.ts';
import { type Reason, reasons } from '../../../protocol/reasons.ts';
import type { AuthReport } from '../../port/observed.ts';
import type { View } from '../engine/view.ts';
import { isBorn } from '../facts/facts.ts';

const type = 'AuthReady';

/** No condition without a certificate of root, unless authentication is asked for. */
export function authentication(v: View): Condition[] {
  const report = v.cluster.authentication;
  return report ? [ready(v, report)] : [];
}

function ready(v: View, { isWanted, seen, refusal, why, removed }: AuthReport): Condition {
  if (refusal) return is(type, false, refusal.reason, refusal.message);
  const forming = isWanted && !seen?.isEnabled ? whyNotFormed(v) : undefined;
  if (forming) return unknown(type, forming);
  if (!seen || seen.age > v.s.authOld) return unknown(type, 'StateUnknown', why ?? 'etcd was not asked yet');
  if (seen.isEnabled !== isWanted) return no(isWanted ? 'AuthNotSwitchedOn' : 'AuthNotSwitchedOff', why);
  if (!isWanted) return is(type, true, 'AuthenticationOff');
  if (seen.hasUsers) return is(type, true, 'AuthenticationOn');
  return is(type, false, 'OnlyRoot', [reasons.OnlyRoot, deleted(removed)].filter(Boolean).join('; '));
}

/** While a cluster forms, nobody has to look at authentication that is not on yet. */
function whyNotFormed(v: View): Reason | undefined {
  const { record } = v.o;
  if (!record.known) return undefined;
  if (!record.v) return v.cluster.status.epoch === undefined ? 'Bootstrapping' : undefined;
  if (isBorn(v)) return undefined;
  return record.v.doc.phase === 'Restoring' ? 'Restoring' : 'Bootstrapping';
}

const no = (reason: Reason, why: string | undefined): Condition =>
  is(type, false, reason, [reasons[reason], why].filter(Boolean).join(': '));

/** As after a restore of a snapshot with users into a cluster without EtcdUsers. */
function deleted(count: number): string | undefined {
  if (count === 0) return undefined;
  return count === 1
    ? '1 user of etcd without an EtcdUser was deleted'
    : `${count} users of etcd without an EtcdUser were deleted`;
}
