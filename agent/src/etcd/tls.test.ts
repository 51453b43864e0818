import { X509Certificate } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Certificates, createCertificates } from '../../test/harness/certificates.ts';
import { FakeEtcd } from '../../test/support/fake-tls-etcd.ts';
import { issueIntermediate, issueLeaf, issueRevocationList, issueRoot } from '../controllers/certificates/issue.ts';
import { ExitCode } from '../lib/errors.ts';
import { GrpcChannel } from './grpc.ts';
import { loadTls, loadTlsDirectory, mergeTls, type TlsFiles } from './tls.ts';

let directory: string;
let made: Certificates;
let junk: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tls-'));
  made = await createCertificates(directory);
  junk = join(directory, 'junk');
  await writeFile(junk, 'not a certificate');
});
afterAll(() => rm(directory, { recursive: true }));

const refused = (files: TlsFiles, message: RegExp, at: string | undefined, now?: Date) =>
  expect(loadTls(files, now)).rejects.toMatchObject({
    exitCode: ExitCode.usage,
    message: expect.stringMatching(message),
    at,
  });

test('without files there is no TLS', async () => {
  expect(await loadTls({})).toBeUndefined();
});

test('a certificate, its key and the authority are read; the authority alone will do', async () => {
  const { ca, cert, key } = (await loadTls({ cacert: made.ca, ...made.client }))!;

  for (const pem of [ca, cert, key]) expect(pem?.toString()).toContain('-----BEGIN');
  expect(await loadTls({ cacert: made.ca })).toEqual({ ca, cert: undefined, key: undefined });
});

test('a certificate without a key, or a key without a certificate', async () => {
  await refused({ cert: made.client.cert }, /go together/, undefined);
  await refused({ key: made.client.key }, /go together/, undefined);
});

test('an expired certificate', () => refused(made.expiredClient, /^.*expired at 20.*renew it/, 'cert'));

test('a certificate that is not valid yet', () =>
  refused(made.client, /not valid before.*check the clock/, 'cert', new Date(0)));

test("another certificate's key", () =>
  refused({ cert: made.client.cert, key: made.server.key }, /server\.key is not the key of .*client\.crt/, 'key'));

test.each(['cacert', 'cert', 'key'] as const)('--%s that is missing, or no PEM', async (flag) => {
  const files = { cacert: made.ca, ...made.client };
  await refused({ ...files, [flag]: join(directory, 'nowhere') }, /^cannot read .*ENOENT/, flag);
  await refused({ ...files, [flag]: junk }, /junk does not contain a PEM/, flag);
});

test('a chain whose second certificate is damaged', async () => {
  const broken = join(directory, 'broken');
  const second = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
  await writeFile(broken, `${await readFile(made.client.cert, 'utf8')}\n${second}`);
  await refused(
    { ...made.client, cert: broken },
    /broken does not contain a PEM certificate in each of its parts/,
    'cert',
  );
});

test.each([
  ['key', 'a private key with a passphrase', '-----BEGIN ENCRYPTED PRIVATE KEY-----\n', /passphrase.*openssl pkey/],
  ['key', 'one of the older form', '-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n', /passphrase/],
  ['key', 'a certificate', '-----BEGIN CERTIFICATE-----\n', /PEM private key, but a certificate/],
  ['key', 'a key of SSH', '-----BEGIN OPENSSH PRIVATE KEY-----\n', /but a key of SSH/],
  ['cert', 'a private key', '-----BEGIN EC PRIVATE KEY-----\n', /PEM certificate, but a private key/],
  ['cert', 'a request', '-----BEGIN CERTIFICATE REQUEST-----\n', /but a request for a certificate/],
  ['cacert', 'DER', Buffer.from('3082030a', 'hex'), /is in DER form or PKCS#12, not PEM; .*openssl x509 -inform der/],
  ['cacert', 'PKCS#7', '-----BEGIN PKCS7-----\n', /but PKCS#7; convert it/],
] as const)('--%s with %s', async (flag, _, content, message) => {
  const other = join(directory, 'other');
  await writeFile(other, content);
  await refused({ cacert: made.ca, ...made.client, [flag]: other }, message, flag);
});

test('a server below a revoked intermediate is sent nothing', async () => {
  const now = Date.now();
  const root = await issueRoot('orders clients root', now);
  const [stolen, present] = [await issueIntermediate('CA', root, now), await issueIntermediate('CA', root, now)];
  const shape = { commonName: 'db-0', dnsNames: [], ipAddresses: ['127.0.0.1'], isServer: true };
  const mount = join(directory, 'list');
  const files = async (issuer: typeof stolen) => {
    const { cert, key } = await issueLeaf(shape, issuer, now);
    await mkdir(mount, { recursive: true });
    await writeFile(join(mount, 'tls.crt'), cert + issuer.cert);
    await writeFile(join(mount, 'tls.key'), key);
    await writeFile(join(mount, 'ca.crt'), root.cert);
  };
  const { serialNumber } = new X509Certificate(stolen.cert);
  const connect = async (issuer: typeof stolen, list: readonly string[]) => {
    await files(issuer);
    await writeFile(join(mount, 'ca.crl'), await issueRevocationList(list, present, now));
    const server = { cert: join(mount, 'tls.crt'), key: join(mount, 'tls.key') };
    await using etcd = await FakeEtcd.listen({ ...made, ca: join(mount, 'ca.crt'), server });
    const tls = await loadTlsDirectory('peerTlsDir', mount);
    const channel = await GrpcChannel.connect(etcd.url, { tls, dialTimeout: 5_000 });
    channel.close();
  };
  await connect(stolen, []);
  await connect(present, [serialNumber]);
  await expect(connect(stolen, [serialNumber])).rejects.toThrow(/the certificate is revoked/);
  // So do clients that name each file, such as a backup pod.
  const [cacert, cert, key] = ['ca.crt', 'tls.crt', 'tls.key'].map((name) => join(mount, name)) as [
    string,
    string,
    string,
  ];
  expect((await loadTls({ cacert, cert, key }))?.revoked?.serials).toEqual(new Set([serialNumber]));
  const der = await readFile(join(mount, 'ca.crl'));
  const lines = der
    .toString('base64')
    .match(/.{1,64}/g)!
    .join('\n');
  const pem = `-----BEGIN X509 CRL-----\n${lines}\n-----END X509 CRL-----\n`;
  const other = (await issueRevocationList(['7777'], present, now)).toString('base64');
  await writeFile(join(mount, 'ca.crl'), `${pem}-----BEGIN X509 CRL-----\n${other}\n-----END X509 CRL-----\n`);
  expect((await loadTls({ cacert }))?.revoked?.serials).toEqual(new Set([serialNumber, '7777']));
  for (const wrong of ['no list', '', `${pem}-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n`]) {
    await writeFile(join(mount, 'ca.crl'), wrong);
    await expect(loadTlsDirectory('peerTlsDir', mount)).rejects.toMatchObject({
      at: 'peerTlsDir',
      message: `${mount}/ca.crl, which lies beside ${cacert}, is no list of revoked certificates in DER or PEM; write it again, or move it away`,
    });
  }
});

test('two sets of files have the lists of both', async () => {
  const material = (serial: string) => ({
    ca: Buffer.from(serial),
    revoked: { serials: new Set([serial]), id: serial },
  });
  expect(mergeTls(material('A'), material('B'))?.revoked?.serials).toEqual(new Set(['A', 'B']));
  expect(mergeTls(material('A'), {})?.revoked?.serials).toEqual(new Set(['A']));
});
