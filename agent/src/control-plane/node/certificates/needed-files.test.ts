import { webcrypto } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as x509 from '@peculiar/x509';
import { stringify } from 'yaml';
import { type Certificates, createCertificates } from '../../../../test/harness/certificates.ts';
import { selfSigned } from '../../../../test/support/self-signed.ts';
import { spoken } from '../../../commands/advice/advice.ts';
import type { EtcdNode } from '../node.ts';
import { refuseUnusableFiles, type StoredFiles } from './needed-files.ts';

const PKI = '/nowhere/kubernetes/pki';
const manifest = {
  id: "it's",
  extra: { paths: ['/nowhere/kubernetes'] },
  host: { nodeName: 'cp1' },
} as unknown as Parameters<typeof refuseUnusableFiles>[2];
const node = { member: { clientTls: { cert: `${PKI}/etcd/server.crt`, cacert: `${PKI}/etcd/ca.crt` }, peerTls: {} } };

let manifestsDir: string;
beforeEach(async () => {
  manifestsDir = await mkdtemp(join(tmpdir(), 'manifests-'));
});
afterEach(() => rm(manifestsDir, { recursive: true }));
const unreadable = () => Promise.reject(new Error('another recipient'));
const refusal = (member = node, stored: () => Promise<StoredFiles> = unreadable) =>
  refuseUnusableFiles(member as unknown as EtcdNode, manifestsDir, manifest, stored).catch((error) => {
    // As a command shows it.
    throw spoken(error);
  });

test('from the backup of another node only shared files are restored', async () => {
  const flags = [
    `--tls-cert-file=${PKI}/apiserver.crt`,
    `--service-account-key-file=${PKI}/sa.pub`,
    '--encryption-provider-config=/nowhere/kubernetes/enc/config.yaml',
  ];
  const containers = [{ name: 'kube-apiserver', command: ['kube-apiserver', ...flags] }];
  await writeFile(join(manifestsDir, 'kube-apiserver.yaml'), stringify({ kind: 'Pod', spec: { containers } }));
  const kubernetes = 'nowhere/kubernetes';
  await expect(refusal()).rejects.toThrow(
    new RegExp(
      `restore extra 'it'\\\\''s' .* -C / -- ${kubernetes}/pki/etcd/ca.crt ${kubernetes}/pki/etcd/ca.key ${kubernetes}/pki/sa.pub ${kubernetes}/enc/config.yaml; create certificates with the existing CAs: kubeadm init phase certs all`,
    ),
  );
});

test('with the archive of the backup, every shared file that the node lacks is restored, also the keys of the authorities', async () => {
  const files = ['ca.crt', 'ca.key', 'etcd/ca.crt', 'etcd/ca.key', 'sa.key', 'apiserver.crt', 'etcd/server.key'];
  const pem = await selfSigned(['cp1', 'kubernetes', 'api.example.com']);
  const stored = new Map(files.map((name) => [`${PKI}/${name}`, Buffer.from(name === 'apiserver.crt' ? pem : '')]));
  const pki = 'nowhere/kubernetes/pki';
  await expect(refusal(node, async () => stored)).rejects.toThrow(
    new RegExp(
      `-C / -- ${pki}/ca.crt ${pki}/ca.key ${pki}/etcd/ca.crt ${pki}/etcd/ca.key ${pki}/sa.key; .*certs all --apiserver-cert-extra-sans=api.example.com$`,
    ),
  );
});

test('no name in the archive becomes an option of tar, or leads out of what was backed up', async () => {
  const names = [
    `/--to-command=touch pwned #/../..${PKI}/ca.crt`,
    '/-C/ca.crt',
    '/nowhere/kubernetes/../../other/ca.crt',
    '/nowhere/other/ca.crt',
    `${PKI}/etcd/ca.crt`,
  ];
  const stored = new Map(names.map((name) => [name, Buffer.alloc(0)]));
  await expect(refusal(node, async () => stored)).rejects.toThrow(
    ' -C / -- nowhere/kubernetes/pki/etcd/ca.crt; create',
  );
});

test('a certificate of this node is created, not taken from another node', async () => {
  const own = { member: { clientTls: { cert: `${PKI}/etcd/server.crt` }, peerTls: {} } } as typeof node;
  const message = expect.not.stringMatching(/restore extra|tar -x/);
  await expect(refusal(own)).rejects.toMatchObject({ message });
  await expect(refusal(own)).rejects.toThrow(
    /was made on another node, whose copy must not be used here; create certificates with the existing CAs: kubeadm init phase certs all/,
  );
});

test('each file of a repeated flag is needed, and certificates by name are too', async () => {
  const flags = [
    ...[`--service-account-key-file=${PKI}/old.pub`, '--service-account-key-file', '/dev/null'],
    ...[`--tls-sni-cert-key=${PKI}/a.crt,${PKI}/a.key:a.com,b.com`, '--tls-sni-cert-key=/dev/null,/dev/null'],
  ];
  const containers = [{ name: 'kube-apiserver', command: ['kube-apiserver', ...flags] }];
  await writeFile(join(manifestsDir, 'kube-apiserver.yaml'), stringify({ kind: 'Pod', spec: { containers } }));
  const none = { member: { clientTls: {}, peerTls: {} } } as unknown as typeof node;
  await expect(refusal(none)).rejects.toThrow(`${PKI}/old.pub, ${PKI}/a.crt, ${PKI}/a.key: are missing, and etcd`);
});

/** A certificate that is signed with its own key. */
async function certificateOf(days: { from?: number; to?: number; ca?: boolean }): Promise<string> {
  const { from = -2, to = 2, ca = false } = days;
  const signingAlgorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const keys = (await webcrypto.subtle.generateKey(signingAlgorithm, true, [
    'sign',
    'verify',
  ])) as webcrypto.CryptoKeyPair;
  const [notBefore, notAfter] = [from, to].map((each) => new Date(Date.now() + each * 86_400_000));
  const extensions = [new x509.BasicConstraintsExtension(ca, undefined, true)];
  const times = { notBefore: notBefore!, notAfter: notAfter! };
  const made = await x509.X509CertificateGenerator.createSelfSigned({ keys, signingAlgorithm, extensions, ...times });
  return `${made.toString('pem')}\n`;
}

describe('certificates outside their time', () => {
  let folder: string;
  let tls: Certificates;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'needed-'));
    tls = await createCertificates(folder);
  });
  afterAll(() => rm(folder, { recursive: true }));
  const etcdOf = (clientTls: object, peerTls: object = {}) =>
    ({ member: { clientTls, peerTls } }) as unknown as typeof node;
  const apiServer = (...flags: string[]) => {
    const containers = [{ name: 'kube-apiserver', command: ['kube-apiserver', ...flags] }];
    return writeFile(join(manifestsDir, 'kube-apiserver.yaml'), stringify({ kind: 'Pod', spec: { containers } }));
  };
  const none = etcdOf({});

  test('expired ones are named, with the command that renews them', async () => {
    const { cert } = tls.expiredServer;
    const expired = expect.stringMatching(
      /expired-server\.crt: expired on \S+Z, and etcd and the API server refuse it; on every node: kubeadm certs renew all/,
    );
    for (const member of [etcdOf({ cert }), etcdOf({}, { cert })]) {
      await expect(refusal(member)).rejects.toMatchObject({ exitCode: 2, message: expired });
    }
    for (const flag of ['etcd-certfile', 'tls-cert-file']) {
      await apiServer(`--${flag}=${tls.expiredClient.cert}`);
      await expect(refusal(none)).rejects.toThrow(/expired-client\.crt: expired on .*kubeadm certs renew all/);
    }
    await apiServer(`--tls-sni-cert-key=${cert},/dev/null:a.com`, `--etcd-certfile=${tls.expiredClient.cert}`);
    await expect(refusal(none)).rejects.toThrow(/expired-server\.crt, \S+expired-client\.crt: expired on/);
  });

  test('an expired authority is renewed before anything else, and only if none beside it is valid', async () => {
    const old = join(folder, 'old-ca.crt');
    await writeFile(old, await certificateOf({ ca: true, to: -1 }));
    await expect(refusal(etcdOf({ cacert: old }))).rejects.toThrow(
      /old-ca\.crt: expired on .*kubeadm renews no authority: .*openssl x509 -in \S+old-ca\.crt -signkey \S+old-ca\.key/,
    );
    await writeFile(old, `${await readFile(old, 'utf8')}${await readFile(tls.ca, 'utf8')}`);
    await refusal(etcdOf({ cacert: old }));
  });

  test('one that is not valid yet shows a wrong clock', async () => {
    const early = join(folder, 'early.crt');
    await writeFile(early, await certificateOf({ from: 1 }));
    await expect(refusal(etcdOf({ cert: early }))).rejects.toThrow(
      /early\.crt: valid only from \S+Z; correct the clock of/,
    );
  });

  test('what keeps neither etcd nor the API server from starting may have expired', async () => {
    await apiServer(`--kubelet-client-certificate=${tls.expiredClient.cert}`, '--etcd-certfile=/dev/null');
    await refusal(etcdOf({ cert: tls.server.cert, cacert: tls.ca, key: tls.server.key }));
  });
});
