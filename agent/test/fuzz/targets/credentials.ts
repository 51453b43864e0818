import { X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { readIdentities, readRecipients } from '../../../src/backup/payload/age-keys.ts';
import { loadTls, mergeTls } from '../../../src/etcd/tls.ts';
import { readCredentials } from '../../../src/store/s3/credentials.ts';
import { readAuthorities } from '../../../src/store/s3/endpoint.ts';
import { readLogin } from '../../../src/store/sftp/credentials.ts';
import { HostKeys, knownHosts } from '../../../src/store/sftp/host-keys.ts';
import { corpusFile } from '../corpus.ts';
import { secretWords } from '../secrets.ts';
import type { Target } from '../target.ts';
import { fileWith, pathOf } from './scratch.ts';

/** Patterns with backtracking are slow on it. */
const HOST = `${'a'.repeat(60)}.store.example.com`;

/** The lines of a key in base64, or with its name. */
const linesOf = (path: string): string[] =>
  corpusFile(path)
    .toString()
    .split('\n')
    .filter((line) => line.length > 30 && !line.startsWith('#') && !line.startsWith('-----'));

/** Without their common part. */
const identity = (): string[] => linesOf('age-identity/one').map((line) => line.slice('AGE-SECRET-KEY-1'.length));

const server = () => corpusFile('certificate/server');
const isValid = () => new Date(new X509Certificate(server()).validFromDate.getTime() + 3_600_000);

/** TLS must accept what was loaded: an error of TLS would not name the file. */
async function loaded(files: { ca?: Buffer; cert?: Buffer; key?: Buffer }): Promise<void> {
  const found = await loadTls(
    {
      ...(files.ca && { cacert: fileWith('tls/ca.crt', files.ca) }),
      ...(files.cert && { cert: fileWith('tls/tls.crt', files.cert) }),
      ...(files.key && { key: fileWith('tls/tls.key', files.key) }),
    },
    isValid(),
  );
  createSecureContext(found);
  createSecureContext(mergeTls(found, { ca: server() }));
}

export const credentials: readonly Target[] = [
  {
    name: 'known-hosts',
    about: 'a known_hosts file, of a Secret',
    kind: 'text',
    corpus: ['known-hosts'],
    run(input) {
      const text = input.toString();
      for (const port of [22, 2222]) {
        knownHosts(text, HOST, port);
        const keys = HostKeys.of({ host: 'store.example.com', port }, { name: 'known_hosts', text });
        keys.problemOf(input);
      }
    },
  },
  {
    name: 'host-key',
    about: 'the public key that an SSH server shows',
    kind: 'bytes',
    corpus: ['host-key'],
    run(input) {
      const keys = HostKeys.of({ host: 'a', hostKey: `SHA256:${'A'.repeat(43)}` }, undefined);
      const problem = keys.problemOf(input);
      if (problem === undefined || problem.length > 1_000) throw new TypeError(`a problem of ${problem?.length}`);
    },
  },
  {
    name: 'ssh-key',
    about: 'the private key of an SSH login, of a Secret',
    kind: 'pem',
    corpus: ['ssh-key'],
    get secrets() {
      return [secretWords.passphrase, ...[0, 1, 2, 3].flatMap((n) => linesOf(`ssh-key/key-${n}`))];
    },
    async run(input) {
      fileWith('ssh/passphrase', secretWords.passphrase);
      fileWith('ssh/privateKey', input);
      const credentialsDirectory = pathOf('ssh');
      const spec = { host: 'a', username: 'u', hostKey: `SHA256:${'A'.repeat(43)}`, credentialsDirectory };
      await readLogin(spec);
    },
  },
  {
    name: 'certificate',
    about: 'a client certificate, for its key',
    kind: 'pem',
    corpus: ['certificate'],
    run: (input) => loaded({ cert: input, key: corpusFile('private-key/server') }),
  },
  {
    name: 'certificate-authority',
    about: 'certificates of authorities, of etcd and of a store',
    kind: 'pem',
    corpus: ['certificate'],
    async run(input) {
      await loaded({ ca: input });
      createSecureContext({ ca: await readAuthorities(fileWith('tls/store.crt', input)) });
    },
  },
  {
    name: 'private-key',
    about: "a client certificate's key",
    kind: 'pem',
    corpus: ['private-key'],
    get secrets() {
      return ['server', 'client'].flatMap((name) => linesOf(`private-key/${name}`));
    },
    run: (input) => loaded({ cert: server(), key: input }),
  },
  {
    name: 'age-identity',
    about: 'a file of age identities, which are secret',
    kind: 'text',
    corpus: ['age-identity'],
    get secrets() {
      return identity();
    },
    run: (input) => readIdentities([fileWith('identities', input)]),
  },
  {
    name: 'age-recipients',
    about: 'a file of age recipients, into which an identity was put by mistake',
    kind: 'text',
    corpus: ['age-recipients', 'age-identity'],
    get secrets() {
      return identity();
    },
    run: (input) => readRecipients([], [fileWith('recipients', input)]),
  },
  {
    name: 'aws-files',
    about: 'the AWS shared files of a Secret',
    kind: 'text',
    corpus: ['aws-files'],
    secrets: [secretWords.key],
    async run(input) {
      fileWith('aws/credentials', input);
      await readCredentials(pathOf('aws'), 'backup');
    },
  },
];
