import { GrpcChannel } from '../../etcd/grpc.ts';
import { status } from '../../etcd/maintenance.ts';
import { loadTls, type TlsFiles } from '../../etcd/tls.ts';
import type { Seen } from './served-revisions.ts';

const LIMIT = 3_000;

/** Reads the revisions of the members that answer at these client URLs, with or without a quorum. */
export async function liveRevisions(urls: readonly string[], files: TlsFiles): Promise<Seen[]> {
  const found = await Promise.all([...new Set(urls)].map((url) => revisionAt(url, files)));
  return found.filter((each) => each !== undefined);
}

async function revisionAt(url: string, files: TlsFiles): Promise<Seen | undefined> {
  let channel: GrpcChannel | undefined;
  try {
    const endpoint = new URL(url).origin;
    // The server is not verified. A revision that no etcd reaches is ignored, and a lower wrong one only skips
    // revisions.
    const tls = url.startsWith('https:') ? { ...(await loadTls(files)), rejectUnauthorized: false } : undefined;
    channel = await GrpcChannel.connect(endpoint, { ...(tls && { tls }), dialTimeout: LIMIT });
    const { revision, clusterId, leader, raftIndex, raftAppliedIndex } = await status(channel, { deadline: LIMIT });
    const behind = Math.max(0, raftIndex - raftAppliedIndex);
    return { revision: revision + behind, clusterId, hasQuorum: leader !== '0', where: `etcd at ${endpoint}` };
  } catch {
    return undefined;
  } finally {
    channel?.close();
  }
}
