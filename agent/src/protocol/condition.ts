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

/** The status of a condition that needs attention. */
const bad: Partial<Record<ConditionType, 'True' | 'False'>> = {
  Available: 'False',
  Degraded: 'True',
  QuorumLost: 'True',
  Stalled: 'True',
  Alarm: 'True',
  BackupHealthy: 'False',
  CertificatesReady: 'False',
  TransportReady: 'False',
  AuthReady: 'False',
  Accepted: 'False',
};

/** Reasons that need no attention, because they belong to normal operations. No Event reports their beginning or end. */
const expected: readonly string[] = [
  'Bootstrapping',
  'NoSchedule',
  'Restoring',
  'Starting',
  'NoReadyPod',
  'Issuing',
  'SwitchingTransport',
];

export const isBad = ({ type, status }: Condition): boolean => bad[type] === status;

/** Whether a person has to look: it is bad or not known, and not for a reason of normal operations. */
export const needsAttention = (condition: Condition): boolean =>
  (isBad(condition) || (bad[condition.type] !== undefined && condition.status === 'Unknown')) && !isExpected(condition);

/** Whether the reason belongs to normal operations. */
export const isExpected = ({ reason }: Condition): boolean => expected.includes(reason);
