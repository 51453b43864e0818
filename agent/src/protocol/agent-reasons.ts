/** Every `reason` of GET /status. docs/clusters/member-pods.md has a line for each. */
export const agentReasons = [
  // Of the record
  'NoRecord',
  'RecordUnreachable',
  'RecordNotUnderstood',
  'RecordRolledBack',
  'ForeignRecord',
  // Of the volume
  'VolumeBusy',
  'VolumeReadOnly',
  'VolumeUnreadable',
  'DiskFull',
  'ForeignData',
  'NoIdentity',
  'DataGone',
  'OldEpoch',
  'Removed',
  // Of the version
  'VersionRefused',
  'NeedsSnapshot',
  'VersionMismatch',
  // Of the member
  'UnknownMember',
  'DuplicateMember',
  'EtcdDown',
  // Of the gate's work
  'PermitRefused',
  'NameNotResolved',
  'ConfigRefused',
  'RestoreFailed',
  'Salvage',
  'SalvageFailed',
  'GateFailed',
] as const;

export type AgentReason = (typeof agentReasons)[number];
