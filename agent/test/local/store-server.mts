// `store-server.mts sshd|legacy-sshd|s3 ADDRESS`: prints a line about a server for other machines, and serves until its
// stdin ends.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { legacySshd, Sshd } from '../harness/sshd.ts';
import { Versitygw } from '../harness/versitygw.ts';

const [kind = '', host = ''] = process.argv.slice(2);
const password = randomBytes(12).toString('base64url');
const start: Readonly<Record<string, () => Promise<Sshd | Versitygw>>> = {
  sshd: () => Sshd.start({ host, password }),
  'legacy-sshd': () => Sshd.start({ ...legacySshd, host, password }),
  s3: () => Versitygw.start({ host, buckets: ['etcd-backup'] }),
};

const server = await start[kind]!();
const { endpoint, directory, credentialsDirectory } = server;
const credentials: Record<string, string> = {};
for (const name of await readdir(credentialsDirectory)) {
  credentials[name] = await readFile(join(credentialsDirectory, name), 'utf8');
}
process.stdout.write(`${JSON.stringify({ endpoint, directory, credentials })}\n`);
await once(process.stdin.resume(), 'end');
await server.stop();
