import { rendered } from './crd.mjs';
import { auth, endpointRules, endpoints, tls } from './endpoints.mjs';
import { backupMonitoring } from './monitoring.mjs';
import { defaultReconciler, jobAccountRule } from './pods.mjs';
import { encryption, scheduleFields, scheduleRules } from './schedule.mjs';
import { flag, hostPath, list, matching, named, object, oneOf, rules, withDefault } from './schema.mjs';
import { ownScheduledStore } from './store.mjs';

const etcd = named(
  'ExistingEtcdSpec',
  object(
    'An etcd cluster that something else runs.',
    {
      'endpoints!': endpoints('Client URLs of one or more members. The agent finds the other members through these.'),
      tls,
      auth,
    },
    rules(...endpointRules),
  ),
);

const certificates = object('The files on a node with which the agent verifies etcd and identifies itself.', {
  ca: withDefault(
    '/etc/kubernetes/pki/etcd/ca.crt',
    hostPath('The certificate of the authority of the servers of etcd.'),
  ),
  cert: withDefault('/etc/kubernetes/pki/etcd/healthcheck-client.crt', hostPath('The client certificate.')),
  key: withDefault('/etc/kubernetes/pki/etcd/healthcheck-client.key', hostPath('Its private key.')),
});

const files = object(
  'Files of the node that are stored with each snapshot, always encrypted. Each must exist on every node on which a backup runs. Default: no files.',
  {
    directories: withDefault(
      ['/etc/kubernetes/pki'],
      list('Directories, with all their content.', hostPath('A directory.'), 0, 32),
    ),
    files: list('Single files, such as the encryption configuration of the API server.', hostPath('A file.'), 0, 32),
    encryption,
  },
  rules([
    '!has(self.directories) || self.directories.size() > 0 || (has(self.files) && self.files.size() > 0)',
    'files is empty: give directories or files, or leave it out',
  ]),
);

const controlPlane = named(
  'ControlPlaneSpec',
  object(
    'The etcd of the control plane of this Kubernetes cluster. {} is that of kubeadm. The pods run on its nodes, and need a namespace of their own.',
    {
      endpoints: withDefault(['https://127.0.0.1:2379'], endpoints('Client URLs of etcd, as seen from the nodes.')),
      certificates,
      nodeLabels: withDefault(
        ['node-role.kubernetes.io/control-plane'],
        list(
          'The labels of the nodes on which etcd runs: a node with at least one of them qualifies. The pods tolerate taints with the same names.',
          matching(
            'The name of a label.',
            317,
            /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/,
            'is not a valid name of a label: write it like team or example.com/team',
          ),
          1,
          16,
        ),
      ),
      manifestsDirectory: withDefault(
        '/etc/kubernetes/manifests',
        hostPath('The directory with the manifests of static Pods.'),
      ),
      etcdService: withDefault(false, flag('True if etcd runs as a service of the node, and not as a static Pod.')),
      dataDir: withDefault('/var/lib/etcd', hostPath("The directory with etcd's data, for a restore.")),
      restoreDirectory: withDefault(
        '/etc/etcd-restore',
        hostPath('The directory, readable only by root, for what a restore needs.'),
      ),
      files,
      createNamespace: withDefault(
        true,
        flag('Adds the namespace, with the Pod Security level privileged, which the backup needs.'),
      ),
      keepImage: withDefault(true, flag('Keeps the image on every node on which etcd runs, with a DaemonSet.')),
    },
    rules([
      '!has(self.etcdService) || !self.etcdService || !has(self.manifestsDirectory)',
      'manifestsDirectory has no effect with etcdService, which has no manifest: remove one of them',
      { fieldPath: '.manifestsDirectory' },
    ]),
  ),
);

const spec = object(
  'What is backed up, when, and where the backups go.',
  {
    'cluster!': matching(
      'The name under which the backups are stored and found again. Two etcd clusters must not share a name within one store.',
      63,
      /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/,
      "is not a valid name of a cluster: use letters, digits, '-', '_' and '.', beginning and ending with a letter or digit",
    ),
    etcd,
    controlPlane,
    ...scheduleFields(ownScheduledStore, 0),
    monitoring: backupMonitoring,
  },
  rules(
    [oneOf('etcd', 'controlPlane'), 'give exactly one of etcd and controlPlane'],
    [
      'has(self.controlPlane) || !self.stores.exists(store, has(store.filesystem) && has(store.filesystem.hostPath))',
      'hostPath is only for controlPlane, because other pods run on any node: give persistentVolumeClaim or nfs',
      { fieldPath: '.stores' },
    ],
    [
      '!has(self.controlPlane) || !has(self.controlPlane.files) || has(self.encryption) || has(self.controlPlane.files.encryption)',
      'files contain keys, so they are stored only with encryption: give encryption for the backup or for files',
      { fieldPath: '.controlPlane.files' },
    ],
    [
      '!has(self.controlPlane) || !has(self.affinity) || !has(self.affinity.nodeAffinity) || !has(self.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution)',
      'affinity must not require nodes with controlPlane, whose pods must be where etcd runs, which nodeLabels decides: remove nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution',
      { fieldPath: '.affinity' },
    ],
    ...scheduleRules,
    jobAccountRule,
  ),
);

export const etcdBackupSchedule = rendered({
  kind: 'EtcdBackupSchedule',
  description:
    'A backup schedule of an etcd that is not an EtcdCluster: of one that something else runs, or of the control plane. An EtcdCluster has its own schedules in spec.backup.schedules. `npx cdk8s-etcd render` makes the CronJob, which has the same name, and all other objects. It is not a resource of the API server.',
  nameLength: 52,
  spec,
  rules: rules([
    `has(self.spec.serviceAccountName) || self.metadata.name != '${defaultReconciler}'`,
    'metadata.name is also the name of its ServiceAccount, and that of the reconciler: choose another name, or give spec.serviceAccountName',
  ]),
});
