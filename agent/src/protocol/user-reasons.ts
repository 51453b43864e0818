/** Every reason of the condition Ready of an EtcdUser, with its message. */
export const userReasons = {
  UserReady: 'etcd has the user with exactly these permissions',
  // In progress
  Pending: 'the user, its role or its permissions are being changed in etcd',
  CertificatePending: 'the certificate of the user is being issued',
  Deleting: 'the EtcdUser is being deleted',
  // The cluster
  ClusterNotFound: 'there is no such EtcdCluster in this namespace; create it, or correct spec.clusterName',
  ClusterDeleting: 'the EtcdCluster is being deleted; its users are not changed any more',
  ClusterNotServing: 'etcd does not answer, or a restore is in progress; nothing is changed until it does',
  Paused: 'spec.paused of the EtcdCluster is true, so nothing is changed in etcd; set it to false',
  RootCertificateMissing:
    'the EtcdCluster has no certificate of root (spec.tls.rootSecret), without which users cannot be managed; use EtcdTls.managed() or EtcdTls.certManager(), or give root and backup to EtcdTls.fromSecrets()',
  RootCertificateUnusable: 'the certificate of root cannot be used',
  AuthOff: 'spec.auth of the EtcdCluster is false, so everybody may read and write everything; remove it, or set true',
  EtcdTooOld:
    'etcd 3.4 lets everybody with a certificate compact its history, also a deleted user; request version 3.5 or newer',
  // This EtcdUser
  NameReserved: 'this name of a user is reserved; set another spec.userName',
  NameTaken: 'an older EtcdUser has the same user',
  SecretTaken: 'the Secret of the user is that of an older EtcdUser or of an EtcdCluster',
  ForeignUser: 'etcd has a user of this name that no EtcdUser made, so it is left alone',
  PermissionUnknown:
    'spec.permissions has a kind of permission that this reconciler does not know; update the reconciler',
  RefusedByEtcd: 'etcd refuses a change of this user',
  PasswordProblem: 'the password of the user cannot be taken from its Secret',
  CertificateProblem: 'the certificate of the user cannot be issued or renewed',
} as const satisfies Record<string, string>;

export type UserReason = keyof typeof userReasons;
