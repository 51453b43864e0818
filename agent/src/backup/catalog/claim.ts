import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import { orNothing, putJson, readDocument } from './documents.ts';

export const isRefused = (error: unknown): boolean =>
  error instanceof AgentError && error.exitCode === ExitCode.refused;

/**
 * Writes a document under a key that no other run may take: of several runs, one succeeds. The document is read back,
 * because a response may have been lost, and because not every store can refuse to overwrite.
 */
export async function claim(
  store: Store,
  key: string,
  document: { readonly id: string },
  options: CallOptions,
): Promise<boolean> {
  await putJson(store, key, document, { ...options, onlyNew: true }).catch((error) => {
    if (!isRefused(error)) throw error;
  });
  const there = await orNothing(readDocument(store, key, options));
  return there?.id === document.id;
}
