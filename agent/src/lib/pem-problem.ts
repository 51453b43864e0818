/** What somebody may have put into a file in place of what is expected, by its first line or bytes. */
const OTHERS: readonly (readonly [pattern: RegExp, what: string])[] = [
  [/-----BEGIN ENCRYPTED PRIVATE KEY-----|Proc-Type: 4,ENCRYPTED/, 'a private key with a passphrase'],
  [/-----BEGIN OPENSSH PRIVATE KEY-----/, 'a key of SSH'],
  [/-----BEGIN ([A-Z0-9]+ )?PRIVATE KEY-----/, 'a private key'],
  [/-----BEGIN (NEW )?CERTIFICATE REQUEST-----/, 'a request for a certificate'],
  [/-----BEGIN PKCS7-----/, 'PKCS#7'],
  [/-----BEGIN PUBLIC KEY-----/, 'a public key'],
  [/-----BEGIN (TRUSTED )?CERTIFICATE-----/, 'a certificate'],
];

const REMEDIES: Readonly<Record<string, string>> = {
  'a private key with a passphrase':
    'etcd and its clients take keys without one: remove it with `openssl pkey -in FILE -out NEW`',
  'PKCS#7': 'convert it with `openssl pkcs7 -print_certs -in FILE -out NEW`',
};

/** DER begins with a sequence that states its length in two bytes, as all certificates and keys have. */
const isDer = (bytes: Uint8Array): boolean => bytes[0] === 0x30 && (bytes[1] === 0x82 || bytes[1] === 0x81);

/** Says why a file holds no usable PEM certificate or private key. Follows the name of the file. Undefined: it may hold one. */
export function pemProblem(bytes: Uint8Array, wanted: 'certificate' | 'private key'): string | undefined {
  if (isDer(bytes)) {
    const convert = wanted === 'certificate' ? 'openssl x509 -inform der' : 'openssl pkey -inform der';
    return `is in DER form or PKCS#12, not PEM; convert it, for example with \`${convert} -in FILE -out NEW\``;
  }
  const text = Buffer.from(bytes).toString('latin1');
  const isUsable =
    wanted === 'certificate' ? /-----BEGIN CERTIFICATE-----/ : /-----BEGIN (RSA |EC |DSA )?PRIVATE KEY-----/;
  const what = OTHERS.find(([pattern]) => pattern.test(text))?.[1];
  if (isUsable.test(text) && what !== 'a private key with a passphrase') return undefined;
  if (wanted === 'certificate' && isUsable.test(text)) return undefined;
  const remedy = what && REMEDIES[what];
  return `does not contain a PEM ${wanted}${what && what !== `a ${wanted}` ? `, but ${what}` : ''}${remedy ? `; ${remedy}` : ''}`;
}
