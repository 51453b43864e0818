import { backUp } from '../e2e/support/orders-backups';
import { restored } from '../e2e/support/restored';
import type { S3 } from '../e2e/support/s3';
import type { Manifest } from '../synth';
import type { Stage } from './stage';

const apiVersion = 'cdk8s-etcd.dev/v1alpha1';

/** The cluster's backups, and restores from them. */
export class Backups {
  readonly #stage: Stage;
  readonly #s3: S3;
  #newest: { readonly snapshot: string; readonly epoch: number } | undefined;

  constructor(stage: Stage, s3: S3) {
    this.#stage = stage;
    this.#s3 = s3;
  }

  /** Starts a run of the schedule. */
  async nightly(): Promise<string> {
    const { namespace, cluster } = this.#stage;
    return this.#took(await backUp(namespace, cluster.name, this.#stage.name('nightly')));
  }

  /** Content of the store other than snapshots. */
  documents(): Promise<string> {
    return this.#s3.documents();
  }

  async onDemand(): Promise<string> {
    const { namespace, cluster } = this.#stage;
    const name = this.#stage.name('on-demand');
    const spec = { clusterName: cluster.name, schedule: 'nightly' };
    await namespace.apply([{ apiVersion, kind: 'EtcdBackup', metadata: { name }, spec }]);
    const status = await namespace.until(`the end of EtcdBackup ${name}`, 300, async () => {
      const { status } = await namespace.get('etcdbackup', name);
      return ['Completed', 'Failed'].includes(status?.phase) ? status : undefined;
    });
    completed(name, status);
    return this.#took(status.snapshotId);
  }

  /**
   * Restores in place, from the newest backup of this epoch, which is taken now if there is none: an older one would
   * bring back discarded writes.
   */
  async restore(): Promise<void> {
    const { cluster, play } = this.#stage;
    const { epoch } = await cluster.record();
    const newest = this.#newest;
    const snapshot = newest && newest.epoch === epoch ? newest.snapshot : await this.onDemand();
    const name = this.#stage.name('restore');
    const meanwhile = () => play.givesUp();
    completed(name, await restored(play, this.#s3, { name, snapshot, meanwhile }));
  }

  async #took(snapshot: string): Promise<string> {
    const { epoch } = await this.#stage.cluster.record();
    this.#newest = { snapshot, epoch };
    return snapshot;
  }
}

function completed(name: string, { phase, reason, message }: Manifest): void {
  if (phase !== 'Completed') throw new Error(`${name}: ${reason}: ${message}`);
}
