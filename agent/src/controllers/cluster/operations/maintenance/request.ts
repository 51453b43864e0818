import type { MaintenanceKind, MaintenanceResult, RecordDoc } from '../../../../protocol/record.ts';
import { triedRequest } from '../../../../protocol/tried-request.ts';
import type { Effect } from '../../../port/effect.ts';
import { podName } from '../../../port/names.ts';
import type { MaintenanceRequest } from '../../../port/observed.ts';
import { type AnyRule, type Guards, rule } from '../../engine/rule.ts';
import type { View } from '../../engine/view.ts';
import { memberAt, quorumLostLong, voters } from '../../facts/facts.ts';
import type { MemberView, PlacedMember } from '../../facts/member-view.ts';
import { lasts } from '../../facts/observations.ts';
import { lacking } from '../../facts/up-to-date.ts';
import { write } from '../record/write.ts';

// What a person asks for once, in spec.maintenance. The record keeps the time of the newest request, so each is tried at most
// once, even if its result is lost.

const timeOf = (at: string | undefined): number => Date.parse(at ?? '') || 0;

/** The newest request that was tried or given up. The status may know a newer one than a record that was put back. */
export function newest(v: View, kind: MaintenanceKind): MaintenanceResult | undefined {
  const recorded = v.record.maintenance?.[kind];
  const told = triedRequest(v.cluster.status.maintenance?.[kind]);
  return told && timeOf(told.at) > timeOf(recorded?.at) ? told : recorded;
}

/** The request that was not tried yet. */
export const untried = (v: View, kind: MaintenanceKind): MaintenanceRequest | undefined => {
  const request = v.spec.maintenance?.[kind];
  return request && timeOf(request.at) > timeOf(newest(v, kind)?.at) ? request : undefined;
};

/** The same, once its time has come. */
export const due = (v: View, kind: MaintenanceKind): MaintenanceRequest | undefined => {
  const request = untried(v, kind);
  return request && timeOf(request.at) <= v.date ? request : undefined;
};

/** The voter of this ordinal. */
export const voterAt = (v: View, ordinal: number | undefined): PlacedMember | undefined => {
  const member = ordinal === undefined ? undefined : memberAt(v, ordinal);
  return member?.isLearner === false ? member : undefined;
};

const isReady = (v: View): boolean => lacking(v) === undefined;

/** What every request waits for. */
export const ready: Guards<unknown> = { 'the cluster is ready': isReady };

/** For how long it could not begin, it is no longer expected. */
export const isLate = (v: View, { at }: MaintenanceRequest): boolean => v.date - timeOf(at) >= v.s.maintenanceLate;

export const late = 'it could not begin in time; ask again with another time';

/** Why it can never begin. */
function flaw(v: View, kind: MaintenanceKind, { ordinal }: MaintenanceRequest): string | undefined {
  if (ordinal === undefined) return kind === 'moveLeader' ? 'it names no member' : undefined;
  return isReady(v) && !voterAt(v, ordinal) ? `${podName(v.cluster, ordinal)} is not a voting member` : undefined;
}

/** Gives up a request that cannot begin. */
export const giveUp = ({ name, kind }: { name: string; kind: MaintenanceKind }): AnyRule =>
  rule({
    name,
    does: 'WriteRecord',
    from: 'running',
    to: 'running',
    when: { 'it is asked for, and its time has come': (v) => due(v, kind) !== undefined },
    requires: {
      'it is too late, or it names no voting member': (v) =>
        isLate(v, due(v, kind)!) || flaw(v, kind, due(v, kind)!) !== undefined,
    },
    effect: (v) => {
      const request = due(v, kind)!;
      const message = flaw(v, kind, request) ?? late;
      return result(v, kind, { at: request.at, phase: 'Failed', message });
    },
  });

const result = (v: View, kind: MaintenanceKind, next: MaintenanceResult, change: Partial<RecordDoc> = {}): Effect =>
  write(v, { ...change, maintenance: { ...v.record.maintenance, [kind]: next } });

type MaintenanceOp = Extract<NonNullable<RecordDoc['op']>, { kind: 'Defragment' | 'MoveLeader' }>;

const kinds = { Defragment: 'defragment', MoveLeader: 'moveLeader' } as const;

/** Its operation has the slot. */
export function isInFlight(v: View, kind: MaintenanceKind): boolean {
  const op = v.op('Defragment') ?? v.op('MoveLeader');
  return op !== undefined && kinds[op.kind] === kind;
}

/** Takes the slot. From now on the request counts as tried. */
export const begin = (v: View, op: MaintenanceOp): Effect =>
  result(v, kinds[op.kind], { at: op.at, phase: 'Running', message: 'it has begun' }, { op });

/** Frees the slot. */
export const end = (v: View, { kind, at }: MaintenanceOp, phase: 'Completed' | 'Failed', message: string): Effect =>
  result(v, kinds[kind], { at, phase, message: message.slice(0, 512) }, { op: undefined });

/** A voter has not answered for some time, or something else has been wrong with one for longer. */
export const isDisturbed = (v: View): boolean =>
  quorumLostLong(v) || disturber(v) !== undefined || lasts(v, v.o.since.unwell, v.s.unreachable);

const disturber = (v: View): MemberView | undefined => voters(v).find((m) => isDown(v, m) || isSilent(v, m.ordinal));

/** Or lags far behind, as after a defragmentation under many writes. */
export const isDown = (v: View, { id }: Pick<MemberView, 'id'>): boolean =>
  lasts(v, v.o.since.down[id], v.s.unreachable);

const isSilent = (v: View, ordinal: number | undefined): boolean =>
  ordinal !== undefined && lasts(v, v.o.since.silent?.[ordinal], v.s.unreachable);

export const disturbance = (v: View): string => {
  const found = disturber(v);
  if (found) return `${podOf(v, found)} does not answer, or lags behind`;
  return quorumLostLong(v) ? 'no quorum answers' : 'not every member is healthy';
};

export const podOf = (v: View, { id, ordinal }: Pick<MemberView, 'id' | 'ordinal'>): string =>
  ordinal === undefined ? `member ${id}` : podName(v.cluster, ordinal);
