import { type CallOptions, type GrpcChannel, GrpcStatus } from '../../../etcd/grpc.ts';
import { hashKV, status as readStatus, type MemberStatus as Status } from '../../../etcd/maintenance.ts';
import { AgentError, messageOf } from '../../../lib/errors.ts';
import type { Alarm, Member, MemberStatus } from '../observed.ts';
import type { Maintenance, Membership } from '../port.ts';
import type { Settings } from '../settings.ts';
import * as cluster from './cluster-calls.ts';
import { type ConnectionOptions, Connections } from './connections.ts';
import { firstOf } from './first-of.ts';
import { compareHashes, type HashComparison } from './hash-kv.ts';
import { leaseChurn } from './lease-churn.ts';
import * as maintenance from './maintenance-calls.ts';

const GiB = 1024 ** 3;
const minute = 60_000;
/** For work on the whole database. */
const longDeadline = (dbSize: number): number => 5 * minute + (dbSize / GiB) * 30_000;

/** Seconds after which a lease of leaseChurn ends that could not be revoked. */
const leaseTtl = 60;

export interface EtcdPortOptions {
  /** Client URLs of all pods that there are. Which member is where, their Status says. */
  readonly endpoints: () => readonly string[] | Promise<readonly string[]>;
  readonly tls?: ConnectionOptions['tls'];
  readonly settings: Pick<Settings, 'rpc' | 'memberRpc' | 'observeRpc'>;
}

interface Found {
  readonly endpoint: string;
  readonly status: Status;
}

/**
 * Membership and maintenance of a real etcd cluster. A change is sent once, to one member; what fails or is not answered
 * throws, as its outcome is unknown then, and whoever called looks again.
 */
export class EtcdPort implements Membership, Maintenance {
  readonly #endpoints: EtcdPortOptions['endpoints'];
  readonly #settings: EtcdPortOptions['settings'];
  readonly #connections: Connections;
  /** Status calls under way, by endpoint: one answers everybody who asks meanwhile. */
  readonly #asking = new Map<string, Promise<Status>>();
  /** Where the member list was last read, and of which cluster: changes go to no other one. */
  #lastRead: { endpoint: string; clusterId: string } | undefined;

  constructor({ endpoints, tls, settings }: EtcdPortOptions) {
    this.#endpoints = endpoints;
    this.#settings = settings;
    this.#connections = new Connections({ ...(tls && { tls }), dialTimeout: settings.observeRpc });
  }

  async members(): Promise<{ clusterId: string; members: Member[] }> {
    const { endpoint, ...found } = await this.#ask(async (endpoint, { version }) => {
      // 3.4 answers with its own view: after a linearizable read it is as new as that.
      if (isBefore35(version)) await this.#call(endpoint, maintenance.confirmQuorum, this.#settings.observeRpc);
      return { endpoint, ...(await this.#call(endpoint, cluster.memberList, this.#settings.observeRpc)) };
    });
    this.#lastRead = { endpoint, clusterId: found.clusterId };
    return found;
  }

  async addLearner(peerUrl: string): Promise<void> {
    const { endpoint } = await this.#leader();
    await this.#change(endpoint, (channel, options) => cluster.memberAddLearner(channel, peerUrl, options));
  }

  async remove(memberId: string): Promise<void> {
    const { endpoint } = await this.#leader(memberId);
    await this.#change(endpoint, (channel, options) => cluster.memberRemove(channel, memberId, options)).catch(
      unlessAnswered('etcdserver: member not found'),
    );
  }

  async promote(memberId: string): Promise<void> {
    const { endpoint } = await this.#leader();
    await this.#change(endpoint, (channel, options) => cluster.memberPromote(channel, memberId, options)).catch(
      unlessAnswered('etcdserver: can only promote a learner member'),
    );
  }

  async moveLeader(leader: string, to: string): Promise<void> {
    const { endpoint, status } = await this.#member(leader);
    if (status.leader === to) return;
    await this.#change(endpoint, (channel, options) => maintenance.moveLeader(channel, to, options));
  }

  async status(memberId: string): Promise<MemberStatus> {
    const { status } = await this.#member(memberId);
    const { clusterId, version, leader, raftTerm, raftIndex, raftAppliedIndex, revision, dbSize } = status;
    const { dbSizeInUse, dbSizeQuota, downgradeEnabled } = status;
    return {
      ...{ clusterId, version, raftTerm, raftIndex, revision, dbSize },
      leader: leader === '0' ? '' : leader,
      appliedIndex: raftAppliedIndex,
      dbInUse: dbSizeInUse,
      ...(dbSizeQuota !== undefined && { quota: dbSizeQuota }),
      ...(downgradeEnabled !== undefined && { downgradeEnabled }),
    };
  }

  alarms(): Promise<Alarm[]> {
    return this.#ask((endpoint) => this.#call(endpoint, maintenance.alarms, this.#settings.observeRpc));
  }

  async compact(revision: number): Promise<void> {
    // A compaction to 0 would be one to nothing.
    if (revision < 1) return;
    const { endpoint, status } = await this.#leader();
    const send = (channel: GrpcChannel, options: CallOptions) => maintenance.compact(channel, revision, options);
    await this.#call(endpoint, send, longDeadline(status.dbSize)).catch(
      unlessAnswered('etcdserver: mvcc: required revision has been compacted'),
    );
  }

  async defrag(memberId: string): Promise<void> {
    const { endpoint, status } = await this.#member(memberId);
    await this.#call(endpoint, maintenance.defragment, longDeadline(status.dbSize));
  }

  async disarm(memberId: string, type: Alarm['type']): Promise<void> {
    const { endpoint } = await this.#leader();
    await this.#call(endpoint, (channel, options) => maintenance.disarm(channel, { memberId, type }, options));
  }

  hashKV(members: string[]): Promise<HashComparison> {
    const { rpc } = this.#settings;
    return compareHashes(
      members.map((id) => ({
        id,
        revision: async () => (await this.#member(id)).status.revision,
        hashAt: async (revision) => {
          const { endpoint, status } = await this.#member(id);
          return this.#call(endpoint, (to, options) => hashKV(to, revision, options), longDeadline(status.dbSize));
        },
        compactedAt: async (revision) => {
          const { endpoint } = await this.#member(id);
          return this.#call(endpoint, (to, options) => maintenance.isCompactedAt(to, revision, options), rpc);
        },
      })),
    );
  }

  async leaseChurn(pairs: number): Promise<void> {
    const { endpoint } = await this.#leader();
    await leaseChurn(pairs, async () => {
      const id = await this.#call(endpoint, (to, options) => maintenance.leaseGrant(to, leaseTtl, options));
      await this.#call(endpoint, (to, options) => maintenance.leaseRevoke(to, id, options));
    });
  }

  /** Ends the connections, which are made again when they are needed. */
  rest(): void {
    this.#connections.keep([]);
  }

  /** Ends every connection and call. */
  close(): void {
    this.#connections.close();
  }

  /** A read that any voter of a cluster with a leader can answer. */
  async #ask<T>(read: (endpoint: string, status: Status) => Promise<T>): Promise<T> {
    const endpoints = await this.#all();
    const last = this.#lastRead?.endpoint;
    const inTurn = endpoints.toSorted((a, b) => Number(b === last) - Number(a === last));
    const ask = async (endpoint: string) => {
      const status = await this.#statusAt(endpoint);
      if (status.isLearner) throw new Error(`etcd at ${endpoint} is a learner`);
      if (status.leader === '0') throw new Error(`etcd at ${endpoint} has no leader`);
      return read(endpoint, status);
    };
    return firstOf(
      inTurn.map((endpoint) => () => ask(endpoint)),
      this.#settings.observeRpc / 8,
    );
  }

  /** The leader knows best who is connected and in sync. One that is to be removed might not live to answer: then another, if there is one. */
  async #leader(except?: string): Promise<Found> {
    const ours = ({ clusterId, isLearner, leader }: Status) =>
      !isLearner && leader !== '0' && clusterId === (this.#lastRead?.clusterId ?? clusterId);
    const stays = (status: Status) => ours(status) && status.memberId !== except;
    return this.#find((status) => stays(status) && status.leader === status.memberId)
      .catch(() => this.#find(stays))
      .catch(() => this.#find(ours, 'no voter with a leader answers'));
  }

  #member(memberId: string): Promise<Found> {
    return this.#find((status) => status.memberId === memberId, `member ${memberId} does not answer`);
  }

  async #find(accept: (status: Status) => boolean, otherwise = 'none answers'): Promise<Found> {
    const endpoints = await this.#all();
    const failures: string[] = [];
    const looks = endpoints.map(async (endpoint): Promise<Found> => {
      const status = await this.#statusAt(endpoint).catch((error) => {
        failures.push(messageOf(error));
        throw error;
      });
      if (!accept(status)) throw new Error('another one');
      return { endpoint, status };
    });
    return Promise.any(looks).catch(() => {
      throw new Error([otherwise, ...failures].join('; '));
    });
  }

  #statusAt(endpoint: string): Promise<Status> {
    const asked = this.#asking.get(endpoint);
    if (asked) return asked;
    const asking = this.#call(endpoint, readStatus, this.#settings.observeRpc).finally(() =>
      this.#asking.delete(endpoint),
    );
    this.#asking.set(endpoint, asking);
    return asking;
  }

  async #all(): Promise<readonly string[]> {
    const endpoints = await this.#endpoints();
    this.#connections.keep(endpoints);
    return endpoints;
  }

  #change(endpoint: string, change: (channel: GrpcChannel, options: CallOptions) => Promise<void>): Promise<void> {
    return this.#call(endpoint, change, this.#settings.memberRpc);
  }

  #call<T>(
    endpoint: string,
    work: (channel: GrpcChannel, options: CallOptions) => Promise<T>,
    deadline = this.#settings.rpc,
  ): Promise<T> {
    return this.#connections.use(endpoint, (channel, signal) => work(channel, { signal, deadline }));
  }
}

const isBefore35 = (version: string): boolean => /^3\.[0-4]\./.test(version);

/** What etcd says when the thing is done already. The texts are compared whole: "can only promote a learner member which is in sync with leader" is another matter. */
const unlessAnswered =
  (done: string) =>
  (error: unknown): void => {
    const cause = error instanceof AgentError ? error.cause : undefined;
    if (!(cause instanceof GrpcStatus && cause.message === done)) throw error;
  };
