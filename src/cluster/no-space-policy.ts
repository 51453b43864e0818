/** What the reconciler does when etcd refuses writes because the database reached its quota (the alarm NOSPACE). */
export enum NoSpacePolicy {
  /** It only tells. */
  REPORT = 'Report',
  /**
   * It drops all but the last 1,000 revisions, defragments one member after the other, and clears the alarm once every
   * database is below 90 % of the quota. No current value is lost.
   */
  COMPACT_DEFRAG_DISARM = 'CompactDefragDisarm',
}
