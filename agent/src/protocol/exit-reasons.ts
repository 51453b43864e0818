import { ExitCode } from '../lib/errors.ts';

/** Why a Job failed, in one word for the status of its EtcdBackup or EtcdRestore. docs/reference/exit-codes.md explains the codes. */
export const exitReasons: Readonly<Record<number, string>> = {
  [ExitCode.usage]: 'BadConfiguration',
  [ExitCode.partial]: 'PartlyStored',
  [ExitCode.etcdUnavailable]: 'EtcdUnavailable',
  [ExitCode.sourceSuspect]: 'SourceSuspect',
  [ExitCode.storeUnreachable]: 'StoreUnreachable',
  [ExitCode.storeRefused]: 'StoreRefused',
  [ExitCode.verificationFailed]: 'VerificationFailed',
  [ExitCode.refused]: 'Refused',
  [ExitCode.timedOut]: 'TimedOut',
};

const ofStore: readonly (number | undefined)[] = [ExitCode.usage, ExitCode.storeUnreachable, ExitCode.storeRefused];

/** Anything else that ends the Job of a restore is about its snapshot. */
export const restoreReason = (exitCode: number | undefined): string =>
  ofStore.includes(exitCode) ? exitReasons[exitCode!]! : 'SnapshotRefused';
