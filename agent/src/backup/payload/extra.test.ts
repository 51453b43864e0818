import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import { manifestOf } from '../../../test/support/manifest-of.ts';
import { ExitCode } from '../../lib/errors.ts';
import { FilesystemStore } from '../../store/filesystem/filesystem-store.ts';
import { describeExtra, packExtra, putExtra, readExtra } from './extra.ts';

let root: string;
let store: FilesystemStore;
let identity: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'extra-'));
  store = new FilesystemStore({ path: join(root, 'store') });
  identity = await generateX25519Identity();
});
afterEach(() => rm(root, { recursive: true }));

const id = 'etcd-snapshot-20261121-023807-3f9c2a';

async function stored(paths: string[]) {
  const packed = await packExtra({ paths, recipients: [await identityToRecipient(identity)] });
  const extra = describeExtra(packed, 'prod', id);
  await putExtra(store, extra, packed.bytes, {});
  return { ...manifestOf(Buffer.alloc(64), undefined, { id }), extra };
}

/** /…/pki with a key, a link to it, and names that a tar file has to divide. */
async function pki(): Promise<string> {
  const directory = join(root, 'pki');
  const deep = join(directory, 'd'.repeat(60), 'e'.repeat(60));
  await mkdir(deep, { recursive: true });
  await writeFile(join(directory, 'ca.key'), 'secret of the authority', { mode: 0o600 });
  await symlink('ca.key', join(directory, 'sa.key'));
  await writeFile(join(deep, 'server.crt'), Buffer.alloc(1024, 'x'));
  return directory;
}

test('the files are restored unchanged with tar', async () => {
  const manifest = await stored([await pki(), join(root, 'pki', 'ca.key')]);
  const tar = await readExtra(store, manifest, { identities: [identity] });
  const target = join(root, 'restored');
  await mkdir(target);
  execFileSync('tar', ['-xpf', '-', '-C', target], { input: tar });
  const restored = join(target, root, 'pki');
  expect(await readdir(restored, { recursive: true })).toEqual(await readdir(join(root, 'pki'), { recursive: true }));
  for (const name of ['ca.key', 'sa.key', join('d'.repeat(60), 'e'.repeat(60), 'server.crt')]) {
    expect(await readFile(join(restored, name))).toEqual(await readFile(join(root, 'pki', name)));
  }
  const modes = execFileSync('tar', ['-tvf', '-'], { input: tar, encoding: 'utf8' });
  expect(modes).toMatch(/^-rw------- .* \S*pki\/ca\.key$/m);
  expect(modes).toMatch(/^l.* \S*sa\.key -> ca\.key$/m);
});

test('the files are not stored in plain text, and another identity does not decrypt them', async () => {
  const manifest = await stored([await pki()]);
  expect(manifest.extra.key).toBe(`prod/${id}.extra.tar.age`);
  const file = await readFile(join(root, 'store', manifest.extra.key));
  expect(file.includes('secret of the authority')).toBe(false);
  expect(file.length).toBe(manifest.extra.sizeBytes);
  await expect(readExtra(store, manifest, { identities: [await generateX25519Identity()] })).rejects.toMatchObject({
    exitCode: ExitCode.usage,
  });
  await expect(readExtra(store, manifest, {})).rejects.toMatchObject({ exitCode: ExitCode.usage });
});

test('damage is reported', async () => {
  const manifest = await stored([await pki()]);
  const file = join(root, 'store', manifest.extra.key);
  const bytes = await readFile(file);
  bytes[bytes.length - 5]! ^= 1;
  await writeFile(file, bytes);
  await expect(readExtra(store, manifest, { identities: [identity] })).rejects.toMatchObject({
    exitCode: ExitCode.verificationFailed,
  });
});

test('a snapshot without them says so', async () => {
  await expect(readExtra(store, manifestOf(Buffer.alloc(64)), {})).rejects.toMatchObject({
    exitCode: ExitCode.nothingThere,
  });
});

test('a missing or too large file is a usage error of one line', async () => {
  const recipients = [await identityToRecipient(identity)];
  const large = join(root, 'large');
  await writeFile(large, Buffer.alloc(9 * 1024 * 1024));
  for (const [path, message] of [
    [join(root, 'gone'), /cannot read .*gone \(ENOENT\)/],
    ['pki', /not absolute/],
    [large, /9437184 bytes/],
  ] as const) {
    const failure = packExtra({ paths: [path], recipients });
    await expect(failure).rejects.toMatchObject({ exitCode: ExitCode.usage });
    await expect(failure).rejects.toThrow(message);
  }
});
