import { milliseconds, parseDuration } from '../lib/duration';
import type { CertManagerTlsSpec, TlsSpec } from '../resource/types';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** Problems with the durations in `spec.tls`, which rules of a schema cannot compare. A text that is not a duration is reported elsewhere. */
export function tlsTimeProblems({ acceptPlaintextFor, certManager, alsoTrust }: TlsSpec): string[] {
  return [
    ...(acceptPlaintextFor === undefined ? [] : plaintextProblems(acceptPlaintextFor)),
    ...[certManager, alsoTrust?.certManager].flatMap((source) => (source ? certificateProblems(source) : [])),
  ];
}

export function plaintextProblems(text: string): string[] {
  const accepted = millisecondsOf(text);
  const what = `tls: acceptPlaintextFor: ${text} is`;
  if (!Number.isSafeInteger(accepted))
    return [`${what} not a whole number of milliseconds; give another one, such as 24h`];
  return accepted > 365 * day ? [`${what} longer than a year; give at most 365d`] : [];
}

export function certificateProblems({ duration, renewBefore }: CertManagerTlsSpec): string[] {
  const valid = duration === undefined ? 90 * day : millisecondsOf(duration);
  if (valid < hour) return [`tls: duration: ${duration} is less than the hour that cert-manager requires; give more`];
  if (renewBefore === undefined) return [];
  const before = millisecondsOf(renewBefore);
  if (before < 5 * minute)
    return [`tls: renewBefore: ${renewBefore} is less than the 5m that cert-manager requires; give more`];
  if (before < valid) return [];
  return [
    `tls: renewBefore: ${renewBefore} is not less than duration, so the certificates would be renewed all the time; lower it`,
  ];
}

function millisecondsOf(text: string): number {
  const duration = parseDuration(text);
  return duration ? milliseconds(duration) : Number.NaN;
}
