import { runNow } from '../e2e/support/jobs';
import { kubectl } from '../e2e/support/kubectl';
import { Namespace } from '../e2e/support/namespace';
import { onNode } from './nodes';
import type { StoreServer } from './store-server';
import { controlPlaneBackup } from './synthesis';

const cluster = 'kubernetes';
const name = `${cluster}-hourly`;

/** Backups of this control plane, and what its nodes need for a restore. */
export class Backups {
  static async apply(server: StoreServer): Promise<Backups> {
    const namespace = Namespace.named('etcd-control-plane-restore');
    const store = server.store('restore', 'store');
    const { app, backup } = controlPlaneBackup(namespace.name, { cluster, store });
    await kubectl(['apply', '--server-side', '-f', '-'], app.synthYaml());
    await namespace.apply([server.secret('store')]);
    await namespace.ready('daemonset', `${name}-image`);
    return new Backups(namespace, server, backup.restorePodYaml());
  }

  private constructor(
    private readonly namespace: Namespace,
    private readonly server: StoreServer,
    /** The static Pod. */
    readonly restorePod: string,
  ) {}

  /** Returns the snapshot's id. */
  async run(job: string): Promise<string> {
    const { succeeded, pods } = await runNow(this.namespace, name, job);
    if (!succeeded) throw new Error(`the backup failed: ${JSON.stringify(pods)}`);
    return JSON.parse(pods[0]!.terminationMessage).snapshot.id;
  }

  /** As the guide says: on every control-plane node, before anything has happened. */
  async prepare(node: string): Promise<void> {
    const credentials = Object.entries(this.server.credentials).map(([key, value]) =>
      file(`/etc/etcd-restore/credentials/${key}`, value),
    );
    await onNode(
      node,
      'install -d -m 0700 /etc/etcd-restore /etc/etcd-restore/credentials /etc/etcd-restore/age',
      ...credentials,
      file('/etc/etcd-restore/etcd-restore.yaml', this.restorePod),
    );
  }

  async delete(): Promise<void> {
    await this.namespace.delete();
  }
}

/** Takes from a node what the guide, and a restore, have left there. */
export async function tidy(node: string): Promise<void> {
  await onNode(
    node,
    'rm -rf /etc/etcd-restore /etc/kubernetes/etcd-restore-* /var/lib/etcd/member.replaced-* /var/lib/etcd/member.undone-*',
  );
}

/** A line that writes a file of root's own. */
export const file = (path: string, content: string): string =>
  `(umask 077; echo ${Buffer.from(content).toString('base64')} | base64 -d > ${path})`;
