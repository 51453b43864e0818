import type { EtcdAuth } from '../etcd/etcd-auth';
import { type BackupPodTls, keyOf } from '../lib/backup-pod';
import { labelOf } from '../lib/labels';
import type { EtcdConnectOptions } from './etcd-client-props';
import type { PodAddition } from './pod-template';

/** How a client connects. */
export interface Connection {
  /** Names the client: `<cluster>-<id>`. */
  readonly name: string;
  readonly endpoints: readonly string[];
  readonly tls?: BackupPodTls;
  /** Where the name and the password of the user are. */
  readonly login?: ReturnType<EtcdAuth['_files']>;
  readonly podLabels: Readonly<Record<string, string>>;
}

export const defaultEnvPrefix = 'ETCDCTL';

/** Returns what the pods of a client need: its files, and where they are and what else to use in variables. */
export function clientPod(connection: Connection, options: EtcdConnectOptions): PodAddition {
  const { name, tls, login, podLabels } = connection;
  const { mountPath = `/etc/etcd-client/${name}`, envPrefix = defaultEnvPrefix, containers } = options;
  const variables = {
    ENDPOINTS: { value: connection.endpoints.join(',') },
    CACERT: tls && { value: `${mountPath}/ca.crt` },
    CERT: tls?.clientCertificate && { value: `${mountPath}/tls.crt` },
    KEY: tls?.clientCertificate && { value: `${mountPath}/tls.key` },
    USER: login && fromSecret(login, 'username'),
    PASSWORD: login && fromSecret(login, 'password'),
  };
  return {
    labels: podLabels,
    volume: tls && { name: labelOf(`etcd-${name.replaceAll('.', '-')}`), ...volumeOf(tls) },
    mountPath,
    env: Object.entries(variables).flatMap(([each, value]) =>
      value ? [{ name: `${envPrefix}_${each}`, ...value }] : [],
    ),
    containers,
  };
}

/** A Secret that the reconciler still has to fill keeps the pod waiting, because `items` names its keys. */
function volumeOf({ files, trust }: BackupPodTls): object {
  const { secretName, configMapName, items } = files;
  if (secretName === undefined) return { configMap: { items, name: configMapName } };
  if (!trust) return { secret: { items, secretName } };
  const own = ['tls.crt', 'tls.key'].map((path) => ({ key: keyOf(files, path), path }));
  const authorities = [{ key: trust.key, path: 'ca.crt' }];
  const sources = [
    { secret: { items: own, name: secretName } },
    { secret: { items: authorities, name: trust.secretName } },
  ];
  return { projected: { sources } };
}

function fromSecret(login: NonNullable<Connection['login']>, path: string): object {
  return { valueFrom: { secretKeyRef: { key: keyOf(login, path), name: login.secretName } } };
}
