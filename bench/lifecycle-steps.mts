import type { EtcdClient } from '../agent/test/harness/etcd-client.ts';
import { fillWithKubernetes } from './kubernetes-data.mts';

/**
 * The steps of a cluster from its first member to a restore, in one of several ways. Each step resolves when three
 * voters serve.
 */
export interface Lifecycle extends AsyncDisposable {
  client(): EtcdClient;
  form(): Promise<void>;
  /** The volume of one follower is lost, and its member replaced. */
  heal(): Promise<void>;
  /** From 3.6 to 3.7, member by member. */
  upgrade(): Promise<void>;
  takeSnapshot(): Promise<void>;
  restore(): Promise<void>;
}

interface Step {
  readonly name: string;
  /** Not measured. */
  readonly prepare?: (of: Lifecycle, mebibytes: number) => Promise<void>;
  readonly run: (of: Lifecycle) => Promise<void>;
}

export const quotaBytes = 4 * 1024 ** 3;

export const steps: readonly Step[] = [
  { name: 'form 3 members', run: (of) => of.form() },
  {
    name: 'heal a lost volume',
    prepare: (of, mebibytes) => fillWithKubernetes(of.client(), mebibytes),
    run: (of) => of.heal(),
  },
  { name: 'upgrade 3.6 → 3.7', run: (of) => of.upgrade() },
  { name: 'restore in place', prepare: (of) => of.takeSnapshot(), run: (of) => of.restore() },
];
