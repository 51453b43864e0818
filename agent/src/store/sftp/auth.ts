import type { AnyAuthMethod, KeyboardInteractiveAuthMethod, ParsedKey } from 'ssh2';
import type { SftpLogin } from './credentials.ts';

/** The ways to log in, in the order in which they are tried. */
export function authMethods({ username, key, password }: SftpLogin, legacy: boolean): AnyAuthMethod[] {
  const keys = key ? signers(key, legacy) : [];
  const methods: AnyAuthMethod[] = keys.map((signer) => ({ type: 'publickey', username, key: signer }));
  if (password === undefined) return methods;
  methods.push({ type: 'password', username, password });
  // Many servers ask for the password only so.
  const prompt: KeyboardInteractiveAuthMethod['prompt'] = (_name, _instructions, _language, prompts, answer) =>
    answer(prompts.map(() => password));
  methods.push({ type: 'keyboard-interactive', username, prompt });
  return methods;
}

function signers(key: ParsedKey, legacy: boolean): ParsedKey[] {
  if (key.type !== 'ssh-rsa') return [key];
  return legacy ? [key, onlySha1(key)] : [withoutSha1(key)];
}

/** ssh2 signs with SHA-1 when a server does not say that it knows better. */
function withoutSha1(key: ParsedKey): ParsedKey {
  const sign = key.sign.bind(key);
  key.sign = (data, algorithm) =>
    algorithm === 'sha1' ? (new Error('an ssh-rsa signature') as unknown as Buffer) : sign(data, algorithm);
  return key;
}

/**
 * ssh2 signs with SHA-2 alone when a server says that it knows it, and some say so and then refuse it. It looks at the
 * type of the key twice: first for other signatures than the type's own, of which a type that it does not know has none.
 */
function onlySha1(key: ParsedKey): ParsedKey {
  const types = ['unknown'];
  return Object.create(key, { type: { get: () => types.pop() ?? key.type } });
}
