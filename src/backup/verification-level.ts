/** How much of a backup is proven before it counts as one. A level includes the ones before it. */
export enum VerificationLevel {
  /** What etcd sent arrived whole. The snapshot does not count as verified, and retention deletes nothing. */
  STREAM = 'stream',
  /** What is stored is what was sent: it is read back and compared. */
  READ = 'read',
  /** The stored snapshot is a valid database. */
  OPEN = 'open',
}
