import type { View } from '../engine/view.ts';
import { learners, nameOf, voters } from './facts.ts';
import { isPlaced, listed } from './member-view.ts';
import {
  acceptsBoth,
  askedScheme,
  hasBegun,
  hasBoth,
  hasOnly,
  isPlaintextOver,
  mayBeSwitched,
  reports,
  speaksOtherwise,
  transportOf,
  transportRefusal,
  whyNoCertificates,
} from './transport.ts';
import { restlessness, tlsMismatch } from './upgrade-path.ts';

/** The step of a switch, and how many members have taken it; undefined: none is in progress, or it waits for clients. */
export const switchStep = (v: View): string | undefined => {
  if (!v.o.members.known) return undefined;
  const step = (askedScheme(v) === 'https' ? stepOn(v) : stepOff(v)) ?? learnerBehind(v);
  return step && `TLS is being switched ${askedScheme(v) === 'https' ? 'on' : 'off'}: ${step}`;
};

function stepOn(v: View): string | undefined {
  const { peers, target } = transportOf(v);
  if (target !== 'https') return notBegun(v);
  if (peers === 'https') return rolled(v, 'step 3 of 4', 'use TLS') ?? cut(v, 'step 4 of 4');
  const ready = reports(v).filter((report) => report && acceptsBoth(report)).length;
  const first = counted(v, ready, 'step 1 of 4', 'have certificates, and accept http and https from clients');
  return first ?? doubled(v, 'step 2 of 4') ?? (isPlaintextOver(v) ? `step 3 of 4: ${ofAll(v, 0)} use TLS` : undefined);
}

function stepOff(v: View): string | undefined {
  const { peers, clients, target } = transportOf(v);
  if (target !== 'http') return notBegun(v);
  if (peers === 'https') return doubled(v, 'step 1 of 4') ?? `step 2 of 4: ${ofAll(v, 0)} use http among themselves`;
  if (v.spec.tls) return rolled(v, 'step 2 of 4', 'use http among themselves') ?? cut(v, 'step 3 of 4');
  const last = { step: 'step 4 of 4', what: 'use http without certificates' };
  if (clients === 'both') return `${last.step}: ${ofAll(v, 0)} ${last.what}`;
  return rolled(v, last.step, last.what) ?? cut(v, 'step 3 of 4');
}

/** It is restarted before it votes, but accepts clients until then. */
function learnerBehind(v: View): string | undefined {
  const learner = learners(v)
    .filter(isPlaced)
    .find((member) => speaksOtherwise(v, member));
  return learner && `${nameOf(v, learner)}, a learner, has yet to be restarted`;
}

function notBegun(v: View): string {
  if (transportRefusal(v) !== undefined) return 'it is refused: see the condition TransportReady';
  const why = whyNotBegun(v);
  return why === undefined ? 'it begins' : `it has not begun, because ${why}`;
}

/** Undefined: it begins now, or has begun. */
export function whyNotBegun(v: View): string | undefined {
  if (transportOf(v).target === askedScheme(v)) return undefined;
  const mismatch = tlsMismatch(v);
  if (mismatch) return `the StatefulSet’s template ${mismatch}`;
  if (v.spec.paused) return 'spec.paused is true';
  if (v.record.op) return 'an operation is in flight';
  const without = whyNoCertificates(v);
  if (without !== undefined) return without;
  if (!mayBeSwitched(v)) return 'it is not known yet whether etcd has users';
  return hasBegun(v) ? undefined : restlessness(v);
}

const ofAll = (v: View, there: number): string => `${there} of ${voters(v).length} members`;

const counted = (v: View, there: number, step: string, what: string): string | undefined =>
  there === voters(v).length ? undefined : `${step}: ${ofAll(v, there)} ${what}`;

function doubled(v: View, step: string): string | undefined {
  const learner = learners(v).find((member) => !hasBoth(member));
  const all = counted(v, voters(v).filter(hasBoth).length, step, 'have peer URLs of both schemes');
  return all ?? (learner && `${step}: ${nameOf(v, learner)}, a learner, has to become a voter first`);
}

/** Where every member has the URL of one scheme only, all had reported that they use it. */
function rolled(v: View, step: string, what: string): string | undefined {
  const isDone = listed(v).every((member) => hasOnly(transportOf(v).target, member));
  const other = voters(v).filter(({ ordinal = -1, agent }) =>
    isDone && !agent?.transport ? false : !agent?.transport || speaksOtherwise(v, { ordinal }),
  );
  return counted(v, voters(v).length - other.length, step, what);
}

function cut(v: View, step: string): string | undefined {
  const { target } = transportOf(v);
  const there = voters(v).filter((member) => hasOnly(target, member)).length;
  return counted(v, there, step, `have no peer URL but that of ${target}`);
}
