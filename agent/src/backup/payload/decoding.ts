import { AgentError, codeOf, ExitCode } from '../../lib/errors.ts';

/** Why intact bytes are not decoded, by the code of Node's error. */
const REASONS: Readonly<Record<string, string>> = {
  ZSTD_error_frameParameter_windowTooLarge:
    'it was compressed with a larger window than is read here; decompress it with `zstd -d --long=31`, and compress it without --long or --ultra',
  ZSTD_error_dictionary_wrong: 'it was compressed with a dictionary; decompress it with `zstd -d -D DICTIONARY`',
};

type Bytes = AsyncIterable<Uint8Array>;

/**
 * Decodes the source. Errors of the source and AgentErrors pass through. Any other error means that the bytes do not have the
 * expected format, and throws `verificationFailed`.
 */
export async function* decoded(what: string, source: Bytes, decode: (source: Bytes) => Bytes): Bytes {
  let sourceFailure: { readonly error: unknown } | undefined;
  const watched = async function* () {
    try {
      yield* source;
    } catch (error) {
      sourceFailure = { error };
      throw error;
    }
  };
  try {
    yield* decode(watched());
  } catch (error) {
    if (sourceFailure) throw sourceFailure.error;
    if (error instanceof AgentError) throw error;
    const why = REASONS[codeOf(error) ?? ''] ?? `the stored bytes are not a complete ${what} stream`;
    throw new AgentError(ExitCode.verificationFailed, why, { cause: error });
  }
}
