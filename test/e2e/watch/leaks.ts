/** A text that others can read, and where it was. */
export interface Seen {
  readonly where: string;
  readonly text: string;
}

/** A text that nobody may read but whoever may read Secrets. */
export interface Needle {
  /** Where it belongs; a message quotes this, never the secret. */
  readonly of: string;
  readonly value: string;
}

/** Keys of Secrets whose values are no secrets. */
const open = /^(ca\.crt|tls\.crt|root\.crt|namespace|username|knownHosts|.*accessKeyId|AWS_ACCESS_KEY_ID)$/i;
/** Shorter ones are found everywhere by chance. */
const shortest = 12;

/** What must not be seen of the data of a Secret, base64 as the API has it. */
export function needlesOf(secret: string, data: Readonly<Record<string, string>> = {}): Needle[] {
  return Object.entries(data)
    .filter(([key]) => !open.test(key))
    .flatMap(([key, value]) => forms(`${key} of Secret ${secret}`, Buffer.from(value, 'base64').toString('latin1')));
}

/** Every form in which a secret could be seen: as it is, each line of a PEM file, and base64 of either. */
export function forms(of: string, secret: string): Needle[] {
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= shortest && !line.startsWith('-----'));
  const found = lines.flatMap((line) => [line, ...base64Forms(line)]);
  return found.filter((value) => value.length >= shortest).map((value) => ({ of, value }));
}

/** Base64 of a text that stands anywhere in a longer one: without the digits that also hold bits of its neighbors. */
function base64Forms(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const whole = Buffer.from(`${' '.repeat(before)}${text}`, 'latin1');
    const digits = whole.subarray(0, whole.length - (whole.length % 3)).toString('base64');
    return digits.slice([0, 2, 3][before]);
  });
}

/** What is a secret by its looks, whoever made it. */
const patterns: readonly (readonly [string, RegExp])[] = [
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
  ['a secret key of age', /AGE-SECRET-KEY-1[0-9A-Z]{20}/],
  ['a token of the Kubernetes API', /eyJ[\w-]{20,}\.eyJ[\w-]{20,}\./],
];

/** Each place with a secret in it, and whose it is; empty if there is none. */
export function leaks(seen: readonly Seen[], needles: readonly Needle[]): string[] {
  const byValue = new Map(needles.map(({ value, of }) => [value, of]));
  const found = seen.flatMap(({ where, text }) => [
    ...[...byValue].filter(([value]) => text.includes(value)).map(([, of]) => `${where}: ${of}`),
    ...patterns.filter(([, pattern]) => pattern.test(text)).map(([name]) => `${where}: ${name}`),
  ]);
  return [...new Set(found)].sort();
}
