import { GrpcChannel } from '../../etcd/grpc.ts';
import { status } from '../../etcd/maintenance.ts';
import { loadTlsOfAnyServer, type TlsFiles } from '../../etcd/tls.ts';
import type { SeenRevision } from './served-revisions.ts';

const LIMIT = 3_000;

/** Reads the revisions of the members that answer at these client URLs, with or without a quorum. */
export async function liveRevisions(urls: readonly string[], files: TlsFiles): Promise<SeenRevision[]> {
  const found = await Promise.all([...new Set(urls)].map((url) => revisionAt(url, files)));
  return found.filter((each) => each !== undefined);
}

async function revisionAt(url: string, files: TlsFiles): Promise<SeenRevision | undefined> {
  try {
    return await withChannel(url, files, async (channel) => {
      const { revision, clusterId, leader, raftIndex, raftAppliedIndex } = await status(channel, { deadline: LIMIT });
      const behind = Math.max(0, raftIndex - raftAppliedIndex);
      const where = `etcd at ${channel.endpoint}`;
      return { revision: revision + behind, clusterId, hasQuorum: leader !== '0', where };
    });
  } catch {
    return undefined;
  }
}

/** The server is not verified: a wrong answer is ignored, or only skips revisions. */
export async function withChannel<T>(
  url: string,
  files: TlsFiles,
  work: (channel: GrpcChannel) => Promise<T>,
): Promise<T> {
  const tls = url.startsWith('https:')
    ? { ...(await loadTlsOfAnyServer(files)), rejectUnauthorized: false }
    : undefined;
  const channel = await GrpcChannel.connect(new URL(url).origin, { tls, dialTimeout: LIMIT });
  try {
    return await work(channel);
  } finally {
    channel.close();
  }
}
