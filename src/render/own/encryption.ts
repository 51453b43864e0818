import { Encryption } from '../../backup/encryption';
import type { Fields } from '../fields';

/** Reads the public keys of an encryption. */
export function ownEncryption(fields: Fields): Encryption | undefined {
  const encryption = fields.object('encryption');
  if (!encryption) return undefined;
  const age = encryption.object('age');
  if (!age) encryption.report.error(encryption.at('age'), 'is missing; give it with its recipients');
  return Encryption.age({ recipients: age?.strings('recipients') ?? [] });
}
