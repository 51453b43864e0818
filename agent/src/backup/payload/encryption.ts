import { AgentError, ExitCode, messageOf } from '../../lib/errors.ts';
import { garbageCounter } from '../../lib/memory.ts';
import { decoded } from './decoding.ts';

type Bytes = AsyncIterable<Uint8Array>;
type Stream = ReadableStream<Uint8Array>;

/** Extension of encrypted payloads, after the extension of the compression. */
export const ENCRYPTED = '.age';

/** Encrypts with age for all recipients. Without recipients, the bytes stay as they are. */
export function encrypt(recipients: readonly string[], source: Bytes): Bytes {
  if (recipients.length === 0) return source;
  return through(source, async (plain) => {
    const { Encrypter } = await import('age-encryption');
    const encrypter = new Encrypter();
    for (const recipient of recipients) encrypter.addRecipient(recipient);
    return encrypter.encrypt(plain);
  });
}

/** Thrown if none of the given identities can decrypt the data. Exit code 2: another identity may be able to. */
export class NoIdentityError extends AgentError {
  constructor(message: string) {
    super(ExitCode.usage, message, { at: 'ageIdentityFile' });
  }
}

/**
 * Decrypts with age. Throws `verificationFailed` if the bytes are not a complete age file, and NoIdentityError if they were
 * encrypted for other identities. `matching` says that one of the identities is known to be among the recipients: then the
 * file must be damaged if none matches.
 */
export function decrypt(identities: readonly string[], source: Bytes, matching = false): Bytes {
  return decoded('age', source, (watched) =>
    through(watched, async (encrypted) => {
      const { Decrypter } = await import('age-encryption');
      const decrypter = new Decrypter();
      for (const identity of identities) decrypter.addIdentity(identity);
      return decrypter.decrypt(encrypted).catch((error) => {
        if (matching || !/^no identity matched/.test(messageOf(error))) throw error;
        throw new NoIdentityError('none of the identities decrypts the snapshot');
      });
    }),
  );
}

/**
 * Throws NoIdentityError unless one of the identities is among the recipients. If the recipients are not known, any identity
 * is accepted.
 */
export async function checkIdentities(
  what: string,
  recipients: readonly string[],
  identities: readonly string[],
): Promise<void> {
  if (identities.length === 0) {
    throw new NoIdentityError(`${what} is encrypted; pass a file with its age identity${oneOf(recipients)}`);
  }
  if ((await anyAmong(identities, recipients)) || recipients.length === 0) return;
  throw new NoIdentityError(`${what} is encrypted for other identities; pass the one${oneOf(recipients)}`);
}

/** Whether one of the identities is among the recipients. */
export async function anyAmong(identities: readonly string[], recipients: readonly string[]): Promise<boolean> {
  const { identityToRecipient } = await import('age-encryption');
  const own = await Promise.all(identities.map((identity) => identityToRecipient(identity)));
  return own.some((recipient) => recipients.includes(recipient));
}

function oneOf(recipients: readonly string[]): string {
  return recipients.length === 0 ? '' : ` of ${recipients.map(abbreviated).join(' or ')}`;
}

/** Shortens a recipient for messages: post-quantum recipients have 2,000 characters. */
const abbreviated = (recipient: string) => (recipient.length > 80 ? `${recipient.slice(0, 24)}…` : recipient);

/** Passes an iterable through a web stream, one chunk at a time. A reader that stops early closes the source. */
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
    // Do not wait for a source that is still reading: it may hang.
    if (reading) closing.catch(() => {});
    else await closing;
  }
}
