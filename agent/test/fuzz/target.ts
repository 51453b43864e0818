import { AgentError } from '../../src/lib/errors.ts';

/** How the inputs of a target are mutated: by the structure that they have. */
export type Kind = 'bytes' | 'protobuf' | 'json' | 'yaml' | 'text' | 'pem';

/** What a target returns whose parser answers with a reason in place of an error. */
export const refused = Symbol('refused');

/** A parser of ours that reads bytes of others: a function of bytes, and what its callers are ready for. */
export interface Target {
  readonly name: string;
  /** What it reads, and who wrote that. */
  readonly about: string;
  readonly kind: Kind;
  /** Folders of corpus/ whose files are mutated. */
  readonly corpus: readonly string[];
  /** Puts checksums right again. Without this, no mutation would get past them. */
  readonly repair?: (input: Buffer) => Buffer;
  /** Positions of lengths, types and other numbers that are worth a mutation. */
  readonly anchors?: (input: Buffer) => readonly number[];
  /** Throws if the value is not what the callers were promised. May return `refused`, for the count alone. */
  run(input: Buffer): unknown;
  /** Errors that the callers expect, besides AgentError. */
  readonly expects?: (error: Error) => boolean;
  /** Secrets of the corpus. No message may contain a part of one. */
  readonly secrets?: readonly string[];
  /** Bytes that one buffer may have, whatever the size of the input. */
  readonly allocates?: number;
  /** For a library that reports damage as a plain Error, and whose callers only ask whether there was one. */
  readonly anyError?: true;
}

/**
 * Runs several parsers on one input. Throws what one of them leaks; otherwise, if none takes the input, why the first one
 * does not.
 */
export async function eachOf(expects: (error: Error) => boolean, works: readonly (() => unknown)[]): Promise<void> {
  const found = await Promise.allSettled(works.map(async (work) => work()));
  const errors = found.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  const leaked = errors.find((error) => !(error instanceof AgentError || expects(error)));
  if (leaked ?? errors.length === works.length) throw leaked ?? errors[0];
}

/** A RangeError that one of our parsers threw, not the runtime: a stack overflow and the like are mistakes. */
export const ownRangeError = (error: Error): boolean =>
  error instanceof RangeError &&
  !('code' in error) &&
  !/^Invalid|call stack|allocation failed|BigInt/.test(error.message);

export const isExpected = (target: Target, error: unknown): boolean => {
  if (!(error instanceof Error)) return false;
  if (error instanceof AgentError || target.expects?.(error)) return true;
  return (
    target.anyError === true && !(error instanceof TypeError || (error instanceof RangeError && !ownRangeError(error)))
  );
};
