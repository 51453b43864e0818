import { AgentError } from '../../src/lib/errors.ts';

/** How the inputs of a target are mutated, according to their structure. */
export type Kind = 'bytes' | 'protobuf' | 'json' | 'yaml' | 'text' | 'pem';

/** Result of a target whose parser returns a reason instead of throwing an error. */
export const refused = Symbol('refused');

/** A parser of ours that reads foreign bytes: a function of bytes, and the errors that its callers expect. */
export interface Target {
  readonly name: string;
  /** What it reads, and where that comes from. */
  readonly about: string;
  readonly kind: Kind;
  /** Folders of corpus/ whose files are mutated. */
  readonly corpus: readonly string[];
  /** Corrects checksums. Without this, no mutation would get past them. */
  readonly repair?: (input: Buffer) => Buffer;
  /** Positions of lengths, types and other numbers that are worth a mutation. */
  readonly anchors?: (input: Buffer) => readonly number[];
  /** Throws if the value breaks the contract with the callers. May return `refused`, only for the count. */
  run(input: Buffer): unknown;
  /** Errors that the callers expect, besides AgentError. */
  readonly expects?: (error: Error) => boolean;
  /** Secrets of the corpus. No message may contain a part of one. */
  readonly secrets?: readonly string[];
  /** Bytes that one buffer may have for inputs of any size. */
  readonly allocates?: number;
  /** For a library that reports damage as a plain Error, and whose callers only need to know that there was one. */
  readonly anyError?: true;
}

/**
 * Runs several parsers on one input. Throws if one of them leaks a secret; otherwise, if none accepts the input, throws
 * the first one's error.
 */
export async function eachOf(expects: (error: Error) => boolean, works: readonly (() => unknown)[]): Promise<void> {
  const found = await Promise.allSettled(works.map(async (work) => work()));
  const errors = found.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  const leaked = errors.find((error) => !(error instanceof AgentError || expects(error)));
  if (leaked ?? errors.length === works.length) throw leaked ?? errors[0];
}

/** True for a RangeError of our parsers, not of the runtime: a stack overflow and similar errors are mistakes. */
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
