import { backupContainerName } from '../../../src/lib/backup-pod.ts';

interface Named {
  readonly name?: string;
}

/**
 * The container, or the status of the container, that does the work of a pod. Those of an override or of a webhook may come before
 * it.
 */
export const mainContainer = <Item extends Named>(all: readonly Item[] = [], name = backupContainerName) =>
  all.find((each) => each.name === name) ?? all[0];

/** The container of a reconciler. */
export const reconcilerContainer = 'reconciler';
