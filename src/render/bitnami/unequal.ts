const own = 'is made by the library in its own way; remove it';
const probes = 'the probes belong to the members, whose agent knows how etcd starts; remove it';

/**
 * What the values have no equal for, by their first part. docs/clusters/move-from-bitnami.md lists those that change what a user
 * gets; a value that is empty, or the switch of which is off, is not reported.
 */
export const unequal: Readonly<Record<string, string>> = {
  args: own,
  command: own,
  configuration: 'its fields belong into spec.settings and spec.tuning of the EtcdCluster; write them there',
  customLivenessProbe: probes,
  customReadinessProbe: probes,
  customStartupProbe: probes,
  defrag:
    'nothing is defragmented on a schedule, because etcd uses free pages again; kubectl etcd defrag does it one member after the other',
  existingConfigmap: 'its fields belong into spec.settings and spec.tuning of the EtcdCluster; write them there',
  extraDeploy: 'apply these objects separately',
  extraEnvVarsCM: 'write its variables into spec.containers.etcd.envFrom of the EtcdCluster',
  extraEnvVarsSecret: 'write its variables into spec.containers.etcd.envFrom of the EtcdCluster',
  extraVolumeClaimTemplates: 'a member has one volume, that of its data; add what it mounts to spec.volumes',
  extraVolumeMounts: 'write it into spec.containers.etcd.volumeMounts of the EtcdCluster',
  extraVolumes: 'write it into spec.volumes of the EtcdCluster',
  hostAliases: 'write it into spec.hostAliases of the EtcdCluster',
  initContainers: 'write it into spec.initContainers of the EtcdCluster',
  lifecycleHooks: own,
  networkPolicy: 'who may connect is spec.networkAccess of the EtcdCluster; by default every pod of its namespace may',
  persistentVolumeClaimRetentionPolicy:
    'what happens to volumes is spec.pvcPolicy and spec.onDelete of the EtcdCluster; by default they are kept',
  service: 'the Services are spec.service and spec.externalServices of the EtcdCluster',
  serviceAccount: 'a member has a ServiceAccount without rights; to name another, write spec.serviceAccountName',
  sidecars: 'write it into spec.sidecars of the EtcdCluster',
  startFromSnapshot:
    'a file in a claim is no store: adopt it as docs/backups/adopt.md says, and name it in spec.origin of the EtcdCluster',
  topologySpreadConstraints: 'members are spread over nodes and zones; spec.spread of the EtcdCluster changes that',
};

/** How the chart does its work: nothing of it is lost. */
export const mechanics: readonly string[] = [
  ...['automountServiceAccountToken', 'containerPorts', 'containerSecurityContext', 'diagnosticMode', 'fips', 'global'],
  ...['initialClusterState', 'initialClusterToken', 'kubeVersion', 'livenessProbe', 'podManagementPolicy'],
  ...['podSecurityContext', 'preUpgradeJob', 'readinessProbe', 'removeMemberOnContainerTermination', 'resourcesPreset'],
  ...['shareProcessNamespace', 'startupProbe', 'updateStrategy', 'usePasswordFiles', 'volumePermissions'],
  ...['nodeAffinityPreset', 'podAffinityPreset', 'podAntiAffinityPreset', 'pdb'],
];
