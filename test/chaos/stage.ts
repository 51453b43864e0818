import { Size } from 'cdk8s';
import { EtcdVersion } from '../../src';
import type { MemberCluster, Parts } from '../e2e/support/member-cluster';
import type { Namespace } from '../e2e/support/namespace';
import { addNightly, playWithNightly } from '../e2e/support/orders-backups';
import type { S3 } from '../e2e/support/s3';
import type { Play } from '../e2e/watch/play';
import type { Manifest } from '../synth';
import { Backups } from './backups';
import { quota } from './faults/no-space';
import { versions } from './faults/upgraded';
import { Nodes } from './nodes';
import { addUserWithPassword, Passwords } from './passwords';
import type { Role } from './role';

const three = [0, 1, 2];

/** Target of the faults: a cluster with TLS and users, backups to S3, and a client that writes and watches continuously. */
export class Stage {
  static async begin({ nodes, alerts }: { readonly nodes: boolean; readonly alerts: boolean }): Promise<Stage> {
    const props = { version: EtcdVersion.of(versions[0]), quota: Size.mebibytes(quota) };
    const shape = (parts: Parts) => {
      addUserWithPassword(parts);
      if (alerts) parts.cluster.addMonitoring();
    };
    const { play, s3 } = await playWithNightly('chaos', { props, users: true, shape });
    const stage = new Stage(play, s3, shape);
    if (nodes) await stage.nodes.gather();
    return stage;
  }

  readonly nodes: Nodes;
  readonly backups: Backups;
  readonly passwords: Passwords;
  readonly #s3: S3;
  readonly #shape: (parts: Parts) => void;
  #names = 0;

  private constructor(
    readonly play: Play,
    s3: S3,
    shape: (parts: Parts) => void,
  ) {
    this.#s3 = s3;
    this.#shape = shape;
    this.nodes = new Nodes(this);
    this.backups = new Backups(this, s3);
    this.passwords = new Passwords(play);
  }

  get cluster(): MemberCluster {
    return this.play.cluster;
  }

  get namespace(): Namespace {
    return this.play.namespace;
  }

  /** Returns a new name for an object. */
  name(purpose: string): string {
    return `${purpose}-${++this.#names}`;
  }

  async reconcilers(replicas: number): Promise<void> {
    const shape = (parts: Parts) => {
      addNightly(parts.cluster, this.#s3.store());
      this.#shape(parts);
    };
    this.cluster.reshape(shape, { replicas });
    await this.cluster.apply();
    await this.namespace.ready('deployment', 'etcd-reconciler');
  }

  async ordinal(role: Role): Promise<number> {
    if (role.startsWith('member')) return Number(role.at(-1));
    const leader = await this.leader();
    return role === 'the leader' ? leader : three.find((ordinal) => ordinal !== leader)!;
  }

  /** Returns the leader among the first three. While there are five members, another one may lead. */
  leader(): Promise<number> {
    return this.namespace.until('a leader', 90, async () => {
      const statuses = await this.statuses();
      const at = statuses.findIndex((status) => status && status.leader === status.header.member_id);
      const another = statuses.some((status) => status?.leader);
      return at >= 0 ? at : another ? 0 : undefined;
    });
  }

  /** Returns the status of each member that answers. */
  statuses(): Promise<(Manifest | undefined)[]> {
    return Promise.all(
      three.map(async (ordinal) => {
        const told = await this.cluster.etcdctl(['endpoint', 'status', '-w', 'json'], ordinal).catch(() => undefined);
        return told && JSON.parse(told)[0].Status;
      }),
    );
  }

  pod(ordinal: number): Promise<Manifest> {
    return this.namespace.get('pod', this.cluster.pod(ordinal));
  }

  /** Does work that recreates these pods, and waits until they are back. */
  async madeAgain(ordinals: readonly number[], work: () => Promise<unknown>): Promise<void> {
    const uid = (ordinal: number) =>
      this.pod(ordinal).then(
        ({ metadata }) => metadata.uid,
        () => undefined,
      );
    const before = await Promise.all(ordinals.map(uid));
    await work();
    await this.namespace.until('other pods', 180, async () => {
      const now = await Promise.all(ordinals.map(uid));
      return now.every((one, at) => one !== undefined && one !== before[at]) ? now : undefined;
    });
  }

  async loseVolumes(volumes: readonly number[], pods = volumes): Promise<void> {
    const claims = volumes.map((ordinal) => `data-${this.cluster.pod(ordinal)}`);
    await this.namespace.kubectl(['delete', 'pvc', '--wait=false', ...claims]);
    await this.cluster.deletePods(...pods);
  }

  /** Does work that loses a member's volume, and waits until another member has replaced it. */
  async replaced(ordinal: number, work: () => Promise<unknown>): Promise<void> {
    // The EtcdCluster may be missing at the moment.
    const memberId = () => this.cluster.memberId(ordinal).catch(() => undefined);
    const before = await this.namespace.until(`member ${ordinal}`, 90, memberId);
    await work();
    await this.namespace.until(`another member ${ordinal}`, 360, async () => {
      const now = await memberId();
      return now === before ? undefined : now;
    });
  }
}
