import { GrpcChannel } from '../../../src/etcd/grpc.ts';
import { type HashKVAnswer, hashKV, type StatusResponse, status } from '../../../src/etcd/maintenance.ts';
import { type Target, tlsOf } from '../support/kv-client.ts';
import { afterPrefix, type KeyValue, range, rangeAnswer } from '../support/kv-messages.ts';

const deadline = 10_000;
const page = 5_000;

/** One member, queried directly. */
export class MemberView implements Disposable {
  readonly endpoint: string;
  readonly status: StatusResponse;
  readonly #channel: GrpcChannel;

  private constructor(channel: GrpcChannel, found: StatusResponse) {
    this.endpoint = channel.endpoint;
    this.status = found;
    this.#channel = channel;
  }

  static async open(endpoint: string, target: Target): Promise<MemberView> {
    const channel = await GrpcChannel.connect(endpoint, { dialTimeout: 2_000, tls: await tlsOf(target.tls) });
    try {
      return new MemberView(channel, await status(channel, { deadline }));
    } catch (error) {
      channel.close();
      throw error;
    }
  }

  /** Performs a linearizable read. Returns the revision up to which this member then has everything. */
  async sync(): Promise<number> {
    return rangeAnswer(await this.#channel.unary('KV/Range', range('sync'), { deadline })).header.revision;
  }

  async read(prefix: string, options: { revision: number; serializable: boolean }): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    for (let from = prefix; ; ) {
      const request = range(from, { end: afterPrefix(prefix), limit: page, ...options });
      const { kvs } = rangeAnswer(await this.#channel.unary('KV/Range', request, { deadline }));
      for (const { key, value } of kvs) found.set(key, value);
      if (kvs.length < page) return found;
      from = `${(kvs.at(-1) as KeyValue).key}\0`;
    }
  }

  hashKV(revision: number): Promise<HashKVAnswer> {
    return hashKV(this.#channel, revision, { deadline });
  }

  [Symbol.dispose](): void {
    this.#channel.close();
  }
}

/** The voters that answer. */
export async function openVoters(target: Target): Promise<MemberView[]> {
  const opened = await Promise.all(
    target.endpoints.map((endpoint) => MemberView.open(endpoint, target).catch(() => undefined)),
  );
  return opened.filter((member): member is MemberView => {
    if (member?.status.isLearner) member[Symbol.dispose]();
    return member !== undefined && !member.status.isLearner;
  });
}
