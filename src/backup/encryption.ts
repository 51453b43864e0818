import type { EncryptionSpec } from '../resource/types';
import * as types from '../validation/property-types';
import { buildIfValid } from '../validation/type-checks';

/** Configures `Encryption.age`. */
export interface AgeEncryptionProps {
  /**
   * Lists the public keys, `age1…`. The secret key of any one of them decrypts the backups. Give at least two, and keep
   * the second secret key in another place: without a secret key no backup can be read again. Either all keys or none
   * must be post-quantum (`age1pq1…`).
   */
  readonly recipients: string[];
}

/** Encrypts backups before they leave the pod. The pod has no key to decrypt them. */
export class Encryption {
  /** Encrypts with [age](https://age-encryption.org). `age -d` decrypts a backup without the agent. */
  static age(props: AgeEncryptionProps): Encryption {
    return buildIfValid(Encryption.prototype, props, types.AgeEncryptionProps, () => new Encryption(props.recipients));
  }

  private constructor(private readonly recipients: readonly string[]) {}

  /**
   * Returns the field of the custom resources.
   * @internal
   */
  _spec(): EncryptionSpec {
    return { age: { recipients: this.recipients } };
  }
}

/** Problems with public keys, each with its remedy. */
export function encryptionProblems(encryption: EncryptionSpec | undefined): string[] {
  if (!encryption) return [];
  const { recipients } = encryption.age;
  if (recipients.length === 0) return ['encryption: recipients: is empty; give at least one, age1…'];
  const problems = recipients.flatMap((recipient) => ageRecipientProblem(recipient) ?? []);
  if (problems.length === 0 && recipients.some(isPostQuantum) && !recipients.every(isPostQuantum)) {
    problems.push(
      'some are post-quantum and some are not, so none are protected against quantum computers; give only one kind',
    );
  }
  if (new Set(recipients).size < recipients.length)
    problems.push('a public key is given twice, so there are fewer keys than it seems; give each once');
  return problems.map((problem) => `encryption: recipients: ${problem}`);
}

const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
/** Number of characters after the last `1`, by the prefix before it. */
const lengths: Readonly<Record<string, number>> = { age: 58, age1tag: 59, age1pq: 1952, age1tagpq: 2005 };

/** Problem with an age recipient, or undefined. The text never repeats a value that could be a secret. */
export function ageRecipientProblem(text: string): string | undefined {
  if (/age-secret-key|age-plugin/i.test(text)) {
    return 'a SECRET KEY is given, which must not be in a manifest; remove it, stop using it if it was ever committed, and give the recipient of a key instead: `age-keygen -y` prints it';
  }
  if (typeof text !== 'string' || !text.startsWith('age1'))
    return 'the value is not an age recipient; write age1…, as `age-keygen -y` prints it';
  if (isRecipient(text)) return undefined;
  return `'${text.length > 80 ? `${text.slice(0, 24)}…` : text}' is not a valid age recipient; check it for typing errors`;
}

export const isPostQuantum = (recipient: string): boolean => /^age1(tag)?pq1/.test(recipient);

function isRecipient(text: string): boolean {
  const end = text.lastIndexOf('1');
  const [prefix, data] = [text.slice(0, end), text.slice(end + 1)];
  return data.length === lengths[prefix] && [...data].every((char) => alphabet.includes(char)) && hasSum(prefix, data);
}

/** Returns true if the last six characters are the bech32 checksum (BIP 173). */
function hasSum(prefix: string, data: string): boolean {
  const codes = [...prefix].map((char) => char.charCodeAt(0));
  const values = [...data].map((char) => alphabet.indexOf(char));
  const all = [...codes.map((code) => code >> 5), 0, ...codes.map((code) => code & 31), ...values];
  return all.reduce(addToSum, 1) === 1;
}

function addToSum(sum: number, value: number): number {
  return generators.reduce(
    (next, generator, bit) => ((sum >> (25 + bit)) & 1 ? next ^ generator : next),
    ((sum & 0x1ffffff) << 5) ^ value,
  );
}
