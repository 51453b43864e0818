import { ports } from '../../../../src/etcd/cluster-ports.ts';
import { trustKeys } from '../../../../src/etcd/trust-keys.ts';
import type { BackupPodTls } from '../../../../src/lib/backup-pod.ts';
import type { NamedTls } from '../../../../src/tls/default-names.ts';

/** The name in the pods of the port of the members' agents that passes on to etcd what a backup needs, and nothing else. */
export const backupPortName: keyof typeof ports = 'backup';

/**
 * The Secret and the port with which a backup connects. With a certificate of its own it asks the members' agents, which works
 * whether authentication is on or off.
 */
export const backupAccess = (tls: NamedTls | undefined): { readonly secretName?: string; readonly port: number } =>
  tls?.backupSecret === undefined
    ? { secretName: tls?.clientSecret, port: ports.client }
    : { secretName: tls.backupSecret, port: ports.backup };

/** The files with which a backup connects to a cluster with TLS. */
export function backupTls(tls: NamedTls | undefined): BackupPodTls | undefined {
  const { secretName } = backupAccess(tls);
  if (secretName === undefined) return undefined;
  const { trustSecret } = tls?.alsoTrust ?? {};
  const trust = trustSecret === undefined ? undefined : { secretName: trustSecret, key: trustKeys.client };
  return { files: { secretName }, clientCertificate: true, trust };
}
