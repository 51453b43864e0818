import type { Entry } from '../../backup/catalog/catalog.ts';
import type { CommandContext } from '../cli/command.ts';
import type { OpenedStore } from './opened-store.ts';

/**
 * Longest time in milliseconds without an answer for what a command can do without: other snapshots and the notes of earlier
 * restores.
 */
export const ANSWER_LIMIT = 15_000;

/** Milliseconds. A hint is not worth a longer wait. */
export const HINT_LIMIT = 5_000;

/** Reads the snapshots in the folder, and does without the manifests that the store does not give out in time. */
export function answeringOf(
  { readAnswering }: OpenedStore,
  { budget }: Pick<CommandContext, 'budget'>,
): Promise<readonly Entry[]> {
  return readAnswering(() => budget.answers(ANSWER_LIMIT));
}
