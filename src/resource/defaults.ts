// Written by `npm run generate` from scripts/crds/.

/** What a field means while it is missing, by the types of types.ts. A field whose default is no constant is not here. */
export const defaults = {
  EtcdClusterSpec: {
    size: 3,
    allowEvenSize: false,
    paused: false,
    replace: { policy: 'OnVolumeLoss', force: { discardVolume: false } },
    recovery: { action: 'RestoreFromSurvivor' },
    storage: { ephemeral: false },
    pvcPolicy: { onShrink: 'Retain', onDelete: 'Retain' },
    backup: { requiredForUpgrade: false },
    maintenance: { onNoSpace: 'CompactDefragDisarm' },
  },
  EtcdBackupSpec: { tls: { clientCertificate: true } },
  EtcdRestoreSpec: { safetyBackup: true, ignoreUnreachablePods: false },
  ExistingEtcdSpec: { tls: { clientCertificate: true } },
} as const;
