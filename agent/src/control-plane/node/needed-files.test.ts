import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { selfSigned } from '../../../test/support/self-signed.ts';
import { refuseMissingFiles, type StoredFiles } from './needed-files.ts';
import type { EtcdNode } from './node.ts';

const PKI = '/nowhere/kubernetes/pki';
const manifest = {
  id: "it's",
  extra: { paths: ['/nowhere/kubernetes'] },
  host: { nodeName: 'cp1' },
} as unknown as Parameters<typeof refuseMissingFiles>[2];
const node = { member: { clientTls: { cert: `${PKI}/etcd/server.crt`, cacert: `${PKI}/etcd/ca.crt` }, peerTls: {} } };

let manifestsDir: string;
beforeEach(async () => {
  manifestsDir = await mkdtemp(join(tmpdir(), 'manifests-'));
});
afterEach(() => rm(manifestsDir, { recursive: true }));
const unreadable = () => Promise.reject(new Error('another recipient'));
const refusal = (member = node, stored: () => Promise<StoredFiles> = unreadable) =>
  refuseMissingFiles(member as unknown as EtcdNode, manifestsDir, manifest, stored);

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
      `restore extra 'it'\\\\''s' .* -C / ${kubernetes}/pki/etcd/ca.crt ${kubernetes}/pki/etcd/ca.key ${kubernetes}/pki/sa.pub ${kubernetes}/enc/config.yaml; create certificates with the existing CAs: kubeadm init phase certs all`,
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
      `-C / ${pki}/ca.crt ${pki}/ca.key ${pki}/etcd/ca.crt ${pki}/etcd/ca.key ${pki}/sa.key; .*certs all --apiserver-cert-extra-sans=api.example.com$`,
    ),
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
