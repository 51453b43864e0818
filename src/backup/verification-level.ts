/** Selects how thoroughly a backup is verified before it counts as good. Each level includes the levels before it. */
export enum VerificationLevel {
  /**
   * Checks only that the snapshot arrived from etcd completely. It does not count as verified, so retention deletes
   * nothing.
   */
  STREAM = 'stream',
  /** Reads the stored snapshot back, and checks that it is identical to what etcd sent. */
  READ = 'read',
  /** Checks that the stored snapshot is a valid database. */
  OPEN = 'open',
}
