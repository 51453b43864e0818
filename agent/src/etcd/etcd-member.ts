import { Etcd3 } from 'etcd3';
import { AgentError, messageOf } from '../lib/errors.ts';
import { GrpcChannel } from './grpc.ts';
import { statusError } from './grpc-errors.ts';
import * as maintenance from './maintenance.ts';
import { openSnapshot, type SnapshotStream } from './snapshot-stream.ts';
import type { TlsMaterial } from './tls.ts';

/** How to reach an etcd cluster. The same for every member. */
export interface EtcdAccess {
  readonly endpoints: readonly string[];
  readonly tls?: TlsMaterial;
  readonly user?: string;
  readonly password?: string;
  /** Time limit in milliseconds for a connection and for a short call. */
  readonly dialTimeout: number;
}

export interface Member {
  readonly id: string;
  readonly name: string;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  readonly isLearner: boolean;
}

/**
 * A connection to one member of an etcd cluster. Status, HashKV and Snapshot are implemented here, because etcd3 lacks newer
 * fields and the auth token in these calls. All other calls go through etcd3, with one client per member, because a client
 * with several hosts picks one at random.
 */
export class EtcdMember {
  readonly endpoint: string;
  readonly #channel: GrpcChannel;
  readonly #etcd3: Etcd3;
  readonly #timeout: number;

  private constructor(endpoint: string, channel: GrpcChannel, etcd3: Etcd3, timeout: number) {
    this.endpoint = endpoint;
    this.#channel = channel;
    this.#etcd3 = etcd3;
    this.#timeout = timeout;
  }

  static async connect(endpoint: string, access: EtcdAccess, signal?: AbortSignal): Promise<EtcdMember> {
    const channel = await GrpcChannel.connect(endpoint, { ...access, signal });
    try {
      let etcd3 = etcd3Client(endpoint, access);
      if (access.user) {
        const token = await authenticate(etcd3, endpoint, access);
        if (token) {
          channel.token = token;
          etcd3.close();
          etcd3 = etcd3Client(endpoint, access, { username: access.user, password: access.password ?? '' });
        }
      }
      return new EtcdMember(endpoint, channel, etcd3, access.dialTimeout);
    } catch (error) {
      channel.close();
      throw error;
    }
  }

  status(signal?: AbortSignal): Promise<maintenance.MemberStatus> {
    return maintenance.status(this.#channel, { signal, deadline: this.#timeout });
  }

  hashKV(revision: number, deadline: number, signal?: AbortSignal): Promise<maintenance.HashKVAnswer> {
    return maintenance.hashKV(this.#channel, revision, { signal, deadline });
  }

  snapshot(idleTimeout: number, signal?: AbortSignal): Promise<SnapshotStream> {
    return openSnapshot(this.#channel, { signal, idleTimeout });
  }

  async members(): Promise<Member[]> {
    const { members } = await this.#call(() => this.#etcd3.cluster.memberList({}));
    return members.map((member) => ({
      id: BigInt(member.ID).toString(16),
      name: member.name,
      peerUrls: member.peerURLs,
      clientUrls: member.clientURLs,
      isLearner: member.isLearner,
    }));
  }

  /** Performs a linearizable read, which succeeds only if a quorum answers. */
  async confirmQuorum(): Promise<void> {
    try {
      await this.#etcd3.kv.range({ key: Buffer.from('health'), count_only: true });
    } catch (error) {
      // With a CORRUPT alarm, etcd rejects the read, but only after it has confirmed the quorum.
      if (!/corrupt cluster/.test(messageOf(error))) throw callError(this.endpoint, error);
    }
  }

  /** Whether the revision was compacted, so that etcd refuses to read it. */
  async isCompacted(revision: number): Promise<boolean> {
    // For etcd, revision 0 means the newest one. The first revision is 1.
    if (revision < 1) return false;
    try {
      await this.#etcd3.kv.range({
        key: Buffer.from('health'),
        revision: String(revision),
        serializable: true,
        count_only: true,
      });
      return false;
    } catch (error) {
      if (/has been compacted/.test(messageOf(error))) return true;
      throw callError(this.endpoint, error);
    }
  }

  async #call<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw callError(this.endpoint, error);
    }
  }

  close(): void {
    this.#etcd3.close();
    this.#channel.close();
  }
}

function callError(endpoint: string, error: unknown): AgentError {
  return error instanceof AgentError ? error : statusError(endpoint, 2, messageOf(error));
}

function etcd3Client(endpoint: string, access: EtcdAccess, auth?: { username: string; password: string }): Etcd3 {
  const { tls, dialTimeout } = access;
  const deadline = () => ({ deadline: Date.now() + dialTimeout });
  return new Etcd3({
    hosts: endpoint,
    // etcd3's types require a CA, but without one grpc-js trusts the CAs of the system.
    ...(endpoint.startsWith('https:') &&
      tls && {
        credentials: { rootCertificate: tls.ca as Buffer, certChain: tls.cert, privateKey: tls.key },
      }),
    ...(auth && { auth: { ...auth, callOptions: deadline } }),
    defaultCallOptions: deadline,
    // A proxy variable of the pod is meant for connections outside the cluster, not for etcd.
    grpcOptions: { 'grpc.enable_http_proxy': 0 },
  });
}

/** Returns an auth token, or undefined if authentication is disabled. */
async function authenticate(etcd3: Etcd3, endpoint: string, access: EtcdAccess): Promise<string | undefined> {
  try {
    const { token } = await etcd3.auth.authenticate({ name: access.user, password: access.password ?? '' });
    return token;
  } catch (error) {
    if (/authentication is not enabled/.test(messageOf(error))) return undefined;
    // It goes through the log, so it fails for a moment as other calls do.
    throw callError(endpoint, error);
  }
}
