/** What becomes of a volume that is needed no more. */
export enum DeletionPolicy {
  /** It stays, and costs, until somebody deletes the claim. */
  RETAIN = 'Retain',
  /** It is deleted, with the data in it. */
  DELETE = 'Delete',
}
