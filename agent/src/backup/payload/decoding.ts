import { AgentError, ExitCode } from '../../lib/errors.ts';

type Bytes = AsyncIterable<Uint8Array>;

/**
 * What `decode` makes of the source. An error of the source's own passes as it is; whatever else goes wrong means that
 * the bytes are not what they are said to be, and throws verificationFailed.
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
    throw new AgentError(ExitCode.verificationFailed, `the stored bytes are no whole ${what} stream`, { cause: error });
  }
}
