import type { BackupPodStore } from '../lib/backup-pod';

/** What a kind of store says about one store. */
export interface StoreDefinition {
  readonly pod: BackupPodStore;
  /** The same for two stores that are the same place. */
  readonly place: string;
  readonly problems: readonly string[];
  /** The agent's own image does not have what it takes. */
  readonly needsOwnImage?: boolean;
  readonly serviceAccountAnnotations?: Readonly<Record<string, string>>;
}
