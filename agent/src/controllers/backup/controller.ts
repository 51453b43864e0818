import { isStatus } from '../../kube/api-error.ts';
import type { JobObject, KubeObject } from '../../kube/objects.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { LogOnce } from '../../lib/log-once.ts';
import type { Key, Queue } from '../../lib/queue.ts';
import { followedByAnother } from '../../protocol/reasons.ts';
import { type EtcdBackupObject, isFinal } from '../objects/backup-object.ts';
import { partOf } from '../objects/cluster-changes.ts';
import type { EtcdClusterObject } from '../objects/cluster-object.ts';
import { ObjectNews } from '../objects/object-news.ts';
import type { ReconcilerSettings } from '../port/settings.ts';
import { type BackupPassOptions, backupPass } from './pass.ts';
import { isMirrorOf, mirrorOf } from './scheduled-run.ts';

export interface BackupControllerOptions extends BackupPassOptions {
  /** The clusters that this reconciler manages, as last observed. */
  readonly clusters: () => readonly EtcdClusterObject[];
  /** The Lease of another reconciler that follows a cluster: then its backups are left alone, too. */
  readonly followedBy: (clusterName: string) => Promise<string | undefined>;
  /** Backup Jobs, as last observed. */
  readonly jobs: () => readonly KubeObject[];
  /** Label selector of the clusters that this reconciler manages, in kubectl syntax. */
  readonly selector?: string | undefined;
  readonly settings: ReconcilerSettings;
  readonly follow: Queue['follow'];
  readonly log: Log;
}

interface Running {
  readonly uid: string;
  readonly key: Key;
}

/** Takes the backups that EtcdBackups request, and creates an EtcdBackup for each scheduled run of a cluster. */
export class BackupController {
  readonly #options: BackupControllerOptions;
  /** Of the backups that have not ended, by name. */
  readonly #running = new Map<string, Running>();
  readonly #backups = new Map<string, EtcdBackupObject>();
  readonly #news = new ObjectNews();
  /** Uids of the Jobs whose EtcdBackup exists or is being created. */
  readonly #mirrored = new Set<string>();
  #leading = false;
  #warned = '';

  constructor(options: BackupControllerOptions) {
    this.#options = options;
  }

  get all(): readonly EtcdBackupObject[] {
    return [...this.#backups.values()];
  }

  lead(): void {
    this.#leading = true;
    this.clusterChanged();
  }

  /** Begins nothing further. */
  stop(): void {
    this.#leading = false;
  }

  changed(backup: EtcdBackupObject, gone: boolean): void {
    const { name } = backup.metadata;
    const isNews = this.#news.isNews(backup, gone);
    if (gone) this.#backups.delete(name);
    else this.#backups.set(name, backup);
    const running = this.#running.get(name);
    if (running && (gone || running.uid !== backup.metadata.uid)) this.#drop(name, running.uid);
    if (!gone) this.#follow(backup, isNews);
    // Another backup may have waited for this one.
    if (gone || isFinal(backup)) this.#triggerAll();
  }

  /** A cluster was created or changed, or (without a name) any of them. Its backups may be waiting for it. */
  clusterChanged(name?: string): void {
    const isAffected = (cluster: string | undefined) => name === undefined || cluster === name;
    for (const backup of this.#backups.values()) if (isAffected(backup.spec.clusterName)) this.#follow(backup);
    for (const job of this.#options.jobs()) if (isAffected(partOf(job))) this.jobChanged(job, false);
  }

  jobChanged(job: KubeObject, gone: boolean): void {
    if (gone) this.#mirrored.delete(job.metadata.uid);
    if (!this.#leading) return;
    const owner = job.metadata.ownerReferences?.find(({ kind }) => kind === 'EtcdBackup')?.name;
    if (owner !== undefined) this.#running.get(owner)?.key.now();
    else if (!gone) void this.#mirror(job);
  }

  #triggerAll(): void {
    for (const { key } of this.#running.values()) key.now();
  }

  #follow(backup: EtcdBackupObject, isNews = true): void {
    const { name, uid } = backup.metadata;
    const running = this.#running.get(name);
    if (isNews) running?.key.now();
    if (running || !this.#leading || isFinal(backup) || !this.#isOurs(backup)) return;
    const { log, followedBy, settings, follow } = this.#options;
    const { clusterName } = backup.spec;
    const at = async (point: string) => {
      const other = clusterName === undefined ? undefined : await followedBy(clusterName);
      if (other !== undefined) throw new Error(followedByAnother(other));
      await this.#options.at(point);
    };
    const problems = new LogOnce(log.child({ backup: name }));
    const key = follow({
      pass: async ({ failures }) => {
        const fails = failures >= settings.failuresTold;
        const { done, acted, starting } = await backupPass(name, uid, { ...this.#options, at, fails });
        if (done) this.#drop(name, uid);
        return { again: acted ? settings.next : starting ? settings.op : settings.steady };
      },
      failed: (error) => problems.report('pass', messageOf(error)),
      backoff: [settings.backoffMin, settings.backoffMax],
      // Of two passes at once, neither would see the Job that the other creates.
      group: clusterName,
    });
    this.#running.set(name, { uid, key });
  }

  /** With a selector, a backup belongs to the reconciler of its cluster. Backups without a cluster belong to the one without a selector. */
  #isOurs({ spec }: EtcdBackupObject): boolean {
    const { selector, clusters } = this.#options;
    if (selector === undefined) return true;
    return clusters().some(({ metadata }) => metadata.name === spec.clusterName);
  }

  #drop(name: string, uid: string): void {
    const running = this.#running.get(name);
    if (running?.uid !== uid) return;
    this.#running.delete(name);
    void running.key.stop(0);
  }

  async #mirror(job: JobObject): Promise<void> {
    const manifest = mirrorOf(job, this.#options.clusters()) as KubeObject | undefined;
    const { uid } = job.metadata;
    if (!manifest) return;
    const existing = this.#backups.get(manifest.metadata.name);
    if (existing && isMirrorOf(job, existing)) this.#running.get(existing.metadata.name)?.key.now();
    if (existing || this.#mirrored.has(uid)) return;
    this.#mirrored.add(uid);
    const { client, paths, at, log, followedBy } = this.#options;
    try {
      const other = await followedBy(partOf(job)!);
      if (other !== undefined) throw new Error(followedByAnother(other));
      await at('before MirrorBackup');
      await client.create(paths.of('etcdbackups'), manifest);
    } catch (error) {
      // It exists: the known EtcdBackups may be older than the known Jobs.
      if (isStatus(error, 409)) return;
      this.#mirrored.delete(uid);
      const warning = `cannot create the EtcdBackup of a scheduled run: ${messageOf(error)}`;
      if (warning !== this.#warned) log.warn(warning);
      this.#warned = warning;
    }
  }
}
