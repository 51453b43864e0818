import { nameProblem, pathProblem, problemsOf } from './names';
import type { StoreDefinition } from './store-definition';

/**
 * An NFS export, as the pod's node mounts it. The agent's user 65532 must be allowed to write there. Namespaces that
 * enforce the restricted Pod Security Standard refuse it: there, make a PersistentVolume of the export, and claim it.
 */
export interface NfsVolume {
  /** Host name or address of the server. */
  readonly server: string;
  /** The exported path, such as `/srv/backup`. */
  readonly path: string;
}

/** Properties of `BackupStore.filesystem`. Give either `claimName` or `nfs`. */
export interface FilesystemStoreProps {
  /**
   * A PersistentVolumeClaim of the backup's namespace.
   * @default - `nfs`
   */
  readonly claimName?: string;
  /**
   * An NFS export.
   * @default - `claimName`
   */
  readonly nfs?: NfsVolume;
  /**
   * The folder within the volume, such as `etcd/eu`. It is created where missing.
   * @default - the volume's root
   */
  readonly directory?: string;
}

export function filesystemStore({ claimName, nfs, directory }: FilesystemStoreProps): StoreDefinition {
  const volume = nfs ? `nfs://${nfs.server}${nfs.path}` : `claim ${claimName}`;
  return {
    pod: {
      filesystem: {
        persistentVolumeClaim: claimName === undefined ? undefined : { claimName },
        nfs: nfs && { server: nfs.server, path: nfs.path },
        directory,
      },
    },
    place: [volume, directory].filter(Boolean).join('/'),
    problems: problemsOf(
      (claimName === undefined) === (nfs === undefined) ? 'give either claimName or nfs' : undefined,
      claimName === undefined ? undefined : nameProblem('claimName', claimName),
      nfs && !/^[^\s/]+$/.test(nfs.server ?? '')
        ? `nfs: '${nfs.server}' is no server; give a host name or an address`
        : undefined,
      nfs && !nfs.path?.startsWith('/')
        ? `nfs: path '${nfs.path}' is not absolute; write it like /srv/backup`
        : undefined,
      directory === undefined ? undefined : pathProblem('directory', directory),
    ),
  };
}
