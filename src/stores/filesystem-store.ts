import { fieldProblems } from '../resource/resource-problems';
import { type INamed, nameOf } from '../validation/named';
import { problemsOf } from '../validation/problems';
import { hostPathProblem } from './host-path';
import { type StoreDefinition, storeProblems } from './store-definition';

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
  const volumes = [claimName, nfs, hostPath].filter((each) => each !== undefined);
  const own = volumes.length === 1 ? [] : ['give exactly one of claimName, nfs and hostPath'];
  const pod = {
    filesystem: {
      persistentVolumeClaim: claimName === undefined ? undefined : { claimName },
      nfs: nfs && { server: nfs.server, path: nfs.path },
      hostPath,
      directory,
    },
  };
  return {
    pod,
    problems: hostPath === undefined ? storeProblems(pod, own) : [...own, ...hostPathProblems(hostPath, directory)],
  };
}

/** The custom resources have no such store. */
function hostPathProblems(hostPath: string, directory: string | undefined): string[] {
  const found = fieldProblems('EtcdBackup', 'spec.store.filesystem.directory', directory);
  return [...problemsOf(hostPathProblem('hostPath', hostPath)), ...found.map(({ message }) => `directory: ${message}`)];
}
