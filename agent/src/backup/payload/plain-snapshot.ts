import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Switches } from '../../etcd/offline/database-check.ts';
import type { Etcdutl } from '../../etcd/offline/etcdutl.ts';
import { AgentError, ExitCode } from '../../lib/errors.ts';
import type { Finding } from '../../lib/finding.ts';
import type { Store } from '../../store/store.ts';
import type { SnapshotManifest } from '../catalog/manifest.ts';
import { tryRestore } from './inspect.ts';
import { hasBeyond, noneBeyond } from './plausible-revision.ts';
import type { PayloadReadOptions } from './read-payload.ts';
import { scratchDirectory } from './scratch-directory.ts';
import { refuseNewer } from './server-version.ts';
import { writeContent } from './verify.ts';

/** Properties that the caller requires of the snapshot. */
export interface Expected {
  readonly revision?: number;
  /** Version of the etcd that will start with the data, such as `3.6`. */
  readonly serverVersion?: string;
  /** Its reconciler has the certificate of root, so authentication may be on in the data. */
  readonly acceptsAuth?: boolean;
}

export interface PlainSnapshot {
  readonly id: string;
  /** Path of the file: the database and etcd's trailer, as `etcdctl snapshot save` writes them. */
  readonly file: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly revision: number;
  readonly keys: number;
}

/** Writes a stored snapshot to a plain file and proves that it can be restored. If not, throws and leaves the file. */
export async function plainSnapshot(
  store: Store,
  manifest: SnapshotManifest,
  directory: string,
  expected: Expected,
  {
    etcdutl,
    onPhase,
    ...options
  }: PayloadReadOptions & { etcdutl: Etcdutl; onPhase: (phase: 'fetch' | 'try') => void },
): Promise<PlainSnapshot> {
  const { id, source, content } = manifest;
  const { sha256, sizeBytes } = content;
  refuseNewer(id, source.storageVersion ?? source.version, expected.serverVersion);
  const file = join(directory, 'snapshot.db');
  onPhase('fetch');
  await writeContent(store, manifest, file, options);
  onPhase('try');
  await using trial = await scratchDirectory(directory);
  const { signal } = options;
  const tried = await tryRestore(id, file, join(trial.path, 'data'), { etcdutl, signal });
  const { revision, keys } = tried;
  refuseNewer(id, tried.storageVersion, expected.serverVersion);
  refuseUnserved(id, tried, expected);
  if (!hasBeyond(revision)) throw refused(`${noneBeyond(`${id} is`, revision)}; restore an earlier snapshot`);
  // Writes continued while the snapshot was taken, so the revision that the backup reported may be the one at which
  // members were compared.
  const known = [revision, content.hashKV?.revision, content.revision];
  if (expected.revision !== undefined && !known.includes(expected.revision)) {
    throw failed(`${id}: its revision is ${revision}, not the expected ${expected.revision}`);
  }
  const { size } = await stat(file);
  if (size !== sizeBytes) throw failed(`${id}: ${file} changed while it was checked`);
  return { id, file, sha256, sizeBytes, revision, keys };
}

/** Throws `refused` if a cluster with these data would reject its reconciler, which then cannot finish the restore. */
function refuseUnserved(id: string, { authEnabled, corruptAlarm }: Switches, { acceptsAuth = false }: Expected): void {
  if (authEnabled && !acceptsAuth) {
    throw refused(
      `${id} has authentication enabled, and the cluster has no certificate with the common name root for its reconciler (spec.tls.rootSecret), or its clients may use http while TLS is switched on or off`,
      { kind: 'authEnabled' },
    );
  }
  if (corruptAlarm) {
    throw refused(
      `${id} holds a CORRUPT alarm, which makes etcd refuse every read and write; restore an earlier snapshot`,
    );
  }
}

const refused = (message: string, finding?: Finding) => new AgentError(ExitCode.refused, message, { finding });
const failed = (message: string) => new AgentError(ExitCode.verificationFailed, message);
