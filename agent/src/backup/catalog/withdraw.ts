import { isDeepStrictEqual } from 'node:util';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { CallOptions, Store } from '../../store/store.ts';
import { orNothing, readDocument } from './documents.ts';

export const isRefused = (error: unknown): boolean =>
  error instanceof AgentError && error.exitCode === ExitCode.refused;

/** Whether what the store has is this document. */
export const isSame = (there: unknown, document: object): boolean =>
  isDeepStrictEqual(there, JSON.parse(JSON.stringify(document)));

/** Deletes a document that this run has written, unless another run has replaced it. Returns whether the key is empty now. */
export async function withdraw(store: Store, key: string, document: object, options: CallOptions): Promise<boolean> {
  const there = await orNothing(readDocument(store, key, options));
  return there === undefined || (isSame(there, document) && (await store.delete(key, options)) === 'deleted');
}
