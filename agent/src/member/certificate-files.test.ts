import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitCode } from '../lib/errors.ts';
import { missingCertificate } from './certificate-files.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'certificates-'));
});
afterEach(() => rm(root, { recursive: true }));

test('a file that is still to come is named, and nothing once it is there', async () => {
  for (const name of ['tls.crt', 'ca.crt']) await writeFile(join(root, name), '');
  expect(await missingCertificate({ peerTlsDir: root })).toContain(`${join(root, 'tls.key')} does not exist yet`);
  await writeFile(join(root, 'tls.key'), '');
  expect(await missingCertificate({ peerTlsDir: root })).toBeUndefined();
});

test('a path that cannot hold a file is an error that says what to do', async () => {
  await writeFile(join(root, 'file'), '');
  await expect(missingCertificate({ serverTlsDir: join(root, 'file') })).rejects.toMatchObject({
    exitCode: ExitCode.usage,
    message: `${join(root, 'file/tls.crt')} cannot be read (ENOTDIR): part of the path is not a directory; check the path`,
  });
});
