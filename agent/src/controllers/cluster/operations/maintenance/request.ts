import type { MaintenanceKind, MaintenanceResult, RecordDoc } from '../../../../protocol/record.ts';
import type { Effect } from '../../effect.ts';
import { podName } from '../../names.ts';
import type { MaintenanceRequest } from '../../observed.ts';
import { allVotersHealthy, learners, memberAt, quorumLostLong, voters, wantedSize } from '../../plan/facts.ts';
import type { MemberView, PlacedMember } from '../../plan/member-view.ts';
import { lasts } from '../../plan/observations.ts';
import { type AnyRule, type Guards, rule } from '../../plan/rule.ts';
import type { View } from '../../plan/view.ts';
import { write } from '../../plan/write.ts';

// What a person asks for once, in spec.maintenance. The record keeps the time of the newest request, so each is tried at most
// once, even if its result is lost.

const timeOf = (at: string | undefined): number => Date.parse(at ?? '') || 0;

/** Time of the newest request that was tried or given up, ms. A record that was rebuilt does not know it, the status may. */
const triedAt = (v: View, kind: MaintenanceKind): number => {
  const told = v.cluster.status.maintenance?.[kind];
  const isTried = told !== undefined && told.phase !== 'Waiting';
  return Math.max(timeOf(v.record.maintenance?.[kind]?.at), isTried ? timeOf(told.at) : 0);
};

/** The request that was not tried yet. */
export const untried = (v: View, kind: MaintenanceKind): MaintenanceRequest | undefined => {
  const request = v.spec.maintenance?.[kind];
  return request && timeOf(request.at) > triedAt(v, kind) ? request : undefined;
};

/** The same, once its time has come. */
export const due = (v: View, kind: MaintenanceKind): MaintenanceRequest | undefined => {
  const request = untried(v, kind);
  return request && timeOf(request.at) <= v.date ? request : undefined;
};

/** The voter that a request names, or undefined. */
export const voterAt = (v: View, ordinal: number | undefined): PlacedMember | undefined => {
  const member = ordinal === undefined ? undefined : memberAt(v, ordinal);
  return member?.isLearner === false ? member : undefined;
};

/** The voters of the spec are there, no more and no fewer. */
const isWhole = (v: View): boolean =>
  allVotersHealthy(v) && learners(v).length === 0 && voters(v).length === wantedSize(v);

/** What every request waits for. */
export const whole: Guards<unknown> = { 'every member exists and is healthy': isWhole };

/** For how long it could not begin, it is no longer expected. */
const isLate = (v: View, { at }: MaintenanceRequest): boolean => v.date - timeOf(at) >= v.s.maintenanceLate;

const namesNoVoter = (v: View, { ordinal }: MaintenanceRequest): boolean =>
  ordinal !== undefined && isWhole(v) && voterAt(v, ordinal) === undefined;

/** Gives up a request that cannot begin. */
export const giveUp = ({ name, kind }: { name: string; kind: MaintenanceKind }): AnyRule =>
  rule({
    name,
    does: 'WriteRecord',
    from: 'running',
    to: 'running',
    when: { 'it is asked for, and its time has come': (v) => due(v, kind) !== undefined },
    requires: {
      'it is too late, or it names no voting member': (v) => {
        const request = due(v, kind)!;
        return isLate(v, request) || namesNoVoter(v, request);
      },
    },
    effect: (v) => {
      const request = due(v, kind)!;
      const { at, ordinal = 0 } = request;
      const message = namesNoVoter(v, request)
        ? `${podName(v.cluster, ordinal)} is not a voting member`
        : 'it could not begin in time; ask again with another time';
      return result(v, kind, { at, phase: 'Failed', message });
    },
  });

const result = (v: View, kind: MaintenanceKind, next: MaintenanceResult, change: Partial<RecordDoc> = {}): Effect =>
  write(v, { ...change, maintenance: { ...v.record.maintenance, [kind]: next } });

/** Takes the slot. From now on the request counts as tried. */
export const begin = (v: View, kind: MaintenanceKind, op: NonNullable<RecordDoc['op']>): Effect => {
  const { at } = due(v, kind)!;
  return result(v, kind, { at, phase: 'Running', message: 'it has begun' }, { op });
};

/** Frees the slot. */
export const end = (v: View, kind: MaintenanceKind, phase: 'Completed' | 'Failed', message: string): Effect => {
  const { at } = v.record.maintenance![kind]!;
  return result(v, kind, { at, phase, message: message.slice(0, 512) }, { op: undefined });
};

/** Something else comes first: a voter has not answered for some time, or the agent in its pod for longer. */
export const isDisturbed = (v: View): boolean => quorumLostLong(v) || disturber(v) !== undefined;

const disturber = (v: View): MemberView | undefined =>
  voters(v).find(({ id, ordinal }) => lasts(v, v.o.since.down[id], v.s.stable) || isSilent(v, ordinal));

const isSilent = (v: View, ordinal: number | undefined): boolean =>
  ordinal !== undefined && lasts(v, v.o.since.silent?.[ordinal], v.s.unreachable);

export const disturbance = (v: View): string => {
  const ordinal = disturber(v)?.ordinal;
  return ordinal === undefined ? 'no quorum answers' : `${podName(v.cluster, ordinal)} does not answer`;
};
