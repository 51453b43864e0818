/** A new pair of keys. */
export async function ageKeys(): Promise<{ readonly identity: string; readonly recipient: string }> {
  // An ES module.
  const { generateX25519Identity, identityToRecipient } = await import('age-encryption');
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}
