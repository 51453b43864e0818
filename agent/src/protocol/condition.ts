import { expectedReasons, faultConditions } from '../../../src/lib/fault-conditions.ts';
import { type Reason, reasons } from './reasons.ts';

export const conditionTypes = [
  'Available',
  'Ready',
  'Reconciling',
  'Progressing',
  'Degraded',
  'QuorumLost',
  'Stalled',
  'Alarm',
  'BackupHealthy',
  'CertificatesReady',
  'TransportReady',
  'AuthReady',
  'VersionSafe',
  'Accepted',
] as const;

export type ConditionType = (typeof conditionTypes)[number];

export interface Condition {
  type: ConditionType;
  status: 'True' | 'False' | 'Unknown';
  reason: Reason;
  message: string;
}

export const is = (
  type: ConditionType,
  status: boolean,
  reason: Reason,
  message: string = reasons[reason],
): Condition => ({
  type,
  status: status ? 'True' : 'False',
  reason,
  message,
});

/** A condition that could not be observed, or that does not apply yet. */
export const unknown = (type: ConditionType, reason: Reason, message: string = reasons[reason]): Condition => ({
  type,
  status: 'Unknown',
  reason,
  message,
});

/** Not a planned restart, and not a database that will soon be full: both end by themselves, and nothing waits for them. */
export const hinders = ({ type, status, reason }: Pick<Condition, 'type' | 'status'> & { reason: string }): boolean =>
  type === 'Degraded' && status === 'True' && reason !== 'Starting' && reason !== 'SpaceShort';

const bad: Partial<Record<ConditionType, 'True' | 'False'>> = faultConditions;

export const isBad = ({ type, status }: Condition): boolean => bad[type] === status;

/** Whether a person has to look: it is bad or not known, and not for a reason of normal operations. */
export const needsAttention = (condition: Condition): boolean =>
  (isBad(condition) || (bad[condition.type] !== undefined && condition.status === 'Unknown')) && !isExpected(condition);

/** Whether the reason belongs to normal operations. No Event reports the beginning or end of such a condition. */
export const isExpected = ({ reason }: Condition): boolean => expectedReasons.includes(reason);
