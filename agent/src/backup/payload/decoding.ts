import { AgentError, ExitCode } from '../../lib/errors.ts';

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
    throw new AgentError(ExitCode.verificationFailed, `the stored bytes are not a complete ${what} stream`, {
      cause: error,
    });
  }
}
