import { isStatus } from '../../kube/api-error.ts';
import type { JobObject, KubeObject } from '../../kube/objects.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { EtcdClusterObject } from '../cluster/kubernetes/cluster-object.ts';
import type { Settings } from '../cluster/settings.ts';
import { partOf } from '../cluster-changes.ts';
import { isMirrorOf, mirrorOf } from './backup-mirror.ts';
import { type EtcdBackupObject, isFinal } from './backup-object.ts';
import type { BackupPassOptions } from './backup-pass.ts';
import { BackupRunner } from './backup-runner.ts';

export interface BackupsOptions extends BackupPassOptions {
  /** The clusters that this reconciler looks after, as last seen. */
  readonly clusters: () => readonly EtcdClusterObject[];
  /** Backup Jobs, as last seen. */
  readonly jobs: () => readonly KubeObject[];
  /** Which of them it looks after, as kubectl takes it. */
  readonly selector?: string | undefined;
  readonly settings: Settings;
  readonly log: Log;
}

/** Takes the backups that EtcdBackups ask for, and keeps an EtcdBackup for each scheduled run of a cluster. */
export class Backups {
  readonly #options: BackupsOptions;
  readonly #runners = new Map<string, BackupRunner>();
  readonly #seen = new Map<string, EtcdBackupObject>();
  /** Uids of the Jobs for which there is an EtcdBackup, or soon. */
  readonly #mirrored = new Set<string>();
  #leading = false;
  #said = '';

  constructor(options: BackupsOptions) {
    this.#options = options;
  }

  get all(): readonly EtcdBackupObject[] {
    return [...this.#seen.values()];
  }

  lead(): void {
    this.#leading = true;
    this.clusterChanged();
  }

  async stop(grace: number): Promise<void> {
    this.#leading = false;
    await Promise.all([...this.#runners.values()].map((runner) => runner.stop(grace)));
    this.#runners.clear();
  }

  changed(backup: EtcdBackupObject, gone: boolean): void {
    const { name } = backup.metadata;
    if (gone) this.#seen.delete(name);
    else this.#seen.set(name, backup);
    const running = this.#runners.get(name);
    if (running && (gone || running.uid !== backup.metadata.uid)) this.#drop(name, running);
    if (!gone) this.#follow(backup);
    // One that waited for this one.
    if (gone || isFinal(backup)) this.#wakeAll();
  }

  /** Also one that came: there may be backups of it. Without a name: any of them. */
  clusterChanged(name?: string): void {
    const isMeant = (cluster: string | undefined) => name === undefined || cluster === name;
    for (const backup of this.#seen.values()) if (isMeant(backup.spec.clusterName)) this.#follow(backup);
    for (const job of this.#options.jobs()) if (isMeant(partOf(job))) this.jobChanged(job, false);
  }

  jobChanged(job: KubeObject, gone: boolean): void {
    if (gone) this.#mirrored.delete(job.metadata.uid);
    if (!this.#leading) return;
    const owner = job.metadata.ownerReferences?.find(({ kind }) => kind === 'EtcdBackup')?.name;
    if (owner !== undefined) this.#runners.get(owner)?.wake();
    else if (!gone) void this.#mirror(job);
  }

  #wakeAll(): void {
    for (const runner of this.#runners.values()) runner.wake();
  }

  #follow(backup: EtcdBackupObject): void {
    const { name } = backup.metadata;
    const running = this.#runners.get(name);
    running?.wake();
    if (running || !this.#leading || isFinal(backup) || !this.#isOurs(backup)) return;
    const { log } = this.#options;
    const runner: BackupRunner = new BackupRunner(backup, {
      ...this.#options,
      log: log.child({ backup: name }),
      onEnd: () => this.#drop(name, runner),
    });
    this.#runners.set(name, runner);
  }

  /** With a selector, whoever looks after its cluster; what is of no cluster is one without a selector's. */
  #isOurs({ spec }: EtcdBackupObject): boolean {
    const { selector, clusters } = this.#options;
    if (selector === undefined) return true;
    return clusters().some(({ metadata }) => metadata.name === spec.clusterName);
  }

  #drop(name: string, runner: BackupRunner): void {
    if (this.#runners.get(name) === runner) this.#runners.delete(name);
    void runner.stop(0);
  }

  async #mirror(job: JobObject): Promise<void> {
    const manifest = mirrorOf(job, this.#options.clusters()) as KubeObject | undefined;
    const { uid } = job.metadata;
    if (!manifest) return;
    const told = this.#seen.get(manifest.metadata.name);
    if (told && isMirrorOf(job, told)) this.#runners.get(told.metadata.name)?.wake();
    if (told || this.#mirrored.has(uid)) return;
    this.#mirrored.add(uid);
    const { client, paths, at, log } = this.#options;
    try {
      await at('before MirrorBackup');
      await client.create(paths.of('etcdbackups'), manifest);
    } catch (error) {
      // The list of EtcdBackups may be older than that of Jobs.
      if (isStatus(error, 409)) return;
      this.#mirrored.delete(uid);
      const complaint = `a scheduled run cannot be told: ${messageOf(error)}`;
      if (complaint !== this.#said) log.warn(complaint);
      this.#said = complaint;
    }
  }
}
