import type { Entry } from '../../backup/catalog/catalog.ts';
import type { Folder, Listing } from '../../backup/catalog/folder.ts';
import type { WantedSnapshots } from '../../backup/catalog/identity/identity.ts';
import type { Wait } from '../../lib/limits/budget.ts';
import type { StoreSpec } from '../../store/spec.ts';
import type { Store } from '../../store/store.ts';

/** The store of a command, and the cluster whose snapshots the command is about. */
export interface OpenedStore extends WantedSnapshots {
  readonly spec: StoreSpec;
  readonly store: Store;
  readonly folder: Folder;
  /** Reads every snapshot in the cluster's folder, newest first. */
  readonly readAll: () => Promise<readonly Entry[]>;
  /**
   * As `readAll`, but a manifest that cannot be read, or not before the wait is over, becomes an entry with a problem.
   * Throws if the folder cannot be listed by then. The limit is only made for what was not read before.
   */
  readonly readAnswering: (limit: () => Wait) => Promise<readonly Entry[]>;
  /** Lists the cluster's folder, once. */
  readonly list: () => Promise<Listing>;
}
