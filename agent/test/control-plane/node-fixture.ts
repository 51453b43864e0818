import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { createCertificates, type TlsFiles } from '../harness/certificates.ts';
import { type EtcdBinaries, newestEtcd } from '../harness/etcd-binaries.ts';
import { EtcdClient } from '../harness/etcd-client.ts';
import { freePorts } from '../harness/free-ports.ts';
import { initialCluster, type MemberPlan, planMembers } from '../harness/member-plan.ts';
import { FakeKubelet } from './fake-kubelet.ts';

const components = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'etcd'];
export const manifestNames = components.map((name) => `${name}.yaml`).sort();

/** A control-plane node as kubeadm creates it, except that all its addresses are on loopback. */
export class FakeNode {
  readonly name: string;
  readonly root: string;
  readonly clientUrl: string;
  readonly kubelet: FakeKubelet;

  constructor(name: string, root: string, clientUrl: string, kubelet: FakeKubelet) {
    this.name = name;
    this.root = root;
    this.clientUrl = clientUrl;
    this.kubelet = kubelet;
  }

  get manifestsDir(): string {
    return join(this.root, 'kubernetes', 'manifests');
  }

  get dataDir(): string {
    return join(this.root, 'etcd');
  }

  get flags(): string[] {
    return [`--manifests-dir=${this.manifestsDir}`, '--wait=30s'];
  }

  /** Everything except the files to which etcd writes. */
  async files(): Promise<string[]> {
    const kubernetes = await readdir(join(this.root, 'kubernetes'), { recursive: true });
    const data = await readdir(this.dataDir).catch(() => ['none']);
    return [...kubernetes.sort(), ...data.map((name) => `data: ${name}`).sort()];
  }
}

export interface FakeControlPlaneOptions {
  readonly size?: 1 | 3;
  readonly binaries?: EtcdBinaries;
}

/**
 * Control-plane nodes on this machine: real etcd, and a kubelet and an API server that implement only what a restore
 * uses.
 */
export class FakeControlPlane implements AsyncDisposable {
  readonly nodes: readonly FakeNode[];
  readonly client: EtcdClient;
  readonly plans: readonly MemberPlan[];
  readonly #root: string;

  private constructor(
    root: string,
    plans: MemberPlan[],
    nodes: FakeNode[],
    { binaries, tls }: { binaries: EtcdBinaries; tls: TlsFiles },
  ) {
    this.#root = root;
    this.plans = plans;
    this.nodes = nodes;
    this.client = new EtcdClient(
      binaries,
      nodes.map(({ clientUrl }) => clientUrl),
      tls,
    );
  }

  static async start({ size = 1, binaries = newestEtcd() }: FakeControlPlaneOptions = {}): Promise<FakeControlPlane> {
    const root = await mkdtemp(join(tmpdir(), 'control-plane-'));
    const tls = await createCertificates(join(root, 'tls'));
    const plans = (await planMembers(size)).map(({ peerUrl }, n) => ({
      name: `cp${n + 1}`,
      peerUrl: peerUrl.replace('http:', 'https:'),
    }));
    const ports = await freePorts(3 * size);
    const nodes: FakeNode[] = [];
    for (const [n, plan] of plans.entries()) {
      const [client, metrics, api] = ports.slice(3 * n);
      const place = join(root, plan.name);
      await writeManifests(
        join(place, 'kubernetes', 'manifests'),
        {
          'kube-apiserver': [
            ...[`--etcd-servers=https://127.0.0.1:${client}`, '--advertise-address=127.0.0.1', `--secure-port=${api}`],
            ...[`--etcd-certfile=${tls.client.cert}`, `--etcd-keyfile=${tls.client.key}`],
            ...[`--tls-cert-file=${tls.server.cert}`, `--tls-private-key-file=${tls.server.key}`],
            ...[`--client-ca-file=${tls.ca}`, `--kubelet-client-certificate=${tls.client.cert}`],
            `--kubelet-client-key=${tls.client.key}`,
          ],
          'kube-controller-manager': [],
          'kube-scheduler': [],
          // A member without a URL for metrics is queried at its client URL.
          etcd: etcdFlags(
            plan,
            join(place, 'etcd'),
            initialCluster(plans),
            tls,
            client!,
            size === 1 ? metrics : undefined,
          ),
        },
        binaries,
      );
      const kubelet = new FakeKubelet(join(place, 'kubernetes', 'manifests'), join(place, 'log'), binaries.etcd);
      nodes.push(new FakeNode(plan.name, place, `https://127.0.0.1:${client}`, kubelet));
    }
    const made = new FakeControlPlane(root, plans, nodes, { binaries, tls });
    await made.healthy();
    return made;
  }

  get node(): FakeNode {
    return this.nodes[0]!;
  }

  async healthy(): Promise<void> {
    const end = Date.now() + 60_000;
    for (;;) {
      const failure = await this.client.etcdctl('endpoint', 'health').then(
        () => undefined,
        (error: Error) => error,
      );
      if (!failure) return;
      if (Date.now() > end) throw new Error(`${failure.message}\n${await this.#logs()}`);
      await sleep(200);
    }
  }

  get = async (key: string): Promise<string> => (await this.client.etcdctl('get', key, '--print-value-only')).trim();

  put = (key: string, value: string) => this.client.etcdctl('put', key, value);

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.nodes.map(({ kubelet }) => kubelet.stop()));
    await rm(this.#root, { recursive: true, force: true });
  }

  async #logs(): Promise<string> {
    const texts = await Promise.all(this.nodes.map(({ root }) => readFile(join(root, 'log'), 'utf8')));
    return texts.map((text) => text.split('\n').slice(-8).join('\n')).join('\n---\n');
  }
}

const etcdFlags = (
  { name, peerUrl }: MemberPlan,
  dataDir: string,
  members: string,
  { ca, server }: TlsFiles,
  client: number,
  metrics: number | undefined,
): string[] => [
  ...[`--name=${name}`, `--data-dir=${dataDir}`, `--initial-cluster=${members}`, '--logger=zap', '--unsafe-no-fsync'],
  ...[`--listen-peer-urls=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`],
  ...[`--listen-client-urls=https://127.0.0.1:${client}`, `--advertise-client-urls=https://127.0.0.1:${client}`],
  ...(metrics === undefined ? [] : [`--listen-metrics-urls=http://127.0.0.1:${metrics}`]),
  ...[`--cert-file=${server.cert}`, `--key-file=${server.key}`, `--trusted-ca-file=${ca}`, '--client-cert-auth=true'],
  ...[`--peer-cert-file=${server.cert}`, `--peer-key-file=${server.key}`],
  ...[`--peer-trusted-ca-file=${ca}`, '--peer-client-cert-auth=true'],
];

async function writeManifests(
  directory: string,
  flags: Readonly<Record<string, readonly string[]>>,
  { version }: EtcdBinaries,
): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const [name, args] of Object.entries(flags)) {
    const image = name === 'etcd' ? `registry.k8s.io/etcd:${version}-0` : `registry.k8s.io/${name}:v1.34.1`;
    const spec = { hostNetwork: true, containers: [{ name, image, command: [name, ...args] }] };
    await writeFile(
      join(directory, `${name}.yaml`),
      stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec }),
    );
  }
}
