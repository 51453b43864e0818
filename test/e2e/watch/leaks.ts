/** A text that others can read, and its location. */
export interface Seen {
  readonly where: string;
  readonly text: string;
}

/** A text that only readers of Secrets may see. */
export interface Needle {
  /** Origin of the secret. A message names it, and never quotes the secret. */
  readonly of: string;
  readonly value: string;
}

/** Keys of Secrets whose values are no secrets. */
const open = /^(ca\.crt|tls\.crt|root\.crt|namespace|username|knownHosts|.*accessKeyId|AWS_ACCESS_KEY_ID)$/i;
/** Shorter texts occur everywhere by chance. */
const shortest = 12;

/** Returns the secrets in the data of a Secret, which is in base64 as in the API. */
export function needlesOf(secret: string, data: Readonly<Record<string, string>> = {}): Needle[] {
  return Object.entries(data)
    .filter(([key]) => !open.test(key))
    .flatMap(([key, value]) => forms(`${key} of Secret ${secret}`, Buffer.from(value, 'base64').toString('latin1')));
}

/** Returns every form in which a secret could be visible: unchanged, each line of a PEM file, and base64 of either. */
export function forms(of: string, secret: string): Needle[] {
  const lines = secret.split(/\r?\n/).filter((line) => line.length >= shortest && !line.startsWith('-----'));
  const found = lines.flatMap((line) => [line, ...base64Forms(line)]);
  return found.filter((value) => value.length >= shortest).map((value) => ({ of, value }));
}

/** Base64 of a text at any position in a longer one: without the digits that also contain bits of its neighbors. */
function base64Forms(text: string): string[] {
  return [0, 1, 2].map((before) => {
    const whole = Buffer.from(`${' '.repeat(before)}${text}`, 'latin1');
    const digits = whole.subarray(0, whole.length - (whole.length % 3)).toString('base64');
    return digits.slice([0, 2, 3][before]);
  });
}

/** Texts that look like a secret, of any origin. */
const patterns: readonly (readonly [string, RegExp])[] = [
  ['a private key', /-----BEGIN [A-Z ]*PRIVATE KEY-----/],
  ['a secret key of age', /AGE-SECRET-KEY-1[0-9A-Z]{20}/],
  ['a token of the Kubernetes API', /eyJ[\w-]{20,}\.eyJ[\w-]{20,}\./],
];

/** Returns each place with a secret, and the secret's origin. Empty if there is none. */
export function leaks(seen: readonly Seen[], needles: readonly Needle[]): string[] {
  const byValue = new Map(needles.map(({ value, of }) => [value, of]));
  const found = seen.flatMap(({ where, text }) => [
    ...[...byValue].filter(([value]) => text.includes(value)).map(([, of]) => `${where}: ${of}`),
    ...patterns.filter(([, pattern]) => pattern.test(text)).map(([name]) => `${where}: ${name}`),
  ]);
  return [...new Set(found)].sort();
}
