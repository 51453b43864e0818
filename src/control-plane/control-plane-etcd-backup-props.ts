import type { Encryption } from '../backup/encryption';
import type { BackupScheduleOptions } from '../backup/etcd-backup-schedule-props';
import type { ScheduleSpec } from '../backup/schedule-manifests';
import type { ControlPlaneSpec } from '../resource/types';

/** Configures a `ControlPlaneEtcdBackup`. */
export interface ControlPlaneEtcdBackupProps extends BackupScheduleOptions {
  /**
   * Sets the name under which the backups are stored and found again: up to 63 letters, digits, `-`, `_` and `.`. Two
   * etcd clusters must not share a name within one store.
   */
  readonly cluster: string;
  /**
   * Lists client URLs of etcd, as seen from the nodes. The agent finds the other members through the first URL that
   * answers.
   * @default ['https://127.0.0.1:2379']
   */
  readonly endpoints?: string[];
  /**
   * Locates the files on a node with which the agent verifies etcd and identifies itself.
   * @default - kubeadm's files in /etc/kubernetes/pki/etcd
   */
  readonly certificates?: ControlPlaneCertificates;
  /**
   * Lists the labels of the nodes on which etcd runs: a node with at least one of them qualifies, whatever the label's
   * value. Examples are `node-role.kubernetes.io/control-plane`, `node-role.kubernetes.io/master` and a label of
   * dedicated etcd nodes. The pods tolerate taints with the same names, and those of `tolerations`.
   * @default ['node-role.kubernetes.io/control-plane']
   */
  readonly nodeLabels?: string[];
  /**
   * Sets the directory on a node from which the kubelet starts static Pods. The backup records the image and the flags
   * that are in its `etcd.yaml`.
   * @default /etc/kubernetes/manifests
   */
  readonly manifestsDirectory?: string;
  /**
   * Must be true if etcd runs as a service of the node, for example of systemd, and not as a static Pod. The backup
   * then records the flags of etcd's process, and its pods must see the processes of the node.
   * @default false
   */
  readonly etcdService?: boolean;
  /**
   * Sets the directory on a node with etcd's data. Only a restore uses it.
   * @default /var/lib/etcd
   */
  readonly dataDir?: string;
  /**
   * Sets the directory on a node, readable only by root, in which `etcd-restore.yaml` expects credentials, keys and the
   * selection of the snapshot.
   * @default /etc/etcd-restore
   */
  readonly restoreDirectory?: string;
  /**
   * Selects files of the node that are stored with each snapshot. You cannot restore a control plane without kubeadm's
   * PKI, nor without the encryption configuration if it uses one. These files are always encrypted.
   * @default - no files
   */
  readonly files?: ControlPlaneFiles;
  /**
   * Creates the chart's namespace with the Pod Security level `privileged`. The backup needs this level because it uses
   * the network and the files of the node.
   * @default true
   */
  readonly createNamespace?: boolean;
  /**
   * Keeps the image on every node on which etcd runs, with a DaemonSet of idle pods. A node whose API server is down
   * may not be able to pull the image.
   * @default true
   */
  readonly keepImage?: boolean;
  /**
   * The backup as the resource has it, in the place of the other properties except for its names.
   * @internal
   */
  readonly _written?: ScheduleSpec;
  /** @internal */
  readonly _controlPlane?: ControlPlaneSpec;
}

/** The properties that other schedules do not have, as the resource has them. */
export function controlPlaneSpec(props: ControlPlaneEtcdBackupProps): ControlPlaneSpec {
  const { endpoints, certificates, nodeLabels, manifestsDirectory, etcdService, dataDir, restoreDirectory } = props;
  const { files, createNamespace, keepImage } = props;
  return {
    ...{ endpoints, certificates, nodeLabels, manifestsDirectory, etcdService, dataDir, restoreDirectory },
    files: files && { ...files, encryption: files.encryption?._spec() },
    ...{ createNamespace, keepImage },
  };
}

/** Locates certificate files on a node. All files must be readable by root. */
export interface ControlPlaneCertificates {
  /**
   * Sets the path of the certificate of the authority that signed etcd's server certificates.
   * @default /etc/kubernetes/pki/etcd/ca.crt
   */
  readonly ca?: string;
  /**
   * Sets the path of the client certificate.
   * @default /etc/kubernetes/pki/etcd/healthcheck-client.crt
   */
  readonly cert?: string;
  /**
   * Sets the path of the client certificate's private key.
   * @default /etc/kubernetes/pki/etcd/healthcheck-client.key
   */
  readonly key?: string;
}

/**
 * Selects files on a node. Each must exist on every node on which a backup runs: the pod waits for files that are
 * missing.
 */
export interface ControlPlaneFiles {
  /**
   * Lists directories, which are stored with all their content.
   * @default ['/etc/kubernetes/pki']
   */
  readonly directories?: string[];
  /**
   * Lists single files, such as the encryption configuration of the API server.
   * @default - none
   */
  readonly files?: string[];
  /**
   * Encrypts these files.
   * @default - the encryption of the snapshot
   */
  readonly encryption?: Encryption;
}
