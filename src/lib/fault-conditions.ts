/** The conditions of an EtcdCluster that show a fault, and their status then. */
export const faultConditions = {
  Available: 'False',
  Degraded: 'True',
  QuorumLost: 'True',
  Stalled: 'True',
  Alarm: 'True',
  BackupHealthy: 'False',
  CertificatesReady: 'False',
  TransportReady: 'False',
  AuthReady: 'False',
  VersionSafe: 'False',
  Accepted: 'False',
} as const;

/** Their reasons that belong to normal operations. */
export const expectedReasons: readonly string[] = [
  'Bootstrapping',
  'NoSchedule',
  'Restoring',
  'Starting',
  'NoReadyPod',
  'Issuing',
  'SwitchingTransport',
  'Deleting',
];
