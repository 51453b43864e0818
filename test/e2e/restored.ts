import { EtcdRestore, type EtcdRestoreProps, RestoreSource } from '../../src';
import type { Manifest } from '../synth';
import { addNightly } from './orders-backups';
import type { Play } from './play';
import type { S3 } from './s3';

interface RestoreAsked extends Partial<EtcdRestoreProps> {
  readonly name: string;
  readonly snapshot: string;
  /** As soon as it is applied. */
  readonly meanwhile?: () => Promise<unknown>;
}

/** Applies an EtcdRestore beside its cluster, and waits until it is over. */
export async function restored(play: Play, s3: S3, asked: RestoreAsked): Promise<Manifest> {
  const { name, snapshot, meanwhile, ...props } = asked;
  play.cluster.reshape(({ chart, cluster }) => {
    addNightly(cluster, s3.store());
    const source = RestoreSource.snapshot(s3.store(), snapshot);
    new EtcdRestore(chart, name, { cluster, name, source, ...props });
  });
  await play.cluster.apply();
  await meanwhile?.();
  return play.namespace.until(`the end of EtcdRestore ${name}`, 300, async () => {
    const { status } = await play.namespace.get('etcdrestore', name);
    return ['Completed', 'Failed'].includes(status?.phase) ? status : undefined;
  });
}
