import { setTimeout } from 'node:timers/promises';
import { kubectl } from '../e2e/support/kubectl';
import type { Manifest } from '../synth';
import type { App } from './apps';
import { TestNamespace } from './namespace';

/** Served kinds, as `<apiVersion> <kind>`; true if the kind is namespaced. */
type Served = ReadonlyMap<string, boolean>;

async function apiResources(): Promise<Served> {
  const { stdout } = await kubectl(['api-resources', '--no-headers']);
  const rows = stdout.split('\n').map((line) => line.trim().split(/\s+/).slice(-3));
  return new Map(rows.map(([version, namespaced, kind]) => [`${version} ${kind}`, namespaced === 'true']));
}

const typeOf = ({ apiVersion, kind }: Manifest): string => `${apiVersion} ${kind}`;

/** An API server serves a new CustomResourceDefinition only a moment after it has accepted it. */
async function allServed(manifests: readonly Manifest[]): Promise<Served> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const served = await apiResources();
    const missing = manifests.map(typeOf).find((type) => !served.has(type));
    if (!missing) return served;
    if (Date.now() > deadline) throw new Error(`this Kubernetes does not serve ${missing}`);
    await setTimeout(1000);
  }
}

/** Kinds of cert-manager, left out where neither it nor its CRDs are available. */
const leftOut = process.env.CERT_MANAGER_CRDS === 'none' ? /^cert-manager\.io\// : /^$/;

export const isCrd = ({ kind }: Manifest): boolean => kind === 'CustomResourceDefinition';

/** An app in new namespaces: one for each namespace that it names, and one for objects without a namespace. */
export class Deployment {
  static async of({ manifests }: App, flags: readonly string[]): Promise<Deployment> {
    // A Pod is a static Pod, for the kubelet.
    const left = manifests.filter(
      (manifest) =>
        !['Namespace', 'Pod'].includes(manifest.kind) && !isCrd(manifest) && !leftOut.test(manifest.apiVersion),
    );
    const types = await allServed(left);
    const namespaces = new Map<string | undefined, TestNamespace>();
    const moved: Manifest[] = [];
    const own = manifests.find(({ kind }) => kind === 'Namespace');
    const level = own?.metadata.labels?.['pod-security.kubernetes.io/enforce'];
    for (const manifest of left) {
      if (!types.get(typeOf(manifest))) {
        moved.push(manifest);
        continue;
      }
      const { namespace } = manifest.metadata;
      if (!namespaces.has(namespace)) namespaces.set(namespace, await TestNamespace.create('app', level));
      moved.push({ ...manifest, metadata: { ...manifest.metadata, namespace: namespaces.get(namespace)?.name } });
    }
    return new Deployment(moved, [...namespaces.values()], flags);
  }

  private constructor(
    readonly manifests: readonly Manifest[],
    private readonly namespaces: readonly TestNamespace[],
    private readonly flags: readonly string[],
  ) {}

  /** Output of kubectl on stderr. */
  async apply(...flags: string[]): Promise<string> {
    return (await this.run('apply', ...this.flags, ...flags)).stderr;
  }

  /** Output of kubectl diff. */
  async diff(): Promise<string> {
    const { stdout } = await this.run('diff', ...this.flags).catch((error: { stdout: string; stderr: string }) => ({
      stdout: error.stdout || error.stderr,
    }));
    return stdout;
  }

  async objects(): Promise<Manifest[]> {
    const { stdout } = await this.run('get', '--show-managed-fields', '-o', 'json');
    const found = JSON.parse(stdout);
    return found.kind === 'List' ? found.items : [found];
  }

  /** Returns each object without the fields that its controllers write. */
  async wanted(): Promise<Manifest[]> {
    return (await this.objects()).map(({ status: _, metadata, ...rest }) => {
      const { resourceVersion: __, managedFields, ...others } = metadata;
      const ours = managedFields.filter(
        ({ manager, subresource }: Manifest) => /^kubectl/.test(manager) && !subresource,
      );
      return { ...rest, metadata: { ...others, ours } };
    });
  }

  /** Waits until the controllers have created the pods of the workloads, ready or not. */
  async admitted(): Promise<void> {
    const workloads = this.manifests.filter(({ kind }) => ['StatefulSet', 'Deployment'].includes(kind));
    const wanted = workloads.reduce((sum, { spec }) => sum + (spec.replicas ?? 1), 0);
    const deadline = Date.now() + 90_000;
    for (;;) {
      const pods = (await Promise.all(this.namespaces.map((namespace) => namespace.get('pods')))).flatMap(
        ({ items }) => items,
      );
      if (pods.length >= wanted) return;
      if (Date.now() > deadline) throw new Error(`${pods.length} pods of ${wanted}\n${await this.events()}`);
      await setTimeout(1000);
    }
  }

  async patch({ kind, metadata }: Manifest, patch: Manifest): Promise<void> {
    const flags = ['--type=merge', '--field-manager=etcd-reconciler', '-p', JSON.stringify(patch)];
    await kubectl(['patch', kind, metadata.name, '-n', metadata.namespace, ...flags]);
  }

  async delete(): Promise<void> {
    for (const namespace of this.namespaces) await namespace.delete();
    const others = this.manifests.filter(({ metadata }) => !metadata.namespace);
    for (const { kind, metadata } of others) await kubectl(['delete', kind, metadata.name, '--ignore-not-found']);
  }

  private run(...args: string[]) {
    const items = this.manifests;
    return kubectl([...args, '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  }

  private async events(): Promise<string> {
    const found = await Promise.all(
      this.namespaces.map((namespace) => namespace.kubectl(['get', 'events', '--field-selector=type=Warning'])),
    );
    return found.map(({ stdout }) => stdout).join('');
  }
}
