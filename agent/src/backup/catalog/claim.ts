import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import { orNothing, putJson, readDocument } from './documents.ts';

export const isRefused = (error: unknown): boolean =>
  error instanceof AgentError && error.exitCode === ExitCode.refused;

/**
 * Writes a document that nobody else may have written: of several runs one succeeds. Read back, as an answer may have been
 * lost, and not every store can refuse by itself.
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
