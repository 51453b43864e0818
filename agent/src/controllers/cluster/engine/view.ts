import type { Op, OpKind, RecordDoc, RestoreOp } from '../../../protocol/record.ts';
import type { Cluster, Observed } from '../../port/observed.ts';
import type { ReconcilerSettings } from '../../port/settings.ts';

type OpOf<K> = K extends RestoreOp['kind'] ? RestoreOp : Extract<Op, { kind: K }>;

/** Input of a rule: the observation, the time, the settings. */
export class View {
  readonly o: Observed;
  readonly now: number;
  readonly s: ReconcilerSettings;

  constructor(observed: Observed, now: number, settings: ReconcilerSettings) {
    this.o = observed;
    this.now = now;
    this.s = settings;
  }

  /** The wall clock, ms. */
  get date(): number {
    return this.o.date ?? this.now;
  }

  /** Only for rules that are tried with a record. */
  get record(): RecordDoc {
    const { record } = this.o;
    if (!record.known || !record.v) throw new Error('no record');
    return record.v.doc;
  }

  /** Only for rules that are tried with an EtcdCluster. */
  get cluster(): Cluster {
    const { cluster } = this.o;
    if (!cluster.known || !cluster.v) throw new Error('no EtcdCluster');
    return cluster.v;
  }

  get spec(): Cluster['spec'] {
    return this.cluster.spec;
  }

  /** The operation in flight, if it is of this kind. */
  op<K extends OpKind>(kind: K): OpOf<K> | undefined {
    const { op } = this.record;
    return op?.kind === kind ? (op as OpOf<K>) : undefined;
  }
}
