/** Every `reason` of GET /status. docs/clusters/member-pods.md explains each of them. */
export const agentReasons = [
  // The record
  'NoRecord',
  'RecordUnreachable',
  'RecordNotUnderstood',
  'RecordRolledBack',
  'ForeignRecord',
  // The volume
  'VolumeBusy',
  'VolumeReadOnly',
  'VolumeUnreadable',
  'DiskFull',
  'ForeignData',
  'NoIdentity',
  'DataGone',
  'OldEpoch',
  'Removed',
  'VolumeSetBack',
  // The version
  'VersionRefused',
  'NeedsSnapshot',
  'VersionMismatch',
  // The member
  'UnknownMember',
  'DuplicateMember',
  'EtcdDown',
  // The work of the gate
  'PermitRefused',
  'NameNotResolved',
  'ConfigRefused',
  'RestoreFailed',
  'Salvage',
  'SalvageFailed',
  'GateFailed',
] as const;

export type AgentReason = (typeof agentReasons)[number];
