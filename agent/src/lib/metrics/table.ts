/** What serves or writes a metric. */
export const sources = ['reconciler', 'member agent', 'command', 'exporter'] as const;
export type MetricSource = (typeof sources)[number];

interface Metric {
  readonly type: 'gauge' | 'counter';
  /** The label `namespace` may be left out. */
  readonly labels: readonly string[];
  readonly from: readonly MetricSource[];
  /** One sentence or more, with the unit if the name does not end in it. */
  readonly help: string;
}

const ofStore = ['namespace', 'etcd_cluster', 'store'] as const;
const ofRun = ['command', 'namespace', 'etcd_cluster'] as const;
const ofRunAtStore = ['command', 'namespace', 'etcd_cluster', 'store'] as const;
const ofMember = ['etcd_cluster', 'pod'] as const;
const ofSchedule = ['etcd_cluster', 'schedule'] as const;
const reconciler = ['reconciler'] as const;
const member = ['member agent'] as const;
const command = ['command'] as const;
const exporter = ['exporter'] as const;
const stores = ['command', 'exporter'] as const;

/** Every metric of ours. A scrape, a textfile and docs/reference/metrics.md have them in this order. */
export const metrics = {
  etcd_reconciler_leader: {
    type: 'gauge',
    labels: [],
    from: reconciler,
    help: '1 if this reconciler holds the Lease.',
  },
  etcd_reconciler_synced: {
    type: 'gauge',
    labels: ['resource'],
    from: reconciler,
    help: '1 if all objects of the kind are known.',
  },
  etcd_reconciler_lists_total: {
    type: 'counter',
    labels: ['resource'],
    from: reconciler,
    help: 'Number of full lists of a kind.',
  },
  etcd_reconciler_passes_total: {
    type: 'counter',
    labels: ['etcd_cluster'],
    from: reconciler,
    help: 'Number of passes over a cluster.',
  },
  etcd_reconciler_last_pass_timestamp_seconds: {
    type: 'gauge',
    labels: ['etcd_cluster'],
    from: reconciler,
    help: 'Time of the last pass over a cluster.',
  },
  etcd_reconciler_actions_total: {
    type: 'counter',
    labels: ['etcd_cluster', 'action'],
    from: reconciler,
    help: 'Number of actions that were started.',
  },
  etcd_reconciler_actions_done_total: {
    type: 'counter',
    labels: ['etcd_cluster', 'action'],
    from: reconciler,
    help: 'Number of actions that succeeded.',
  },
  etcd_reconciler_backups: {
    type: 'gauge',
    labels: ['phase'],
    from: reconciler,
    help: 'Number of EtcdBackups by phase.',
  },
  etcd_cluster_phase: {
    type: 'gauge',
    labels: ['etcd_cluster', 'phase', 'reason'],
    from: reconciler,
    help: 'Phase of the EtcdCluster, and its reason: 1 for the present ones; others have no series.',
  },
  etcd_cluster_condition: {
    type: 'gauge',
    labels: ['etcd_cluster', 'condition', 'status', 'reason'],
    from: reconciler,
    help: 'Conditions of the EtcdCluster: 1 for the present status (True, False or Unknown) and its reason; others have no series.',
  },
  etcd_cluster_operation_start_timestamp_seconds: {
    type: 'gauge',
    labels: ['etcd_cluster', 'operation'],
    from: reconciler,
    help: 'Start of the operation in progress, as the record says. Absent while there is none. While the record cannot be read, the last known one stays.',
  },
  etcd_cluster_pods: {
    type: 'gauge',
    labels: ['etcd_cluster'],
    from: reconciler,
    help: 'Number of pods that the cluster should have now.',
  },
  etcd_cluster_voters: { type: 'gauge', labels: ['etcd_cluster'], from: reconciler, help: 'Number of voting members.' },
  etcd_cluster_ready_voters: {
    type: 'gauge',
    labels: ['etcd_cluster'],
    from: reconciler,
    help: 'Number of voting members that answer and have a ready pod.',
  },
  etcd_cluster_epoch: {
    type: 'gauge',
    labels: ['etcd_cluster'],
    from: reconciler,
    help: 'Epoch: number of bootstraps and restores of the cluster.',
  },
  etcd_cluster_member_info: {
    type: 'gauge',
    labels: ['etcd_cluster', 'pod', 'member_id', 'role', 'version'],
    from: reconciler,
    help: 'Always 1: the member of a pod, its role (Leader, Follower or Learner) and its etcd version. A label is empty while its value is not known.',
  },
  etcd_cluster_member_healthy: {
    type: 'gauge',
    labels: ofMember,
    from: reconciler,
    help: '1 if the member of the pod answered the last pass as a member of this cluster, with a leader and a small lag.',
  },
  etcd_cluster_member_lag_entries: {
    type: 'gauge',
    labels: ofMember,
    from: reconciler,
    help: 'Number of raft entries that the member has not applied yet, compared with the newest that any member knows. Absent if it did not answer the last pass.',
  },
  etcd_cluster_member_database_size_bytes: {
    type: 'gauge',
    labels: ofMember,
    from: reconciler,
    help: 'Size of the database of the member, free pages included. Absent if it did not answer the last pass.',
  },
  etcd_cluster_last_backup_timestamp_seconds: {
    type: 'gauge',
    labels: ['etcd_cluster'],
    from: reconciler,
    help: 'Time of the newest backup that was verified when it was taken (level read or higher). Absent before the first one.',
  },
  etcd_cluster_last_backup_revision: {
    type: 'gauge',
    labels: ['etcd_cluster'],
    from: reconciler,
    help: 'Revision of etcd in that backup.',
  },
  etcd_cluster_last_backup_size_bytes: {
    type: 'gauge',
    labels: ['etcd_cluster'],
    from: reconciler,
    help: 'Size of that backup: the database and its checksum.',
  },
  etcd_cluster_backup_run_failed: {
    type: 'gauge',
    labels: ofSchedule,
    from: reconciler,
    help: '1 if the newest run of the schedule failed.',
  },
  etcd_cluster_backup_run_timestamp_seconds: {
    type: 'gauge',
    labels: ofSchedule,
    from: reconciler,
    help: 'End of the newest run of the schedule, whatever its level of verification.',
  },
  etcd_cluster_backup_run_duration_seconds: {
    type: 'gauge',
    labels: ofSchedule,
    from: reconciler,
    help: 'How long the newest run of the schedule took, from the creation of its Job.',
  },
  etcd_cluster_backup_size_bytes: {
    type: 'gauge',
    labels: ofSchedule,
    from: reconciler,
    help: 'Size of the newest snapshot of the schedule.',
  },
  etcd_cluster_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    labels: ['etcd_cluster', 'secret'],
    from: reconciler,
    help: 'End of the certificate in a Secret that the reconciler writes.',
  },
  etcd_cluster_certificate_renewal_timestamp_seconds: {
    type: 'gauge',
    labels: ['etcd_cluster', 'secret'],
    from: reconciler,
    help: 'When the reconciler renews that certificate. Absent if it will not be renewed as things are.',
  },
  etcd_agent_info: {
    type: 'gauge',
    labels: ['version', 'etcd'],
    from: member,
    help: 'Always 1: the version of the agent, and the version of etcd that the pod template names.',
  },
  etcd_agent_state: {
    type: 'gauge',
    labels: ['state'],
    from: member,
    help: 'State of the agent: 1 for the current state, 0 for the others.',
  },
  etcd_agent_reason: {
    type: 'gauge',
    labels: ['reason'],
    from: member,
    help: 'Reason why the agent cannot continue: 1 for the current reason. Absent without one.',
  },
  etcd_agent_epoch: { type: 'gauge', labels: [], from: member, help: 'Epoch of the data.' },
  etcd_agent_record_revision: {
    type: 'gauge',
    labels: [],
    from: member,
    help: 'Revision of the newest record seen.',
  },
  etcd_agent_record_age_seconds: {
    type: 'gauge',
    labels: [],
    from: member,
    help: 'Time since the record was last read.',
  },
  etcd_agent_permit_wait_seconds: {
    type: 'gauge',
    labels: [],
    from: member,
    help: 'How long the volume has been waiting for a permit; 0 if it is not waiting.',
  },
  etcd_agent_etcd_up: {
    type: 'gauge',
    labels: [],
    from: member,
    help: '1 if etcd answers on its metrics port.',
  },
  etcd_agent_volume_free_bytes: { type: 'gauge', labels: [], from: member, help: 'Free space of the volume.' },
  etcd_agent_volume_size_bytes: { type: 'gauge', labels: [], from: member, help: 'Size of the volume.' },
  etcd_agent_quarantine_directories: {
    type: 'gauge',
    labels: [],
    from: member,
    help: 'Number of directories in quarantine/.',
  },
  etcd_agent_certificate_expiry_timestamp_seconds: {
    type: 'gauge',
    labels: ['certificate'],
    from: member,
    help: 'End of a certificate on disk: peer (of the member among members), server (for clients) or client (of root). Absent without TLS, and for a file that cannot be read.',
  },
  etcd_agent_certificate_lifetime_seconds: {
    type: 'gauge',
    labels: ['certificate'],
    from: member,
    help: 'How long the certificate is valid in all.',
  },
  etcd_backup_store_up: {
    type: 'gauge',
    labels: ofStore,
    from: exporter,
    help: '1 if the last read of the store worked: it was listed, and every manifest was read that may be of a newer snapshot than the newest verified one. 0 if it failed, or was not done in time. Absent before the first read has ended.',
  },
  etcd_backup_store_last_read_timestamp_seconds: {
    type: 'gauge',
    labels: ofStore,
    from: exporter,
    help: 'End of the last read of the store that worked. What else is reported of the store is what that read saw. Absent before the first one.',
  },
  etcd_backup_last_verified_timestamp_seconds: {
    type: 'gauge',
    labels: ofStore,
    from: stores,
    help: 'When the newest snapshot was taken that has been read back and compared, by backup or a later verify (level read or higher); 0 when there is none.',
  },
  etcd_backup_last_verified_revision: {
    type: 'gauge',
    labels: ofStore,
    from: exporter,
    help: 'Revision of etcd in the newest verified snapshot. Absent if its manifest does not say it.',
  },
  etcd_backup_last_snapshot_duration_seconds: {
    type: 'gauge',
    labels: ofStore,
    from: exporter,
    help: 'How long it took to take and store the newest verified snapshot. Absent if its manifest does not say it.',
  },
  etcd_backup_last_snapshot_size_bytes: {
    type: 'gauge',
    labels: ofStore,
    from: stores,
    help: 'Size of the newest verified snapshot, database and checksum.',
  },
  etcd_backup_last_snapshot_stored_bytes: {
    type: 'gauge',
    labels: ofStore,
    from: stores,
    help: 'Size of the newest verified snapshot in the store.',
  },
  etcd_backup_snapshots: {
    type: 'gauge',
    labels: ofStore,
    from: stores,
    help: 'Number of snapshots in the store, verified or not.',
  },
  etcd_backup_etcd_up: {
    type: 'gauge',
    labels: ['namespace', 'etcd_cluster'],
    from: exporter,
    help: '1 if an endpoint of etcd answered when it was last asked. Absent before it was asked, and if no endpoint is named.',
  },
  etcd_backup_etcd_revision: {
    type: 'gauge',
    labels: ['namespace', 'etcd_cluster'],
    from: exporter,
    help: 'Highest revision that a member of etcd reported when etcd was last asked. Absent if none of the endpoints answered.',
  },
  etcd_backup_database_size_bytes: {
    type: 'gauge',
    labels: ['namespace', 'etcd_cluster'],
    from: command,
    help: 'Size of the database when it was last backed up, free pages included.',
  },
  etcd_backup_database_in_use_bytes: {
    type: 'gauge',
    labels: ['namespace', 'etcd_cluster'],
    from: command,
    help: 'Size of the database when it was last backed up, without free pages.',
  },
  etcd_backup_last_run_timestamp_seconds: {
    type: 'gauge',
    labels: ofRun,
    from: command,
    help: 'When the last run of the command ended.',
  },
  etcd_backup_last_run_exit_code: {
    type: 'gauge',
    labels: ofRun,
    from: command,
    help: 'Exit code of the last run of the command; 0 is success.',
  },
  etcd_backup_last_run_duration_seconds: {
    type: 'gauge',
    labels: ofRun,
    from: command,
    help: 'How long the last run of the command took.',
  },
  etcd_backup_last_run_phase_duration_seconds: {
    type: 'gauge',
    labels: [...ofRun, 'phase'],
    from: command,
    help: 'How long each phase of the last run took.',
  },
  etcd_backup_last_run_copied_snapshots: {
    type: 'gauge',
    labels: ofRunAtStore,
    from: command,
    help: 'Number of snapshots that the last run copied to the store.',
  },
  etcd_backup_last_run_deleted_snapshots: {
    type: 'gauge',
    labels: ofRunAtStore,
    from: command,
    help: 'Number of snapshots that retention deleted in the last run.',
  },
  etcd_backup_last_run_deferred_snapshots: {
    type: 'gauge',
    labels: ofRunAtStore,
    from: command,
    help: 'Number of snapshots that retention left for the next run.',
  },
  etcd_backup_last_run_failed_snapshots: {
    type: 'gauge',
    labels: ofRunAtStore,
    from: command,
    help: 'Number of snapshots that the last run found damaged or could not copy.',
  },
  process_resident_memory_bytes: {
    type: 'gauge',
    labels: [],
    from: ['reconciler', 'exporter'],
    help: 'Resident memory of the process.',
  },
  process_cpu_seconds_total: {
    type: 'counter',
    labels: [],
    from: ['reconciler', 'exporter'],
    help: 'CPU time of the process.',
  },
} as const satisfies Readonly<Record<string, Metric>>;

export type MetricName = keyof typeof metrics;
type Label<N extends MetricName> = (typeof metrics)[N]['labels'][number];
type Needed<N extends MetricName> = Exclude<Label<N>, 'namespace'>;

/** The labels of a metric, and no others. Only `namespace` may be left out. */
export type LabelsOf<N extends MetricName> = { readonly [L in Needed<N>]: string } & {
  readonly [L in Exclude<Label<N>, Needed<N>>]?: string | undefined;
} & { readonly [L in Exclude<Label<MetricName>, Label<N>>]?: undefined };
