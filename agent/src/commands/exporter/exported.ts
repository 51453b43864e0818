import type { NamedCluster } from '../../backup/catalog/identity/folder.ts';
import { clusterLabels } from '../../backup/metrics/samples.ts';
import { processSamples, type Sample, sample, samples } from '../../lib/metrics/sample.ts';
import type { RepeatedRead } from './repeated-read.ts';

/** What a read of a store found. */
export interface StoreFound {
  readonly samples: readonly Sample[];
}

/** What a read of etcd found. */
export interface EtcdFound {
  readonly revision: number;
}

export interface Exported {
  readonly named: NamedCluster;
  readonly stores: readonly { readonly url: string; readonly read: Pick<RepeatedRead<StoreFound>, 'isUp' | 'last'> }[];
  readonly etcd: Pick<RepeatedRead<EtcdFound>, 'isUp' | 'last'> | undefined;
}

/** What the exporter reports: of each store what the last read that worked found, and whether that was the last one. */
export function exportedSamples({ named, stores, etcd }: Exported): Sample[] {
  const cluster = clusterLabels(named);
  return [
    ...stores.flatMap(({ url: store, read: { isUp, last } }) => [
      ...samples('etcd_backup_store_up', { ...cluster, store }, isUp === undefined ? undefined : Number(isUp)),
      ...samples('etcd_backup_store_last_read_timestamp_seconds', { ...cluster, store }, last && last.at / 1000),
      ...(last?.value.samples ?? []),
    ]),
    ...(etcd?.isUp === undefined ? [] : [sample('etcd_backup_etcd_up', cluster, Number(etcd.isUp))]),
    // A revision of the past would look like an etcd in which nothing is written.
    ...samples('etcd_backup_etcd_revision', cluster, etcd?.isUp ? etcd.last?.value.revision : undefined),
    ...processSamples(),
  ];
}
