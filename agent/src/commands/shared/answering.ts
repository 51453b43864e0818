import type { Entry } from '../../backup/catalog/catalog.ts';
import type { CommandContext } from '../cli/command.ts';
import type { OpenedStore } from './opened-store.ts';

/** Reads the snapshots in the folder, and does without the manifests that the store does not give out in time. */
export function answeringOf(
  { readAnswering }: OpenedStore,
  { budget }: Pick<CommandContext, 'budget'>,
): Promise<readonly Entry[]> {
  return readAnswering(() => budget.answers());
}
