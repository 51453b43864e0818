import { type INamed, nameOf } from '../validation/named';
import { nameProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import { pathProblem } from '../validation/store-paths';
import { hostPathProblem } from './host-path';
import type { StoreDefinition } from './store-definition';

/**
 * Describes an NFS export that the pod's node mounts. The agent's user 65532 must be allowed to write to it. Namespaces
 * that enforce the restricted Pod Security Standard refuse NFS volumes: there, create a PersistentVolume for the export
 * and claim it.
 */
export interface NfsVolume {
  /** Sets the host name or IP address of the server. */
  readonly server: string;
  /** Sets the exported path, such as `/srv/backup`. */
  readonly path: string;
}

/** Configures `BackupStore.filesystem`. Give exactly one of `claimName`, `nfs` and `hostPath`. */
export interface FilesystemStoreProps {
  /**
   * Names a PersistentVolumeClaim in the backup's namespace.
   * @default - `nfs` or `hostPath` is used
   */
  readonly claimName?: string | INamed;
  /**
   * Selects an NFS export.
   * @default - `claimName` or `hostPath` is used
   */
  readonly nfs?: NfsVolume;
  /**
   * Sets a directory on the node, such as `/var/backups/etcd`. It is created if it does not exist. Allowed only for a
   * `ControlPlaneEtcdBackup`, because other pods run on any node. Each node has its own backups there, and they are
   * lost with the node.
   * @default - `claimName` or `nfs` is used
   */
  readonly hostPath?: string;
  /**
   * Sets a folder within the volume, such as `etcd/eu`. It is created if it does not exist.
   * @default - the volume's root
   */
  readonly directory?: string;
}

export function filesystemStore({ nfs, hostPath, directory, ...props }: FilesystemStoreProps): StoreDefinition {
  const claimName = nameOf(props.claimName);
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
      volumes.length === 1 ? undefined : 'give exactly one of claimName, nfs and hostPath',
      claimName === undefined ? undefined : nameProblem('claimName', claimName),
      nfs && !/^[^\s/]+$/.test(nfs.server ?? '')
        ? `nfs: '${nfs.server}' is not a valid server; give a host name or an address`
        : undefined,
      nfs && !nfs.path?.startsWith('/')
        ? `nfs: path '${nfs.path}' is not absolute; write it like /srv/backup`
        : undefined,
      hostPath === undefined ? undefined : hostPathProblem('hostPath', hostPath),
      directory === undefined ? undefined : pathProblem('directory', directory),
    ),
  };
}
