import { pino } from 'pino';
import type { RunContext } from '../../src/backup/take/request.ts';
import type { BackupRequest } from '../../src/backup/take/take.ts';
import { Etcdutl } from '../../src/etcd/offline/etcdutl.ts';
import { Budget } from '../../src/lib/limits/budget.ts';
import type { Store } from '../../src/store/store.ts';
import { etcdutl } from '../harness/etcd-binaries.ts';
import type { EtcdCluster } from '../harness/etcd-cluster.ts';

/** Builds the request for a backup of this etcd into these stores. */
export const backupRequest = (
  etcd: Pick<EtcdCluster, 'endpoints'>,
  scratch: string,
  stores: readonly Store[],
  overrides: Partial<BackupRequest> = {},
): BackupRequest => ({
  cluster: 'orders',
  access: { endpoints: etcd.endpoints, dialTimeout: 5_000 },
  targets: stores.map((store) => ({ store })),
  compression: 'none',
  level: 'read',
  trigger: 'manual',
  restoredFrom: [],
  force: false,
  overwrite: false,
  fileNameTimeZone: 'UTC',
  idleTimeout: 10_000,
  sweepAge: 86_400_000,
  scratch,
  etcdutl: new Etcdutl(etcdutl()),
  agentVersion: 'test',
  ...overrides,
});

/** A run without output. */
export const silent: RunContext = {
  log: pino({ level: 'silent' }),
  progress: { phase() {}, bytes() {}, end() {} },
  signal: new AbortController().signal,
  budget: new Budget(),
};
