import { type GrpcCallOptions, type GrpcChannel, GrpcStatus } from '../../etcd/grpc.ts';
import { hashKV, status as readStatus, type StatusResponse as Status } from '../../etcd/maintenance.ts';
import { AgentError, messageOf } from '../../lib/errors.ts';
import type { Alarm, Member, MemberStatus } from '../port/observed.ts';
import type { Maintenance, Membership } from '../port/port.ts';
import type { ReconcilerSettings } from '../port/settings.ts';
import * as cluster from './cluster-calls.ts';
import { type ConnectionOptions, Connections } from './connections.ts';
import { firstOf } from './first-of.ts';
import { compareHashes, type HashComparison } from './hash-kv.ts';
import * as maintenance from './maintenance-calls.ts';

const GiB = 1024 ** 3;
const minute = 60_000;
/** Deadline of work on the whole database, in ms. */
const longDeadline = (dbSize: number): number => 5 * minute + (dbSize / GiB) * 30_000;

/** Time to live of a lease of leaseChurn that could not be revoked, in seconds. */
const leaseTtl = 60;

export interface EtcdPortOptions {
  /** Client URLs of all existing pods. Their Status says which member they are. */
  readonly endpoints: () => readonly string[] | Promise<readonly string[]>;
  readonly tls?: ConnectionOptions['tls'];
  readonly settings: Pick<ReconcilerSettings, 'rpc' | 'memberRpc' | 'observeRpc'>;
}

/** Makes one call, with a time limit. */
export type EtcdCall = <T>(call: (channel: GrpcChannel, options: GrpcCallOptions) => Promise<T>) => Promise<T>;

/** etcd as its user root. */
export interface RootPort {
  /** Throws unless the certificate is root's. */
  certificate(): Promise<Buffer>;
  withLeader<T>(clusterId: string | undefined, work: (call: EtcdCall) => Promise<T>): Promise<T>;
  rest(): void;
}

interface Found {
  readonly endpoint: string;
  readonly status: Status;
}

/**
 * Membership and maintenance of a real etcd cluster. Sends a change once, to one member. Throws if the change fails or gets no
 * response: the outcome is then unknown, and the caller observes again.
 */
export class EtcdPort implements Membership, Maintenance {
  readonly #endpoints: EtcdPortOptions['endpoints'];
  readonly #settings: EtcdPortOptions['settings'];
  readonly #connections: Connections;
  /** Running Status calls, by endpoint. Concurrent callers share one. */
  readonly #statusCalls = new Map<string, Promise<Status>>();
  /** Endpoint of the last member list, and its cluster: changes are sent only to this cluster. */
  #lastRead: { endpoint: string; clusterId: string } | undefined;

  constructor({ endpoints, tls, settings }: EtcdPortOptions) {
    this.#endpoints = endpoints;
    this.#settings = settings;
    this.#connections = new Connections({ tls, dialTimeout: settings.observeRpc });
  }

  async members(): Promise<{ clusterId: string; members: Member[] }> {
    const { endpoint, ...found } = await this.#read(async (endpoint, { version }) => {
      // 3.4 returns its own view of the members. A linearizable read first makes that view current.
      if (isBefore35(version)) await this.#call(endpoint, maintenance.confirmQuorum, this.#settings.observeRpc);
      return { endpoint, ...(await this.#call(endpoint, cluster.memberList, this.#settings.observeRpc)) };
    });
    this.#lastRead = { endpoint, clusterId: found.clusterId };
    return found;
  }

  async addLearner(peerUrls: readonly string[]): Promise<void> {
    const { endpoint } = await this.#leader();
    await this.#change(endpoint, (channel, options) => cluster.memberAddLearner(channel, peerUrls, options));
  }

  /** Sending it again changes nothing. */
  async updatePeerUrls(memberId: string, peerUrls: readonly string[]): Promise<void> {
    const { endpoint } = await this.#leader();
    await this.#change(endpoint, (channel, options) => cluster.memberUpdate(channel, memberId, peerUrls, options));
  }

  async remove(memberId: string): Promise<void> {
    const { endpoint } = await this.#leader(memberId);
    await this.#change(endpoint, (channel, options) => cluster.memberRemove(channel, memberId, options)).catch(
      ignoreDone('etcdserver: member not found'),
    );
  }

  async promote(memberId: string): Promise<void> {
    // A follower passes it on without the caller's name, which authentication refuses.
    const { endpoint } = await this.#leaderItself();
    await this.#change(endpoint, (channel, options) => cluster.memberPromote(channel, memberId, options)).catch(
      ignoreDone('etcdserver: can only promote a learner member'),
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
      quota: dbSizeQuota,
      downgradeEnabled,
    };
  }

  alarms(): Promise<Alarm[]> {
    return this.#read((endpoint) => this.#call(endpoint, maintenance.alarms, this.#settings.observeRpc));
  }

  async compact(revision: number): Promise<void> {
    // Nothing to compact.
    if (revision < 1) return;
    const { endpoint, status } = await this.#leader();
    const send = (channel: GrpcChannel, options: GrpcCallOptions) => maintenance.compact(channel, revision, options);
    await this.#call(endpoint, send, longDeadline(status.dbSize)).catch(
      ignoreDone('etcdserver: mvcc: required revision has been compacted'),
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
    await maintenance.leaseChurn(pairs, async () => {
      const id = await this.#call(endpoint, (to, options) => maintenance.leaseGrant(to, leaseTtl, options));
      await this.#call(endpoint, (to, options) => maintenance.leaseRevoke(to, id, options));
    });
  }

  /** Makes calls to the leader, on one connection. `clusterId`: only to the leader of this cluster. */
  async withLeader<T>(clusterId: string | undefined, work: (call: EtcdCall) => Promise<T>): Promise<T> {
    const { endpoint, status } = await this.#leaderItself();
    if (clusterId !== undefined && status.clusterId !== clusterId)
      throw new Error(`etcd at ${endpoint} is ${described(status)}, not of cluster ${clusterId}`);
    return work((each) => this.#call(endpoint, each));
  }

  /** Closes the connections. They are opened again when they are needed. */
  rest(): void {
    this.#connections.keep([]);
  }

  /** Ends all connections and calls. */
  close(): void {
    this.#connections.close();
  }

  /** Sends a read that any voter of a cluster with a leader can answer. */
  async #read<T>(read: (endpoint: string, status: Status) => Promise<T>): Promise<T> {
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

  /**
   * Finds the member to send a change to: the leader if possible, because it knows best which members are connected and in sync.
   * Avoids `except`, a member that is being removed and may not live long enough to answer, if there is another one.
   */
  async #leader(except?: string): Promise<Found> {
    const ours = ({ clusterId, isLearner, leader }: Status) =>
      !isLearner && leader !== '0' && clusterId === (this.#lastRead?.clusterId ?? clusterId);
    const stays = (status: Status) => ours(status) && status.memberId !== except;
    return this.#find((status) => stays(status) && isLeader(status))
      .catch(() => this.#find(stays))
      .catch(() => this.#find(ours, 'no voter with a leader answers'));
  }

  /** The leader and no other member. */
  #leaderItself(): Promise<Found> {
    const { clusterId } = this.#lastRead ?? {};
    const isOurs = (status: Status) => clusterId === undefined || status.clusterId === clusterId;
    return this.#find((status) => isLeader(status) && isOurs(status), 'no leader answers');
  }

  #member(memberId: string): Promise<Found> {
    return this.#find((status) => status.memberId === memberId, `member ${memberId} does not answer`);
  }

  async #find(accept: (status: Status) => boolean, otherwise = 'no suitable member answers'): Promise<Found> {
    const endpoints = await this.#all();
    const calls = endpoints.map(async (endpoint): Promise<Found> => {
      const status = await this.#statusAt(endpoint);
      if (!accept(status)) throw new Error(`etcd at ${endpoint} is ${described(status)}`);
      return { endpoint, status };
    });
    return Promise.any(calls).catch(({ errors }: AggregateError) => {
      throw new Error([otherwise, ...errors.map(messageOf)].join('; '));
    });
  }

  #statusAt(endpoint: string): Promise<Status> {
    const running = this.#statusCalls.get(endpoint);
    if (running) return running;
    const call = this.#call(endpoint, readStatus, this.#settings.observeRpc).finally(() =>
      this.#statusCalls.delete(endpoint),
    );
    this.#statusCalls.set(endpoint, call);
    return call;
  }

  async #all(): Promise<readonly string[]> {
    const endpoints = await this.#endpoints();
    this.#connections.keep(endpoints);
    return endpoints;
  }

  #change(endpoint: string, change: (channel: GrpcChannel, options: GrpcCallOptions) => Promise<void>): Promise<void> {
    return this.#call(endpoint, change, this.#settings.memberRpc);
  }

  #call<T>(
    endpoint: string,
    work: (channel: GrpcChannel, options: GrpcCallOptions) => Promise<T>,
    deadline = this.#settings.rpc,
  ): Promise<T> {
    return this.#connections.use(endpoint, (channel, signal) => work(channel, { signal, deadline }));
  }
}

function described({ memberId, clusterId, isLearner, leader }: Status): string {
  const what = isLearner ? 'the learner' : 'member';
  return `${what} ${memberId} of cluster ${clusterId}${leader === '0' ? ', without a leader' : ''}`;
}

const isLeader = ({ leader, memberId }: Status): boolean => leader !== '0' && leader === memberId;

const isBefore35 = (version: string): boolean => /^3\.[0-4]\./.test(version);

/**
 * Ignores etcd's error for a change that has already been made. Compares the whole text: "can only promote a learner member
 * which is in sync with leader" is a different error.
 */
const ignoreDone =
  (done: string) =>
  (error: unknown): void => {
    const cause = error instanceof AgentError ? error.cause : undefined;
    if (!(cause instanceof GrpcStatus && cause.message === done)) throw error;
  };
