/** How thoroughly a backup is verified before it counts as good. Each level includes the levels before it. */
export enum VerificationLevel {
  /** The snapshot arrived from etcd completely. It does not count as verified, so retention deletes nothing. */
  STREAM = 'stream',
  /** The stored snapshot is read back, and is identical to what etcd sent. */
  READ = 'read',
  /** The stored snapshot is a valid database. */
  OPEN = 'open',
}
