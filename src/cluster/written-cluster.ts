import type { EtcdClusterSpec } from '../resource/types';

/** The spec of an EtcdCluster, and the problems that only the properties show from which it was written. */
export interface WrittenCluster {
  readonly spec: EtcdClusterSpec;
  readonly problems: readonly string[];
}
