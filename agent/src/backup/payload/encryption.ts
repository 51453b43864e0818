import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import { garbageCounter } from '../../lib/memory.ts';
import { decoded } from './decoding.ts';

type Bytes = AsyncIterable<Uint8Array>;
type Stream = ReadableStream<Uint8Array>;

/** Follows the extension of the compression. */
export const ENCRYPTED = '.age';

/** Encrypts with age, so that each of the recipients can decrypt; for no recipients the bytes stay as they are. */
export function encrypt(recipients: readonly string[], source: Bytes): Bytes {
  if (recipients.length === 0) return source;
  return through(source, async (plain) => {
    const { Encrypter } = await import('age-encryption');
    const encrypter = new Encrypter();
    for (const recipient of recipients) encrypter.addRecipient(recipient);
    return encrypter.encrypt(plain);
  });
}

/** None of the identities that were given decrypts something. Exit code 2: another identity may. */
export class NoIdentityError extends AgentError {
  constructor(message: string) {
    super(ExitCode.usage, `--age-identity-file: ${message}`);
  }
}

/**
 * Throws verificationFailed when the bytes are no whole age file, and NoIdentityError when it was made for other identities.
 * `matching`: one of the identities is known to be among its recipients, so that only damage can say otherwise.
 */
export function decrypt(identities: readonly string[], source: Bytes, matching = false): Bytes {
  return decoded('age', source, (watched) =>
    through(watched, async (encrypted) => {
      const { Decrypter } = await import('age-encryption');
      const decrypter = new Decrypter();
      for (const identity of identities) decrypter.addIdentity(identity);
      return decrypter.decrypt(encrypted).catch((error) => {
        if (matching || !/^no identity matched/.test(messageOf(error))) throw error;
        throw new NoIdentityError('none of its identities decrypts the snapshot');
      });
    }),
  );
}

/** Throws NoIdentityError unless one of the identities is among the recipients. Nothing is said where these are not known. */
export async function checkIdentities(
  what: string,
  recipients: readonly string[],
  identities: readonly string[],
): Promise<void> {
  if (identities.length === 0) {
    throw new NoIdentityError(`${what} is encrypted; give a file with its age identity${oneOf(recipients)}`);
  }
  if ((await anyAmong(identities, recipients)) || recipients.length === 0) return;
  throw new NoIdentityError(`${what} was encrypted for other identities; give the one${oneOf(recipients)}`);
}

/** Whether one of the identities decrypts what is encrypted for the recipients. */
export async function anyAmong(identities: readonly string[], recipients: readonly string[]): Promise<boolean> {
  const { identityToRecipient } = await import('age-encryption');
  const own = await Promise.all(identities.map((identity) => identityToRecipient(identity)));
  return own.some((recipient) => recipients.includes(recipient));
}

function oneOf(recipients: readonly string[]): string {
  return recipients.length === 0 ? '' : ` of ${recipients.map(abbreviated).join(' or ')}`;
}

/** Post-quantum recipients have 2,000 characters. */
export const abbreviated = (recipient: string) => (recipient.length > 80 ? `${recipient.slice(0, 24)}…` : recipient);

/** Puts web streams between two iterables, a chunk at a time. Whoever leaves early closes the source. */
async function* through(source: Bytes, transform: (stream: Stream) => Promise<Stream>): Bytes {
  const iterator = source[Symbol.asyncIterator]();
  let reading = false;
  const stream: Stream = new ReadableStream(
    {
      async pull(controller) {
        reading = true;
        const next = await iterator.next();
        reading = false;
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
    },
    { highWaterMark: 0 },
  );
  const passed = garbageCounter();
  try {
    for await (const chunk of await transform(stream)) {
      passed(chunk.length);
      yield chunk;
    }
  } finally {
    const closing = Promise.resolve(iterator.return?.());
    // A source that hangs would make this hang too.
    if (reading) closing.catch(() => {});
    else await closing;
  }
}
