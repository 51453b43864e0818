import { isDeepStrictEqual } from 'node:util';
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
  const isWritten = await putJson(store, key, document, { ...options, onlyNew: true }).then(
    () => true,
    (error) => {
      if (!isRefused(error)) throw error;
      return false;
    },
  );
  const there = await orNothing(readDocument(store, key, options));
  if (there !== undefined || !isWritten) return there?.id === document.id;
  throw new HiddenWriteError(store.url, key);
}

/** The store does not show what it has just stored. */
export class HiddenWriteError extends AgentError {
  constructor(url: string, key: string) {
    super(
      ExitCode.storeUnreachable,
      `${url}: does not show ${key} right after it was written, so it cannot be known whether another run has it; try again, or use a store that shows what it has stored`,
    );
  }
}

/** Whether what the store has is this document. */
export const isSame = (there: unknown, document: object): boolean =>
  isDeepStrictEqual(there, JSON.parse(JSON.stringify(document)));

/** Deletes a document that this run has written, unless another run has replaced it. Returns whether the key is empty now. */
export async function withdraw(store: Store, key: string, document: object, options: CallOptions): Promise<boolean> {
  const there = await orNothing(readDocument(store, key, options));
  return there === undefined || (isSame(there, document) && (await store.delete(key, options)) === 'deleted');
}
