import { setTimeout as sleep } from 'node:timers/promises';
import { EtcdVersion } from '../../../src';
import { startNow } from '../../e2e/support/jobs';
import type { MemberCluster } from '../../e2e/support/member-cluster';
import type { Namespace } from '../../e2e/support/namespace';
import type { S3 } from '../../e2e/support/s3';
import { Ballast } from '../../operations/support/ballast';
import { database, overwrite } from '../../operations/support/fill';
import { runningMembers } from '../../operations/support/member-versions';
import type { Manifest } from '../../synth';

export const quota = 16;
const mebibyte = 1024 ** 2;
const forced = ['--server-side', '--force-conflicts'];

export interface Fault {
  /** The alert that fires. */
  readonly alert: string;
  /** What fires beside it, because it is a second fault. */
  readonly beside?: string;
  /** What may fire too, because the durations of the rules are shortened. */
  readonly tolerated?: string;
  readonly cause: () => Promise<unknown>;
  readonly cure: () => Promise<unknown>;
}

/** Real faults of one cluster of three, with how to end them. */
export class Causes {
  readonly #namespace: Namespace;
  readonly #cluster: MemberCluster;
  readonly #s3: S3;
  #jobs = 0;

  constructor(namespace: Namespace, cluster: MemberCluster, s3: S3) {
    this.#namespace = namespace;
    this.#cluster = cluster;
    this.#s3 = s3;
  }

  readonly apply = (): Promise<string> => this.#cluster.apply({}, forced);

  readonly #kubectl = (...args: string[]) => this.#namespace.kubectl(args);

  readonly backUp = (): Promise<void> => startNow(this.#namespace, 'orders-nightly', `nightly-${++this.#jobs}`);

  reconcilerDown(): Fault {
    const replicas = (count: number) => this.#kubectl('scale', 'deployment/etcd-reconciler', `--replicas=${count}`);
    return { alert: 'EtcdReconcilerDown', cause: () => replicas(0), cure: () => replicas(1) };
  }

  /** Nobody issues the permit. */
  memberWaits(): Fault {
    const { cause, cure } = this.reconcilerDown();
    return {
      ...{ alert: 'EtcdMemberWaits', beside: 'EtcdReconcilerDown', cure },
      cause: async () => {
        await cause();
        await this.#kubectl(
          'wait',
          '--for=delete',
          'pod',
          '--selector=app.kubernetes.io/name=etcd-reconciler',
          '--timeout=60s',
        );
        await this.#cluster.loseVolumes(1);
      },
    };
  }

  specRefused(): Fault {
    const version = (to: string) => this.#cluster.apply({ version: EtcdVersion.of(to) }, forced);
    return { alert: 'EtcdSpecRefused', cause: () => version('3.5.35'), cure: () => version('3.6.16') };
  }

  /** Their pods are deleted, and are not made again. */
  podsGone(alert: string, ...ordinals: number[]): Fault {
    return {
      alert,
      cause: async () => {
        await this.#kubectl('create', 'quota', 'none', '--hard=pods=0');
        await this.#cluster.deletePods(...ordinals);
      },
      cure: async () => {
        await this.#kubectl('delete', 'quota', 'none');
        // Otherwise Kubernetes waits longer after each refusal.
        await this.#kubectl('annotate', 'statefulset', 'orders', `again=${Date.now()}`, '--overwrite');
      },
    };
  }

  backupFails(): Fault {
    const move = (from: string, to: string) =>
      this.#kubectl('exec', 's3-0', '-c', 'shell', '--', 'mv', `/data/${from}`, `/data/${to}`);
    return {
      alert: 'EtcdBackupUnhealthy',
      cause: async () => {
        await move('etcd-backup', 'elsewhere');
        await this.backUp();
      },
      cure: async () => {
        await move('elsewhere', 'etcd-backup');
        await this.backUp();
      },
    };
  }

  backupWaits(): Fault {
    return {
      alert: 'EtcdBackupDoesNotStart',
      cause: async () => {
        await this.#kubectl('delete', 'secret', 's3-credentials');
        await this.backUp();
      },
      cure: () => this.#s3.grant('s3-credentials'),
    };
  }

  manifestsMissing(): Fault {
    return {
      alert: 'EtcdStalled',
      cause: () => this.#kubectl('delete', 'statefulset', 'orders', '--cascade=orphan'),
      cure: this.apply,
    };
  }

  /** The reconciler may read nothing of the cluster. */
  rightsMissing(): Fault {
    return {
      alert: 'EtcdStateUnknown',
      cause: () => this.#kubectl('delete', 'rolebinding', 'orders-etcd-reconciler'),
      cure: this.apply,
    };
  }

  scrapeMissing(): Fault {
    return {
      alert: 'EtcdMetricsMissing',
      // Kubelet brings the authority of the agents to Prometheus up to two minutes after the new configuration, which has etcd's
      // metrics without it. The alert waits for fifteen, and here for a tenth.
      tolerated: 'EtcdAgentMetricsMissing',
      cause: () => this.#kubectl('delete', 'servicemonitor', 'orders'),
      cure: this.apply,
    };
  }

  /** Prometheus asks the agents for a path that they do not have, as for a target that it does not trust. */
  agentScrapeMissing(): Fault {
    return {
      alert: 'EtcdAgentMetricsMissing',
      cause: async () => {
        const { spec } = await this.#namespace.get('servicemonitor', 'orders');
        const index = spec.endpoints.findIndex(({ scheme = '' }: Manifest) => /^https$/i.test(scheme));
        expect(index).toBeGreaterThanOrEqual(0);
        const change = [{ op: 'add', path: `/spec/endpoints/${index}/path`, value: '/none' }];
        await this.#kubectl('patch', 'servicemonitor', 'orders', '--type=json', '-p', JSON.stringify(change));
      },
      cure: async () => {
        await this.#kubectl('delete', 'servicemonitor', 'orders');
        await this.apply();
      },
    };
  }

  /** The reconciler reads the Secrets when it starts, and then only every few minutes. */
  authorityLost(): Fault {
    let data: Manifest;
    const patch = async (change: object) => {
      await this.#kubectl('patch', 'secret', 'orders-peer-ca', '--type=json', '-p', JSON.stringify([change]));
      await this.#kubectl('rollout', 'restart', 'deployment/etcd-reconciler');
    };
    return {
      alert: 'EtcdCertificatesNotReady',
      cause: async () => {
        ({ data } = await this.#namespace.get('secret', 'orders-peer-ca'));
        await patch({ op: 'remove', path: '/data' });
      },
      cure: () => patch({ op: 'add', path: '/data', value: data }),
    };
  }

  noUsers(): Fault {
    return {
      alert: 'EtcdAuthNotReady',
      cause: () => this.#kubectl('delete', 'etcdusers', '--all', '--wait=false'),
      cure: this.apply,
    };
  }

  leaderChanges(): Fault {
    return {
      alert: 'EtcdLeaderChanges',
      cause: async () => {
        for (let n = 0; n < 14; n++) {
          const members = await runningMembers(this.#cluster);
          const leader = members.findIndex(({ leads }) => leads);
          const ordinal = (at: number) => Number(members[at]!.name.at(-1));
          const next = await this.#cluster.memberId(ordinal((leader + 1) % 3));
          await this.#cluster.etcdctl(['move-leader', next!], ordinal(leader));
          await sleep(1_000);
        }
      },
      cure: async () => {},
    };
  }

  /**
   * Leadership is handed again and again to a member that is gone. While the leader waits for that member, it accepts nothing
   * for its log, and answers reads.
   */
  writesHang(): Fault {
    const gone = this.podsGone('EtcdAlarmUnknown', 1);
    let goesOn = true;
    let work: Promise<unknown> = Promise.resolve();
    const handOver = async (from: number, to: string) => {
      // Each times out, because the member does not answer.
      const once = () => this.#cluster.etcdctl(['move-leader', to, '--command-timeout=100ms'], from);
      while (goesOn) await once().catch(() => sleep(10));
    };
    return {
      ...{ ...gone, beside: 'EtcdDegraded' },
      cause: async () => {
        const to = (await this.#cluster.memberId(1))!;
        await gone.cause();
        await this.#kubectl('wait', '--for=delete', `pod/${this.#cluster.pod(1)}`, '--timeout=60s');
        await sleep(5_000);
        const [{ Status: seen }] = JSON.parse(await this.#cluster.etcdctl(['endpoint', 'status', '-w', 'json']));
        const from = seen.leader === seen.header.member_id ? 0 : 2;
        // An attempt ends before the leader gives it up, and the next one has begun.
        work = Promise.all(Array.from({ length: 3 }, () => handOver(from, to)));
      },
      cure: async () => {
        goesOn = false;
        await work;
        await gone.cure();
      },
    };
  }

  /** To more than 80 % of the quota. */
  databaseAlmostFull(): Fault {
    return {
      alert: 'EtcdDatabaseAlmostFull',
      cause: async () => {
        // The databases of members differ: one that joined late has no free pages.
        const largest = async () => {
          const all = await Promise.all([0, 1, 2].map((ordinal) => database(this.#cluster, ordinal)));
          return Math.max(...all.map(({ dbSize }) => dbSize));
        };
        while ((await largest()) < 0.84 * quota * mebibyte) expect(await overwrite(this.#cluster, 1)).toBeUndefined();
      },
      cure: () => this.#shrink(),
    };
  }

  /** The policy is to report it. */
  databaseFull(): Fault {
    return {
      alert: 'EtcdAlarm',
      cause: async () => expect(await overwrite(this.#cluster, 2 * quota)).toContain('database space exceeded'),
      cure: () => this.#shrink(),
    };
  }

  async #shrink(): Promise<void> {
    const { revision } = await database(this.#cluster);
    await this.#cluster.etcdctl(['compact', String(revision)]);
    await this.#cluster.etcdctl(['defrag', '--cluster', '--command-timeout=60s']);
    await this.#cluster.etcdctl(['alarm', 'disarm']);
  }

  /** All but a twentieth of a volume. */
  volumeAlmostFull(): Fault {
    let ballast: Ballast;
    return {
      alert: 'EtcdVolumeAlmostFull',
      cause: async () => {
        ballast = await Ballast.beside(this.#namespace, this.#cluster, 1);
        await ballast.fillTo(5);
      },
      cure: async () => {
        await ballast.drop();
        await ballast.leave();
      },
    };
  }
}
