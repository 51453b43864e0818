import { ordinalProblem } from '../etcd/ordinals';
import { nameProblem, problemsOf } from '../validation/names';

/**
 * Lets a cluster go on from one surviving member after most members were lost for good. Until then it waits, as members
 * that come back lose nothing.
 */
export interface QuorumRecovery {
  /**
   * A name of your choice for this recovery, of at most 63 characters. Each name is acted upon once, so it may stay in the
   * code; a second recovery needs another one.
   */
  readonly id: string;
  /** Must be `true`: writes that only the lost members had are gone. */
  readonly acceptDataLoss: boolean;
  /**
   * The ordinal of the member to go on from.
   * @default - the survivor that knows most
   */
  readonly survivor?: number;
  /**
   * A Secret with the age identity that decrypts the cluster's backups, needed when they are encrypted.
   * @default - none
   */
  readonly identitySecret?: string;
}

export function recoveryProblems({ id, acceptDataLoss, survivor, identitySecret }: QuorumRecovery): string[] {
  return problemsOf(
    nameProblem('recovery: id', id, 63),
    acceptDataLoss
      ? undefined
      : 'recovery: acceptDataLoss is false, and a recovery loses what only the lost members had; say true, or remove recovery',
    survivor === undefined ? undefined : ordinalProblem('recovery: survivor', survivor),
    identitySecret === undefined ? undefined : nameProblem('recovery: identitySecret', identitySecret),
  );
}

/** Says so when the backup that a recovery takes first could not be read again. */
export function recoveryIdentityProblems(
  recovery: QuorumRecovery,
  schedule: { readonly name: string; readonly encryption?: object } | undefined,
): string[] {
  if (recovery.identitySecret !== undefined || !schedule?.encryption) return [];
  return [
    `recovery: identitySecret: none given, and schedule '${schedule.name}', whose settings count, encrypts its backups; name a Secret with the age identity`,
  ];
}
