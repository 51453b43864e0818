import { nameProblem, pathProblem, problemsOf } from '../validation/names';
import { hostPathProblem } from './host-path';
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

/** Properties of `BackupStore.filesystem`. Give one of `claimName`, `nfs` and `hostPath`. */
export interface FilesystemStoreProps {
  /**
   * A PersistentVolumeClaim of the backup's namespace.
   * @default - `nfs` or `hostPath`
   */
  readonly claimName?: string;
  /**
   * An NFS export.
   * @default - `claimName` or `hostPath`
   */
  readonly nfs?: NfsVolume;
  /**
   * A directory of the node, such as `/var/backups/etcd`; it is made where missing. Only for a `ControlPlaneEtcdBackup`: any
   * other pod runs on any node. What lies there is lost with the node, and each node has its own.
   * @default - `claimName` or `nfs`
   */
  readonly hostPath?: string;
  /**
   * The folder within the volume, such as `etcd/eu`. It is created where missing.
   * @default - the volume's root
   */
  readonly directory?: string;
}

export function filesystemStore({ claimName, nfs, hostPath, directory }: FilesystemStoreProps): StoreDefinition {
  const volume = nfs ? `nfs://${nfs.server}${nfs.path}` : (hostPath ?? `claim ${claimName}`);
  const volumes = [claimName, nfs, hostPath].filter((each) => each !== undefined);
  return {
    pod: {
      filesystem: {
        persistentVolumeClaim: claimName === undefined ? undefined : { claimName },
        nfs: nfs && { server: nfs.server, path: nfs.path },
        hostPath,
        directory,
      },
    },
    place: [volume, directory].filter(Boolean).join('/'),
    problems: problemsOf(
      volumes.length === 1 ? undefined : 'give one of claimName, nfs and hostPath',
      claimName === undefined ? undefined : nameProblem('claimName', claimName),
      nfs && !/^[^\s/]+$/.test(nfs.server ?? '')
        ? `nfs: '${nfs.server}' is no server; give a host name or an address`
        : undefined,
      nfs && !nfs.path?.startsWith('/')
        ? `nfs: path '${nfs.path}' is not absolute; write it like /srv/backup`
        : undefined,
      hostPath === undefined ? undefined : hostPathProblem('hostPath', hostPath),
      directory === undefined ? undefined : pathProblem('directory', directory),
    ),
  };
}
