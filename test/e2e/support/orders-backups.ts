import type { BackupStore, EtcdCluster, Retention } from '../../../src';
import { Play, type PlayOptions } from '../watch/play';
import { outcomeOf } from './jobs';
import type { Namespace } from './namespace';
import { S3 } from './s3';
import { newYear } from './synthesis';

/** A schedule whose runs are started by hand. */
export function addNightly(cluster: EtcdCluster, store: BackupStore, retention?: Retention): void {
  cluster.addBackupSchedule('nightly', { schedule: newYear, store, retention });
}

/** A play with TLS whose cluster has such a schedule, on its own S3 server. */
export async function playWithNightly(
  purpose: string,
  { retention, ...options }: PlayOptions & { retention?: Retention } = {},
): Promise<{ play: Play; s3: S3 }> {
  let s3: S3 | undefined;
  const play = await Play.begin(purpose, {
    tls: true,
    prepare: async (namespace) => {
      s3 = await S3.start(namespace);
    },
    ...options,
    shape: (parts) => {
      addNightly(parts.cluster, s3!.store(), retention);
      options.shape?.(parts);
    },
  });
  return { play, s3: s3! };
}

/** Takes a backup now, as a user does. Returns the id of its snapshot. */
export async function backUp(namespace: Namespace, cluster: string, job: string): Promise<string> {
  await namespace.kubectl(['create', 'job', job, `--from=cronjob/${cluster}-nightly`]);
  const { succeeded, pods } = await outcomeOf(namespace, job);
  if (!succeeded) throw new Error(JSON.stringify(pods));
  return JSON.parse(pods[0]!.terminationMessage).snapshot.id;
}
