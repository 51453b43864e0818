import type { BackupScheduleOptions } from '../backup/backup-schedule-options';
import type { Encryption } from '../backup/encryption';

/** Properties of `ControlPlaneEtcdBackup`. */
export interface ControlPlaneEtcdBackupProps extends BackupScheduleOptions {
  /**
   * The name under which the backups are stored and found again: up to 63 letters, digits, `-`, `_` and `.`. Two etcd
   * clusters must not share it within a store.
   */
  readonly cluster: string;
  /**
   * Client URLs of etcd as the nodes reach it. The others are found through the first that answers.
   * @default ['https://127.0.0.1:2379']
   */
  readonly endpoints?: string[];
  /**
   * The files of a node that the agent trusts etcd by, and is trusted by.
   * @default - kubeadm's, in /etc/kubernetes/pki/etcd
   */
  readonly certificates?: ControlPlaneCertificates;
  /**
   * The nodes where etcd runs: those with one of these labels, whatever its value, such as
   * `node-role.kubernetes.io/control-plane`, `node-role.kubernetes.io/master` or a label of nodes of etcd's own. Taints of the
   * same names are tolerated, and those of `tolerations`.
   * @default ['node-role.kubernetes.io/control-plane']
   */
  readonly nodeLabels?: string[];
  /**
   * The folder of a node that the kubelet starts static Pods from. The backup notes the image and the flags that it finds in
   * its `etcd.yaml`.
   * @default /etc/kubernetes/manifests
   */
  readonly manifestsDirectory?: string;
  /**
   * etcd is a service of its machine, such as systemd's, and no static Pod. The backup notes the flags of its process, and
   * has to see the node's processes for that.
   * @default false
   */
  readonly etcdService?: boolean;
  /**
   * Where etcd's data are on a node. Only a restore needs it.
   * @default /var/lib/etcd
   */
  readonly dataDir?: string;
  /**
   * The folder of a node, readable by root alone, where `etcd-restore.yaml` finds credentials, keys and what to restore.
   * @default /etc/etcd-restore
   */
  readonly restoreDirectory?: string;
  /**
   * Files of the node to store beside each snapshot: without kubeadm's PKI, and without the encryption configuration where
   * there is one, a control plane does not come back. They are always encrypted.
   * @default - none
   */
  readonly files?: ControlPlaneFiles;
  /**
   * Whether to make the chart's namespace, with the Pod Security level that the backup needs: `privileged`, as it uses the
   * node's network and files.
   * @default true
   */
  readonly createNamespace?: boolean;
  /**
   * Whether to keep the image on every node where etcd runs, by a DaemonSet that does nothing: a node whose API server is
   * down may not be able to pull it.
   * @default true
   */
  readonly keepImage?: boolean;
}

/** Files of a node, all readable by root. */
export interface ControlPlaneCertificates {
  /**
   * The authority that signed etcd's server certificates.
   * @default /etc/kubernetes/pki/etcd/ca.crt
   */
  readonly ca?: string;
  /**
   * The client certificate.
   * @default /etc/kubernetes/pki/etcd/healthcheck-client.crt
   */
  readonly cert?: string;
  /**
   * The client certificate's private key.
   * @default /etc/kubernetes/pki/etcd/healthcheck-client.key
   */
  readonly key?: string;
}

/** Files of a node. All have to be there on every node where a backup runs: its pod waits for those that are not. */
export interface ControlPlaneFiles {
  /**
   * Directories, with all that is in them.
   * @default ['/etc/kubernetes/pki']
   */
  readonly directories?: string[];
  /**
   * Single files, such as the encryption configuration of the API server.
   * @default - none
   */
  readonly files?: string[];
  /**
   * Whom they are encrypted for.
   * @default - whom the snapshot is encrypted for
   */
  readonly encryption?: Encryption;
}
