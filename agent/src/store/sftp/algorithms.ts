import type { Algorithms, KexAlgorithm, ServerHostKeyAlgorithm } from 'ssh2';

/** With SHA-1: broken against a strong attacker, and all that some old servers have. */
const LEGACY_KEX: KexAlgorithm[] = [
  'diffie-hellman-group-exchange-sha1',
  'diffie-hellman-group14-sha1',
  'diffie-hellman-group1-sha1',
];

const ECDSA: ServerHostKeyAlgorithm[] = ['ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521'];
/** Of host keys; DSA is not among them. */
export const KEY_TYPES: readonly string[] = ['ssh-ed25519', ...ECDSA, 'ssh-rsa'];

/** What we offer: of the host key algorithms those for which we have a key, so that the server shows that one. */
export function algorithmsFor(legacy: boolean, keyTypes: readonly string[]): Algorithms {
  const serverHostKey = keyTypes.flatMap((type) => signaturesOf(type, legacy));
  return { serverHostKey, kex: { append: legacy ? LEGACY_KEX : [], prepend: [], remove: [] } };
}

function signaturesOf(keyType: string, legacy: boolean): ServerHostKeyAlgorithm[] {
  if (keyType === 'ssh-rsa') return ['rsa-sha2-512', 'rsa-sha2-256', ...(legacy ? (['ssh-rsa'] as const) : [])];
  return KEY_TYPES.includes(keyType) ? [keyType as ServerHostKeyAlgorithm] : [];
}
