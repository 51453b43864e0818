import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateHybridIdentity, generateX25519Identity, identityToRecipient } from 'age-encryption';
import { ExitCode } from '../../lib/errors.ts';
import { readIdentities, readRecipients } from './age-keys.ts';

let directory: string;
let identity: string;
let recipient: string;
let hybridIdentity: string;
let hybrid: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'age-keys-'));
  identity = await generateX25519Identity();
  recipient = await identityToRecipient(identity);
  hybridIdentity = await generateHybridIdentity();
  hybrid = await identityToRecipient(hybridIdentity);
});
afterAll(() => rm(directory, { recursive: true }));

let files = 0;
async function file(content: string): Promise<string> {
  const path = join(directory, `keys-${files++}`);
  await writeFile(path, content);
  return path;
}

async function mistake(work: Promise<unknown>, message: RegExp, at?: string): Promise<void> {
  const error: Error | undefined = await work.then(
    () => undefined,
    (reason) => reason,
  );
  expect(error).toMatchObject({
    ...{ exitCode: ExitCode.usage, message: expect.stringMatching(message) },
    at: at ?? expect.any(String),
  });
  expect(error?.message).not.toContain('\n');
  for (const secret of [identity, hybridIdentity]) {
    expect(error?.message.toUpperCase()).not.toContain(secret.slice(20, 40));
  }
}

describe('recipients', () => {
  test('are taken from the command line and from files, with comments, each once', async () => {
    const second = await identityToRecipient(await generateX25519Identity());
    const path = await file(`# the vault\r\n\n  ${recipient} \r\n${second}\n`);
    expect(await readRecipients([recipient], [path])).toEqual([recipient, second]);
    expect(await readRecipients([hybrid], [])).toEqual([hybrid]);
  });

  test('a secret key among them is refused and not repeated, however it is written', async () => {
    for (const secret of [
      identity,
      hybridIdentity,
      identity.toLowerCase(),
      `"${identity}"`,
      `AGE-PLUGIN-${identity}`,
    ]) {
      await mistake(
        readRecipients([secret], []),
        /^the value is a secret key, .*which `age-keygen -y` prints/,
        'ageRecipient',
      );
      const path = await file(`${recipient}\n${secret}\n`);
      await mistake(readRecipients([], [path]), /^\S+keys-\d+: line 2 is a secret key/, 'ageRecipientsFile');
    }
  });

  test('a mistyped recipient is reported', async () => {
    const typo = recipient.replace(/.$/, (last) => (last === 'q' ? 'p' : 'q'));
    await mistake(
      readRecipients([typo], []),
      new RegExp(`is not a valid age recipient; check it for typing errors: it begins with ${typo.slice(0, 12)}$`),
    );
    await mistake(readRecipients([hybrid.slice(0, -1)], []), /typing errors: it begins with age1pq1.{5}$/);
  });

  test('any other text is not repeated, because it may be a secret', async () => {
    await mistake(
      readRecipients([identity.slice(20)], []),
      /^the value is not an age recipient; write age1…$/,
      'ageRecipient',
    );
    await mistake(readRecipients(['ssh-ed25519 AAAA'], []), /^the value is not an age recipient; write age1…$/);
  });

  test('a key that cannot be used for encryption is refused', async () => {
    const zero = 'age1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq5cu47z';
    await mistake(readRecipients([zero], []), /is not a valid age recipient/);
  });

  test('post-quantum recipients cannot be mixed with others', async () => {
    await mistake(readRecipients([hybrid, recipient], []), /some recipients are post-quantum and some are not/);
  });
});

describe('identities', () => {
  test('are taken from files, with comments, several in one', async () => {
    const path = await file(`# created: 2026-11-21\n# public key: ${recipient}\n${identity}\n${hybridIdentity}\n`);
    expect(await readIdentities([path, await file(identity)])).toEqual([identity, hybridIdentity, identity]);
  });

  test('a directory, such as a mounted Secret, stands for every file in it', async () => {
    const mounted = await mkdtemp(join(directory, 'mounted-'));
    await mistake(readIdentities([mounted]), /the directory .* has no files/);
    await mkdir(join(mounted, '..2026'));
    await writeFile(join(mounted, '..2026/new'), hybridIdentity);
    await symlink('..2026', join(mounted, '..data'));
    await symlink('..data/new', join(mounted, 'new'));
    await writeFile(join(mounted, 'old'), identity);
    expect(await readIdentities([mounted])).toEqual([hybridIdentity, identity]);
  });

  test('a recipient is refused', async () => {
    const line = /^\S+: line 1 is a recipient, which cannot decrypt/;
    await mistake(readIdentities([await file(recipient)]), line, 'ageIdentityFile');
  });

  test('a mistyped identity, or one with a passphrase, of a plugin or of another tool, is refused and not repeated', async () => {
    const broken = identity.replace(/.$/, (last) => (last === 'Q' ? 'P' : 'Q'));
    const plugin = `AGE-PLUGIN-YUBIKEY-${identity}`;
    for (const text of [broken, identity.toLowerCase(), plugin, '-----BEGIN AGE ENCRYPTED FILE-----']) {
      await mistake(readIdentities([await file(text)]), /: line 1 is not an age identity; use AGE-SECRET-KEY-1…/);
    }
  });
});

describe('a file', () => {
  test.each([
    ['ageRecipientsFile', (path: string) => readRecipients([], [path])],
    ['ageIdentityFile', (path: string) => readIdentities([path])],
  ] as const)('%s that is empty or away is named', async (at, read) => {
    await mistake(read(await file('# nothing\n\n')), /^\S+ is empty$/, at);
    await mistake(
      read('/nowhere/keys'),
      /^cannot read \/nowhere\/keys \(ENOENT\): it does not exist; check the path$/,
      at,
    );
  });
});
