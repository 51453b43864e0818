import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { selfSigned } from '../../../../test/support/self-signed.ts';
import { certificatesCommand, serviceAddress } from './kubeadm-certificates.ts';

let root: string;
let manifestsDir: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'kubernetes-'));
  manifestsDir = join(root, 'manifests');
  await mkdir(manifestsDir);
});
afterEach(() => rm(root, { recursive: true }));

const apiServer = (...flags: string[]) =>
  writeFile(
    join(manifestsDir, 'kube-apiserver.yaml'),
    stringify({
      kind: 'Pod',
      spec: {
        containers: [
          {
            name: 'kube-apiserver',
            image: 'registry.k8s.io/kube-apiserver:v1.34.1',
            command: ['kube-apiserver', ...flags],
          },
        ],
      },
    }),
  );
const cluster = [
  '--advertise-address=10.1.0.2',
  '--service-cluster-ip-range=10.8.0.0/16,fd00::/108',
  '--service-account-issuer=https://kubernetes.default.svc.corp.local',
];
const known =
  '--kubernetes-version=v1.34.1 --apiserver-advertise-address=10.1.0.2 --service-cidr=10.8.0.0/16,fd00::/108 --service-dns-domain=corp.local';

test('the addresses and names of the cluster come from its manifest', async () => {
  await apiServer(...cluster);
  expect(await certificatesCommand(manifestsDir, 'all')).toBe(`kubeadm init phase certs all ${known}`);
});

test('the endpoint of the control plane comes from a kubeconfig of the node', async () => {
  await apiServer(...cluster);
  await writeFile(join(root, 'kubelet.conf'), 'clusters:\n- cluster:\n    server: https://api.example.com:6443\n');
  expect(await certificatesCommand(manifestsDir, 'apiserver')).toBe(
    `kubeadm init phase certs apiserver ${known} --apiserver-cert-extra-sans=api.example.com`,
  );
  await writeFile(join(root, 'admin.conf'), 'clusters:\n- cluster:\n    server: https://127.0.0.1:6443\n');
  expect(await certificatesCommand(manifestsDir, 'all')).not.toMatch('extra-sans');
});

test('further names come from the certificate of the backup, without those of its own node', async () => {
  await apiServer(...cluster);
  const ofKubeadm = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.corp.local'];
  const ofNode = ['cp1', '10.1.0.1', '10.8.0.1'];
  const pem = await selfSigned([...ofKubeadm, ...ofNode, 'api.example.com', 'vip.example.com', '10.1.0.100']);
  const etcd = {
    from: 'static-pod' as const,
    command: ['etcd', '--initial-advertise-peer-urls=https://10.1.0.1:2380'],
  };
  expect(await certificatesCommand(manifestsDir, 'all', { pem, host: { nodeName: 'cp1', etcd } })).toBe(
    `kubeadm init phase certs all ${known} --apiserver-cert-extra-sans=api.example.com,vip.example.com,10.1.0.100`,
  );
  // Damaged, or no certificate.
  expect(await certificatesCommand(manifestsDir, 'all', { pem: 'none' })).not.toMatch('extra-sans');
});

test('without a manifest nothing is known', async () => {
  expect(await certificatesCommand(manifestsDir, 'all')).toBe('kubeadm init phase certs all');
});

test.each([
  ['10.96.0.0/12', '10.96.0.1'],
  ['10.8.3.7/16', '10.8.0.1'],
  ['192.168.255.128/25,fd00::/108', '192.168.255.129'],
  ['fd00:10:96::/112', 'fd00:10:96::1'],
  ['fd00::/108,10.96.0.0/12', 'fd00::1'],
  ['none', undefined],
])('the Service of the API server in %s is at %s', (range, address) => {
  expect(serviceAddress({ 'service-cluster-ip-range': range })).toBe(address);
});
