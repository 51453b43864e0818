import type { MemberCluster } from '../../e2e/support/member-cluster';
import type { Manifest } from '../../synth';

const mebibyte = 1024 ** 2;

/** Puts a MiB into one key repeatedly until that fails, and returns the error of etcdctl. */
export async function overwrite(cluster: MemberCluster, times: number, ordinal = 0): Promise<string | undefined> {
  for (let n = 0; n < times; n++) {
    const failure = await cluster.etcdctl(['put', 'filler'], ordinal, String(n).padEnd(mebibyte, '.')).then(
      () => '',
      ({ stderr }) => String(stderr) || 'it failed without a word',
    );
    if (failure) return failure;
  }
  return undefined;
}

interface Database {
  readonly dbSize: number;
  readonly revision: number;
  readonly errors: readonly string[];
}

/** Returns the database of one member, as that member reports it. */
export async function database(cluster: MemberCluster, ordinal = 0): Promise<Database> {
  const [{ Status }]: Manifest[] = JSON.parse(await cluster.etcdctl(['endpoint', 'status', '-w', 'json'], ordinal));
  return { dbSize: Status.dbSize, revision: Status.header.revision, errors: Status.errors ?? [] };
}
