import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { generateHybridIdentity, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { ExitCode } from '../../lib/errors.ts';
import { checkIdentities, decrypt, encrypt } from './encryption.ts';

type Bytes = AsyncIterable<Uint8Array>;
interface Pair {
  readonly identity: string;
  readonly recipient: string;
}

const CHUNK = 64 * 1024;
let own: Pair;
let second: Pair;
let other: Pair;
let hybrid: Pair;

beforeAll(async () => {
  const pair = async (identity: string) => ({ identity, recipient: await identityToRecipient(identity) });
  [own, second, other] = [
    await pair(await generateX25519Identity()),
    await pair(await generateX25519Identity()),
    await pair(await generateX25519Identity()),
  ];
  hybrid = await pair(await generateHybridIdentity());
});

async function* chunks(bytes: Uint8Array, size = 10_000): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const encrypted = (bytes: Uint8Array, ...recipients: string[]) => buffer(encrypt(recipients, chunks(bytes)));
const decrypted = (bytes: Uint8Array, ...identities: string[]) => buffer(decrypt(identities, chunks(bytes)));
const refused = (work: Promise<unknown>, exitCode: ExitCode, message: RegExp) =>
  expect(work).rejects.toMatchObject({ exitCode, message: expect.stringMatching(message) });

describe('encrypted bytes are decrypted', () => {
  test.each([0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 1_000_000])('%d bytes', async (size) => {
    const plain = randomBytes(size);
    const stored = await encrypted(plain, own.recipient);
    expect(stored.length).toBeGreaterThan(size);
    expect((await decrypted(stored, own.identity)).equals(plain)).toBe(true);
  });

  test.each([1, 333, CHUNK, CHUNK + 16, 10_000_000])('read in pieces of %d bytes', async (size) => {
    const plain = randomBytes(size === 1 ? 10_000 : 500_000);
    const stored = await buffer(encrypt([own.recipient], chunks(plain, size)));
    expect((await buffer(decrypt([own.identity], chunks(stored, size)))).equals(plain)).toBe(true);
  });

  test('with either of two identities, whatever else is tried', async () => {
    const plain = randomBytes(100_000);
    const stored = await encrypted(plain, own.recipient, second.recipient);
    for (const { identity } of [own, second]) {
      expect((await decrypted(stored, other.identity, identity)).equals(plain)).toBe(true);
    }
  });

  test('for a post-quantum recipient', async () => {
    const plain = randomBytes(100_000);
    const stored = await encrypted(plain, hybrid.recipient);
    expect((await decrypted(stored, other.identity, hybrid.identity)).equals(plain)).toBe(true);
  });
});

test('without recipients the bytes stay as they are', async () => {
  expect((await encrypted(Buffer.from('plain'))).toString()).toBe('plain');
});

test('the same bytes are never encrypted the same way twice', async () => {
  const plain = Buffer.alloc(100_000);
  const [a, b] = [await encrypted(plain, own.recipient), await encrypted(plain, own.recipient)];
  expect(a.subarray(-1_000).equals(b.subarray(-1_000))).toBe(false);
});

describe('stored bytes are refused', () => {
  let plain: Buffer;
  let stored: Buffer;
  beforeAll(async () => {
    plain = randomBytes(3 * CHUNK);
    stored = await encrypted(plain, own.recipient);
  });
  const damaged = (bytes: Uint8Array) =>
    refused(
      buffer(decrypt([own.identity], chunks(bytes), true)),
      ExitCode.verificationFailed,
      /not a complete age stream/,
    );

  test('cut anywhere, also where a chunk of it ends', async () => {
    const start = stored.length - 3 * (CHUNK + 16);
    for (const end of [0, 1, 50, 150, start - 1, start, start + 1, start + CHUNK + 16, -(CHUNK + 16), -17, -16, -1]) {
      await damaged(stored.subarray(0, end));
    }
  });

  test('with one bit flipped anywhere, also in the header', async () => {
    const places = [3, 25, 40, 80, 120, 160, 190, 210, stored.length >> 1, stored.length - 1];
    for (const at of places) {
      const flipped = Buffer.from(stored);
      flipped[at]! ^= 1;
      await damaged(flipped);
    }
  });

  test('with something after its end, or its chunks swapped', async () => {
    await damaged(Buffer.concat([stored, Buffer.from('x')]));
    const swapped = Buffer.from(stored);
    const at = stored.length - 3 * (CHUNK + 16);
    swapped.set(stored.subarray(at, at + CHUNK + 16), at + CHUNK + 16);
    swapped.set(stored.subarray(at + CHUNK + 16, at + 2 * (CHUNK + 16)), at);
    await damaged(swapped);
  });

  test('not encrypted at all', async () => {
    await damaged(plain);
  });

  test('encrypted for another identity, as a usage error', async () => {
    await refused(decrypted(stored, other.identity), ExitCode.usage, /none of the identities decrypts/);
  });
});

describe('the source', () => {
  const directions = ['encrypt', 'decrypt'] as const;
  /** Endless, or ends with an error. Counts the chunks that are read and records when it is closed. */
  async function source(direction: (typeof directions)[number], end?: unknown, pieces = Number.POSITIVE_INFINITY) {
    const state = { read: 0, closed: false };
    const head = (await encrypted(randomBytes(10 * CHUNK), own.recipient)).subarray(0, 9 * CHUNK);
    const bytes = (async function* () {
      try {
        for (; state.read < pieces; state.read++) {
          yield direction === 'encrypt'
            ? Buffer.alloc(CHUNK)
            : head.subarray(state.read * CHUNK, (state.read + 1) * CHUNK);
        }
        throw end;
      } finally {
        state.closed = true;
      }
    })();
    return { state, bytes };
  }
  const through = (direction: (typeof directions)[number], bytes: Bytes) =>
    direction === 'encrypt' ? encrypt([own.recipient], bytes) : decrypt([own.identity], bytes);

  describe.each(directions)('%s', (direction) => {
    test.each([0, 1, 3])('its error after %d chunks passes as it is', async (pieces) => {
      const error = new Error('away');
      const { bytes, state } = await source(direction, error, pieces);
      await expect(buffer(through(direction, bytes))).rejects.toBe(error);
      expect(state.closed).toBe(true);
    });

    test('is read only as fast as the reader reads, and closed when the reader stops', async () => {
      const { bytes, state } = await source(direction);
      let got = 0;
      for await (const chunk of through(direction, bytes)) {
        got += chunk.length;
        await new Promise((resolve) => setTimeout(resolve, 5));
        if (got > 3 * CHUNK) break;
      }
      expect(state.read).toBeLessThan(got / CHUNK + 5);
      expect(state.closed).toBe(true);
    });

    test('that hangs does not block a reader that stops', async () => {
      const { bytes } = await source(direction, undefined, 3);
      const hangs = Promise.withResolvers<void>();
      const hanging = (async function* () {
        let pieces = 0;
        for await (const chunk of bytes) {
          if (++pieces === 3) {
            hangs.resolve();
            await new Promise(() => {});
          }
          yield chunk;
        }
      })();
      for await (const _ of through(direction, hanging)) {
        await hangs.promise;
        break;
      }
    });
  });

  test('is closed if its header is not valid', async () => {
    let closed = false;
    const bytes = (async function* () {
      try {
        for (;;) yield Buffer.from('no header\n');
      } finally {
        closed = true;
      }
    })();
    await refused(buffer(decrypt([own.identity], bytes)), ExitCode.verificationFailed, /not a complete age stream/);
    expect(closed).toBe(true);
  });
});

describe('identities are compared with the recipients before anything is read', () => {
  test('one of them is enough', async () => {
    await checkIdentities('s', [own.recipient, second.recipient], [other.identity, second.identity]);
    await checkIdentities('s', [hybrid.recipient], [hybrid.identity]);
    await checkIdentities('s', [], [other.identity]);
  });

  test('if none matches, the error names the recipients and no identity', async () => {
    const work = checkIdentities('s', [own.recipient, hybrid.recipient], [other.identity]);
    await refused(work, ExitCode.usage, new RegExp(`^s is .* of ${own.recipient} or age1pq1.{17}…$`));
    await expect(work).rejects.toMatchObject({ at: 'ageIdentityFile' });
  });

  test('without any, the error says what to give', async () => {
    await refused(checkIdentities('s', [], []), ExitCode.usage, /^s is encrypted; pass a file/);
    await expect(checkIdentities('s', [], [])).rejects.toMatchObject({ at: 'ageIdentityFile' });
  });
});
