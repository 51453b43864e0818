import { EtcdRestore, type EtcdRestoreProps, RestoreSource } from '../../../src';
import type { Manifest } from '../../synth';
import type { Play } from '../watch/play';
import { addNightly } from './orders-backups';
import type { S3 } from './s3';

interface RestoreAsked extends Partial<EtcdRestoreProps> {
  readonly name: string;
  readonly snapshot: string;
  /** Secret with the store's credentials. */
  readonly secretName?: string;
}

interface RestoreRun extends RestoreAsked {
  /** As soon as it is applied. */
  readonly meanwhile?: () => Promise<unknown>;
}

/** Applies an EtcdRestore in the namespace of its cluster. */
export async function askForRestore(play: Play, s3: S3, asked: RestoreAsked): Promise<void> {
  const { name, snapshot, secretName, ...props } = asked;
  play.cluster.reshape(({ chart, cluster }) => {
    addNightly(cluster, s3.store());
    const source = RestoreSource.snapshot(s3.store({ ...(secretName && { secretName }) }), snapshot);
    new EtcdRestore(chart, name, { cluster, name, source, ...props });
  });
  await play.cluster.apply();
}

/** The same, and waits until it has ended. */
export async function restored(play: Play, s3: S3, { meanwhile, ...asked }: RestoreRun): Promise<Manifest> {
  await askForRestore(play, s3, asked);
  await meanwhile?.();
  const { name } = asked;
  return play.namespace.until(`the end of EtcdRestore ${name}`, 300, async () => {
    const { status } = await play.namespace.get('etcdrestore', name);
    return ['Completed', 'Failed'].includes(status?.phase) ? status : undefined;
  });
}
