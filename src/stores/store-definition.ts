import type { BackupPodStore } from '../lib/backup-pod';

/** The definition of one store, in a form that does not depend on its kind. */
export interface StoreDefinition {
  readonly pod: BackupPodStore;
  /** Identifies the place: two stores with the same text store their backups in the same place. */
  readonly place: string;
  readonly problems: readonly string[];
  /** True if the store needs executables that the agent's own image does not contain. */
  readonly needsOwnImage?: boolean;
  readonly serviceAccountAnnotations?: Readonly<Record<string, string>>;
}
