import { AgentError, messageOf } from '../lib/errors.ts';
import { GrpcChannel, GrpcStatus } from './grpc.ts';
import * as maintenance from './maintenance.ts';
import { type ListedMember, memberList } from './member-list.ts';
import { encodeBytes, encodeInt, fieldsOf, text } from './protobuf.ts';
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

export type EtcdMemberEntry = Readonly<ListedMember>;

/**
 * A connection to one member of an etcd cluster. Every call takes this one: the server at its end has been judged before it is sent
 * a password.
 */
export class EtcdMember {
  readonly endpoint: string;
  readonly #channel: GrpcChannel;
  readonly #access: EtcdAccess;

  private constructor(endpoint: string, channel: GrpcChannel, access: EtcdAccess) {
    this.endpoint = endpoint;
    this.#channel = channel;
    this.#access = access;
  }

  static async connect(endpoint: string, access: EtcdAccess, signal?: AbortSignal): Promise<EtcdMember> {
    const channel = await GrpcChannel.connect(endpoint, { ...access, signal });
    const member = new EtcdMember(endpoint, channel, access);
    try {
      await member.#authenticate();
      return member;
    } catch (error) {
      channel.close();
      throw error;
    }
  }

  get #limit(): { readonly deadline: number } {
    return { deadline: this.#access.dialTimeout };
  }

  /** Gets an auth token, unless authentication is disabled. */
  async #authenticate(): Promise<void> {
    const { user, password = '' } = this.#access;
    if (!user) return;
    const channel = this.#channel;
    const method = 'Auth/Authenticate';
    channel.token = undefined;
    try {
      const answer = await channel.unary(
        method,
        Buffer.concat([encodeBytes(1, user), encodeBytes(2, password)]),
        this.#limit,
      );
      maintenance.readAnswer(channel, method, () => {
        for (const [field, value] of fieldsOf(answer)) if (field === 2) channel.token = text(value);
      });
    } catch (error) {
      // It goes through the log, so it fails for a moment as other calls do.
      if (!saidBy(error, /authentication is not enabled/)) throw error;
    }
  }

  status(signal?: AbortSignal): Promise<maintenance.StatusResponse> {
    return maintenance.status(this.#channel, { signal, ...this.#limit });
  }

  hashKV(revision: number, deadline: number, signal?: AbortSignal): Promise<maintenance.HashKVAnswer> {
    return maintenance.hashKV(this.#channel, revision, { signal, deadline });
  }

  snapshot(idleTimeout: number, signal?: AbortSignal): Promise<SnapshotStream> {
    return openSnapshot(this.#channel, { signal, idleTimeout });
  }

  async members(): Promise<EtcdMemberEntry[]> {
    return (await this.#withToken(() => memberList(this.#channel, false, this.#limit))).members;
  }

  /** Performs a linearizable read, which succeeds only if a quorum answers. */
  async confirmQuorum(): Promise<void> {
    try {
      await this.#count();
    } catch (error) {
      // With a CORRUPT alarm, etcd rejects the read, but only after it has confirmed the quorum.
      if (!saidBy(error, /corrupt cluster/)) throw error;
    }
  }

  /** Whether the revision was compacted, so that etcd refuses to read it. */
  async isCompacted(revision: number): Promise<boolean> {
    // For etcd, revision 0 means the newest one. The first revision is 1.
    if (revision < 1) return false;
    const serializable = encodeInt(7, 1);
    try {
      await this.#count(encodeInt(4, revision), serializable);
      return false;
    } catch (error) {
      if (saidBy(error, /has been compacted/)) return true;
      throw error;
    }
  }

  /** Reads no key, only whether it is there. */
  async #count(...more: readonly Uint8Array[]): Promise<void> {
    const countOnly = encodeInt(9, 1);
    const request = Buffer.concat([encodeBytes(1, 'health'), ...more, countOnly]);
    await this.#withToken(() => this.#channel.unary('KV/Range', request, this.#limit));
  }

  /** etcd forgets a token that was not used for some minutes, as during a long comparison. */
  async #withToken<T>(call: () => Promise<T>): Promise<T> {
    try {
      return await call();
    } catch (error) {
      if (!saidBy(error, /invalid auth token/)) throw error;
      await this.#authenticate();
      return call();
    }
  }

  close(): void {
    this.#channel.close();
  }
}

/** Whether etcd has answered with these words. */
const saidBy = (error: unknown, words: RegExp): boolean =>
  error instanceof AgentError && error.cause instanceof GrpcStatus && words.test(messageOf(error.cause));
