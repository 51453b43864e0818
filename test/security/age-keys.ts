import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const program = `import('age-encryption').then(async ({ generateX25519Identity, identityToRecipient }) => {
  const identity = await generateX25519Identity();
  console.log(JSON.stringify({ identity, recipient: await identityToRecipient(identity) }));
});`;

/** A new pair of keys. The package is a module of its own, which jest's CommonJS does not load. */
export async function ageKeys(): Promise<{ readonly identity: string; readonly recipient: string }> {
  const { stdout } = await promisify(execFile)(process.execPath, ['-e', program]);
  return JSON.parse(stdout);
}
