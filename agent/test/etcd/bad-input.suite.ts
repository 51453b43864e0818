// Each mistake gives one line that says what to do, the documented exit code, and leaves the store as it was.
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ExitCode } from '../../src/lib/errors.ts';
import { runAgent } from '../harness/agent.ts';
import { type Certificates, createCertificates } from '../harness/certificates.ts';
import { readerUser, rootUser } from '../harness/etcd-auth.ts';
import { EtcdCluster } from '../harness/etcd-cluster.ts';
import { freePorts } from '../harness/free-ports.ts';

let root: string;
let store: string;
let certificates: Certificates;
let plain: EtcdCluster;
let secured: EtcdCluster;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'bad-input-'));
  certificates = await createCertificates(join(root, 'tls'));
  [plain, secured] = await Promise.all([EtcdCluster.start(), EtcdCluster.start({ tls: certificates, auth: true })]);
  await plain.etcdctl('put', 'key', 'value');
});
afterAll(async () => {
  await Promise.all([plain?.stop(), secured?.stop()]);
  await rm(root, { recursive: true, force: true });
});

beforeEach(async () => {
  store = await mkdtemp(join(root, 'store-'));
});

/** Runs a command and checks that it fails as documented, in one line without a secret. */
async function expectMistake(args: string[], exitCode: number, line: RegExp): Promise<void> {
  const { code, stdout, stderr } = await runAgent(args);
  const lines = stderr.split('\n').filter((text) => text && !text.startsWith('{'));
  expect({ code, stdout, lines }).toEqual({ code: exitCode, stdout: '', lines: [expect.stringMatching(line)] });
  expect(stderr).not.toMatch(/\n\s+at |root-pw|reader-pw|a-secret-key/);
  expect(await readdir(store, { recursive: true })).toEqual([]);
}

const good = () => ['backup', '--cluster=orders', `--store=file://${store}`, `--endpoints=${plain.endpoints}`];
const replaced = (flag: string, value: string) => [
  ...good().filter((arg) => !arg.startsWith(`--${flag}=`)),
  `--${flag}=${value}`,
];
const file = async (name: string, content: string) => {
  await writeFile(join(root, name), content);
  return join(root, name);
};

const recipient = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

test('the command without a mistake succeeds', async () => {
  expect(await runAgent(good())).toMatchObject({ code: 0 });
});

describe('usage', () => {
  test.each([
    ['an unknown command', ['bakcup'], /unknown command 'bakcup' \(Did you mean backup\?\)/],
    ['an unknown flag', ['backup', '--stroe=x'], /unknown option '--stroe=x' \(Did you mean --store\?\)/],
    ['no cluster', ['status', '--store=file:///x'], /--cluster: name the cluster/],
    ['no store', ['list', '--cluster=orders'], /--store: name the store of the snapshots/],
    ['no such level', ['verify', '--level=deep'], /--level.*Allowed choices are stream, read, open; use --help/],
    [
      'a part of nothing',
      ['verify', '--cluster=x', '--store=file:///x', '--subset=8/7'],
      /--subset: '8\/7' is not a part/,
    ],
    ['prune without rules', ['prune', '--cluster=x', '--store=file:///nowhere'], /--retention: say what to keep/],
  ])('%s', async (_, args, line) => {
    await expectMistake(args, ExitCode.usage, line);
  });

  test.each([
    ['cluster', 'a/b', /--cluster: 'a\/b' is not a cluster name/],
    ['store', 'ftp://host/dir', /--store: unknown scheme 'ftp'; known: s3, oss, sftp, file, exec/],
    ['store', 'exec:///nowhere', /command: cannot run \/nowhere\/put \(ENOENT\); the store needs put, get, list, stat/],
    ['store', 'sftp://host/dir', /sftp: host host: no credentials; set credentialsDirectory/],
    ['store', 'oss://bucket?endpoint=127.0.0.1:9', /oss: endpoint 127.0.0.1:9 is an IP address/],
    ['store', '{"s3":{"bukket":"x"}}', /--store: .*buc?k/],
    ['endpoints', 'https://host:2379/path', /--endpoints: .* has a path/],
    ['endpoints', 'unix:///x', /--endpoints: .* is not an etcd endpoint/],
    ['retention', 'last=0', /--retention: last: must be at least 1/],
    ['retention', 'lots=3', /--retention: .*lots/],
    ['retention', 'timeZone=Mars/Olympus,last=1', /--retention: timeZone: is not an IANA time zone/],
    ['timeout', 'soon', /--timeout: 'soon' is not a valid duration above zero; write 90s, 5m or 24h/],
    ['user', 'root', /--password-file: is missing; --user needs a file with the password/],
    ['cert', '/nowhere/tls.crt', /: a certificate and its key go together; pass --cert and --key, or neither/],
    ['cacert', '/nowhere/ca.crt', /--cacert: cannot read \/nowhere\/ca.crt \(ENOENT\)/],
    [
      'age-recipient',
      'age1qpzry',
      /--age-recipient: the value is not a valid age recipient; check it for typing errors: it begins with age1qpzry/,
    ],
    [
      'age-recipient',
      'AGE-SECRET-KEY-1a-secret-key',
      /--age-recipient: the value is a secret key, which must not be here/,
    ],
    ['age-recipients-file', '/nowhere/keys', /--age-recipients-file: cannot read \/nowhere\/keys \(ENOENT\)/],
    ['age-identity-file', '/nowhere/keys', /--age-identity-file: cannot read \/nowhere\/keys \(ENOENT\)/],
    ['extra-path', '/etc', /--extra-path: is only stored encrypted; add --age-recipient or --extra-age-recipient/],
    ['extra-age-recipient', 'AGE-SECRET-KEY-1a-secret-key', /--extra-age-recipient: the value is a secret key/],
    ['extra-age-recipient', recipient, /--extra-age-recipient: needs --extra-path/],
    ['config', '/nowhere/config.yaml', /--config: cannot read/],
  ])('--%s=%s', async (flag, value, line) => {
    await expectMistake(replaced(flag, value), ExitCode.usage, line);
  });

  test('a setting of a config file that does not exist', async () => {
    const config = await file('config.yaml', 'clutser: orders\n');
    await expectMistake([...good(), `--config=${config}`], ExitCode.usage, /--config: .*clutser/);
  });
});

describe('etcd', () => {
  const tls = () => {
    const { ca, client } = certificates;
    return [`--cacert=${ca}`, `--cert=${client.cert}`, `--key=${client.key}`];
  };
  const toSecured = (...flags: string[]) => [...replaced('endpoints', secured.endpoints.join()), ...flags];

  test('does not run', async () => {
    const [port] = await freePorts(1);
    await expectMistake(
      replaced('endpoints', `127.0.0.1:${port}`),
      ExitCode.etcdUnavailable,
      /cannot be reached \(ECONNREFUSED\)/,
    );
  });

  test('is another program', async () => {
    const web = createServer((_, response) => response.end('hello')).listen(0, '127.0.0.1');
    await new Promise((resolve) => web.once('listening', resolve));
    const { port } = web.address() as AddressInfo;
    await expectMistake(
      [...replaced('endpoints', `127.0.0.1:${port}`), '--dial-timeout=1s'],
      ExitCode.etcdUnavailable,
      /etcd at .*/,
    );
    web.closeAllConnections();
    web.close();
  });

  test('serves TLS, and the endpoint says http', async () => {
    const plainly = secured.endpoints.map((endpoint) => endpoint.replace('https://', 'http://'));
    for (const endpoint of [plainly[0]!, plainly[0]!.replace('http://', '')]) {
      await expectMistake(
        replaced('endpoints', endpoint),
        ExitCode.etcdUnavailable,
        /if it uses TLS, write https:\/\//,
      );
    }
  });

  test('wants a client certificate', async () => {
    await expectMistake(toSecured(`--cacert=${certificates.ca}`), ExitCode.usage, /--cert|client certificate/);
  });

  test('is signed by another authority', async () => {
    const { otherCa, client } = certificates;
    const flags = [`--cacert=${otherCa}`, `--cert=${client.cert}`, `--key=${client.key}`];
    await expectMistake(toSecured(...flags), ExitCode.usage, /unknown authority; pass its CA with --cacert/);
  });

  test('trusts another authority than the client’s', async () => {
    const { ca, otherClient } = certificates;
    const flags = [`--cacert=${ca}`, `--cert=${otherClient.cert}`, `--key=${otherClient.key}`];
    await expectMistake(
      toSecured(...flags),
      ExitCode.usage,
      /refused the TLS handshake.*check --cert, --key and --cacert/,
    );
  });

  test('the client’s certificate has expired', async () => {
    const { ca, expiredClient } = certificates;
    const flags = [`--cacert=${ca}`, `--cert=${expiredClient.cert}`, `--key=${expiredClient.key}`];
    await expectMistake(toSecured(...flags), ExitCode.usage, /--cert: .* expired at \d{4}-.*; renew it/);
  });

  test('the server’s certificate has expired', async () => {
    await using expired = await EtcdCluster.start({ tls: { ...certificates, server: certificates.expiredServer } });
    await expectMistake(
      [...replaced('endpoints', expired.endpoints.join()), ...tls()],
      ExitCode.usage,
      /the server's certificate has expired; renew it/,
    );
  });

  test('has auth enabled, and no user is given', async () => {
    await expectMistake(
      toSecured(...tls()),
      ExitCode.usage,
      /permission denied; .* by --user or by the client certificate's name/,
    );
  });

  test('has auth enabled, and neither a user nor a certificate is given', async () => {
    await using withAuth = await EtcdCluster.start({ auth: true });
    const line = /requires authentication; pass --user and --password-file/;
    await expectMistake(replaced('endpoints', withAuth.endpoints.join()), ExitCode.usage, line);
  });

  test('refuses the password', async () => {
    const password = await file('wrong', 'a-secret-key');
    await expectMistake(
      toSecured(...tls(), `--user=${rootUser.name}`, `--password-file=${password}`),
      ExitCode.usage,
      /refuses the user or password; check --user and --password-file/,
    );
  });

  test('has a user that may not take snapshots', async () => {
    const password = await file('reader', readerUser.password);
    await expectMistake(
      toSecured(...tls(), `--user=${readerUser.name}`, `--password-file=${password}`),
      ExitCode.usage,
      /permission denied; a snapshot needs a user with the root role/,
    );
  });
});

describe('stores', () => {
  test('no credentials', async () => {
    const empty = join(root, 'empty');
    await mkdir(empty, { recursive: true });
    const spec = JSON.stringify({
      s3: { bucket: 'backup', endpoint: 'http://127.0.0.1:1', credentialsDirectory: empty },
    });
    await expectMistake(replaced('store', spec), ExitCode.usage, /credential/i);
  });

  test('a directory that cannot be written', async () => {
    // Root may write anywhere except where no file system allows writing.
    const readOnly = process.getuid?.() === 0 ? '/sys/kernel' : join(root, 'read-only');
    await mkdir(readOnly, { recursive: true });
    if (readOnly !== '/sys/kernel') await chmod(readOnly, 0o500);
    await expectMistake(
      replaced('store', `file://${readOnly}/backup`),
      ExitCode.storeRefused,
      /cannot|refuse|read-only|create/i,
    );
  });

  test('nothing there to restore', async () => {
    const inStore = ['--cluster=orders', `--store=file://${store}`];
    await expectMistake(
      ['restore', 'fetch', ...inStore, `--to=${root}/x.db`],
      ExitCode.nothingThere,
      /no verified snapshot/,
    );
    await expectMistake(
      ['show', 'etcd-snapshot-20260101-000000-abcdef', ...inStore],
      ExitCode.nothingThere,
      /holds no snapshot .*; it has no folder orders, .*: check --store, or take a first backup$/,
    );
  });
});
