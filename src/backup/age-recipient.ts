const alphabet = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';
const generators = [0x3b6a57b2, 0x26508e6d, 0x1ea119fa, 0x3d4233dd, 0x2a1462b3];
/** How many characters follow the last `1`, by what stands before it. */
const lengths: Readonly<Record<string, number>> = { age: 58, age1tag: 59, age1pq: 1952, age1tagpq: 2005 };

/** What is wrong with an age recipient; undefined when nothing is. Nothing that could be a secret is repeated. */
export function ageRecipientProblem(text: string): string | undefined {
  if (/age-secret-key|age-plugin/i.test(text)) {
    return 'a SECRET KEY is given, which must not be in a manifest; remove it, do not use it any more if this was ever committed, and give the recipient of a key instead: `age-keygen -y` prints it';
  }
  if (typeof text !== 'string' || !text.startsWith('age1'))
    return 'what is given is no age recipient; write age1…, as `age-keygen -y` prints it';
  if (isRecipient(text)) return undefined;
  return `'${text.length > 80 ? `${text.slice(0, 24)}…` : text}' is no age recipient; look for a typing error`;
}

export const isPostQuantum = (recipient: string): boolean => /^age1(tag)?pq1/.test(recipient);

function isRecipient(text: string): boolean {
  const end = text.lastIndexOf('1');
  const [prefix, data] = [text.slice(0, end), text.slice(end + 1)];
  return data.length === lengths[prefix] && [...data].every((char) => alphabet.includes(char)) && hasSum(prefix, data);
}

/** Whether the last six characters are the checksum of bech32 (BIP 173). */
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
