import { type Reason, reasons } from './reasons.ts';

export const conditionTypes = [
  'Available',
  'Ready',
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
