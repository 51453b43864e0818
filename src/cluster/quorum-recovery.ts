import type { EtcdClusterSpec } from '../resource/types';
import { type INamed, nameOf } from '../validation/named';

/**
 * Lets a cluster continue from one surviving member after most members have been lost permanently. Without it the
 * cluster waits, because members that come back still have all data.
 */
export interface QuorumRecovery {
  /**
   * Names this recovery, as you choose, with at most 63 characters. Each recovery happens once per name, so it can stay
   * in the code; a second recovery needs another name.
   */
  readonly id: string;
  /** Must be `true`: writes that only the lost members have are lost. */
  readonly acceptDataLoss: boolean;
  /**
   * Selects the member to continue from, by its ordinal.
   * @default - the survivor with the most data
   */
  readonly survivor?: number;
  /**
   * Names a Secret with the age identity that decrypts the cluster's backups. Encrypted backups require it.
   * @default - none
   */
  readonly identitySecret?: string | INamed;
}

export function recoverySpec({ id, acceptDataLoss, survivor, identitySecret }: QuorumRecovery): RecoverySpec {
  return { id, action: 'RestoreFromSurvivor', acceptDataLoss, survivor, identitySecret: nameOf(identitySecret) };
}

type RecoverySpec = NonNullable<EtcdClusterSpec['recovery']>;
