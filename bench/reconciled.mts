import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { defaultSettings } from '../agent/src/controllers/port/settings.ts';
import { etcdOf } from '../agent/test/harness/etcd-binaries.ts';
import type { EtcdClient } from '../agent/test/harness/etcd-client.ts';
import { LocalCluster } from '../agent/test/local/cluster.ts';
import { type Lifecycle, quotaBytes } from './lifecycle-steps.mts';

const execute = promisify(execFile);
const program = join(import.meta.dirname, '../agent/lib/bin/etcd-agent.mjs');
const minutes = 20;
const victim = 2;

/** By gate, sidecar and reconciler, with the reconciler's own settings; a person only requests the change. */
export class Reconciled implements Lifecycle {
  readonly #cluster: LocalCluster;
  #snapshot = '';

  private constructor(cluster: LocalCluster) {
    this.#cluster = cluster;
  }

  /** The reconciler starts when the cluster is to be formed. `hasty`: with the short waits of the tests. */
  static async begin(hasty: boolean): Promise<Reconciled> {
    const cluster = await LocalCluster.start({
      ...{ size: 3, minor: '3.6', reconciler: false },
      ...(!hasty && { settings: defaultSettings }),
      etcd: { 'quota-backend-bytes': quotaBytes },
    });
    return new Reconciled(cluster);
  }

  client(): EtcdClient {
    return this.#cluster.client();
  }

  async form(): Promise<void> {
    this.#cluster.startReconciler();
    await this.#settled();
  }

  async heal(): Promise<void> {
    const member = () => this.#cluster.record()?.members[victim]?.memberId;
    const lost = member();
    await this.#cluster.loseVolume(victim);
    await this.#until(() => member() !== undefined && member() !== lost, 'the member is replaced');
    await this.#settled();
  }

  async upgrade(): Promise<void> {
    await this.#cluster.apply({ version: etcdOf('3.7').version });
    await this.#until(() => this.#cluster.record()?.versions.current === '3.7', 'the cluster is on 3.7');
    await this.#settled();
  }

  async takeSnapshot(): Promise<void> {
    const { namespace, name } = this.#cluster.world;
    const store = [
      `--namespace=${namespace}`,
      `--cluster=${name}`,
      `--store=file://${join(this.#cluster.dir, 'backups')}`,
    ];
    const endpoints = `--endpoints=${this.client().endpoints.join()}`;
    const { stdout } = await execute(process.execPath, [program, 'backup', ...store, endpoints, '--output=json']);
    this.#snapshot = JSON.parse(stdout).snapshot.id;
  }

  async restore(): Promise<void> {
    // By hand, no backup is taken first.
    await this.#cluster.restore({ source: { snapshotId: this.#snapshot }, safetyBackup: false });
    await this.#until(() => this.#isRestored(), 'it is restored');
    await this.#settled();
  }

  #isRestored(): boolean {
    const restore = this.#cluster.restoreNamed();
    if (restore?.phase === 'Failed') throw new Error(`the EtcdRestore failed: ${restore.report?.message}`);
    return restore?.phase === 'Completed';
  }

  #settled(): Promise<void> {
    return this.#cluster.settled(60 * minutes);
  }

  #until(what: () => boolean, why: string): Promise<void> {
    return this.#cluster.until(what, why, 60 * minutes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cluster[Symbol.asyncDispose]();
  }
}
