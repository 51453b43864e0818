import { trustKeys } from '../../etcd/trust-keys';
import type { TlsBinding } from '../../tls/tls-binding';
import type { SecretNames } from '../../tls/tls-secrets';
import { issuedSource } from '../../tls/tls-trust';
import { volumes } from './cluster-containers';

/** Returns the volumes with the certificates of a member. */
export function tlsVolumes(tls: TlsBinding): object[] {
  const { secrets } = tls;
  if (!secrets) return [];
  return [
    volume(volumes.peerTls, [...files(tls, 'peer', secrets.peer), ...revocationList(tls, secrets, 'peer')]),
    volume(volumes.serverTls, [...files(tls, 'server', secrets.server), ...revocationList(tls, secrets, 'server')]),
    ...(secrets.root === undefined ? [] : [volume(volumes.rootTls, files(tls, 'root', secrets.root))]),
  ];
}

/** Files of a Secret. */
interface Source {
  readonly name: string;
  readonly items: readonly { readonly key: string; readonly path: string }[];
  readonly optional?: boolean;
}

function files({ trust }: TlsBinding, of: keyof typeof trustKeys, name: string): Source[] {
  if (!trust) return [{ name, items: named('ca.crt', 'tls.crt', 'tls.key') }];
  return [
    { name, items: named('tls.crt', 'tls.key') },
    { name: trust.secret, items: [{ key: trustKeys[of], path: 'ca.crt' }] },
  ];
}

/** The reconciler writes a list of revoked intermediates together with each certificate. Of your own Secrets, some may have one. */
function revocationList(tls: TlsBinding, own: SecretNames, of: 'peer' | 'server'): Source[] {
  const issued = issuedSource(tls);
  // That of the other source may go, and no pod must wait for it.
  if (issued) return [{ name: issued.secrets[of], items: named('ca.crl'), optional: tls.managed ? undefined : true }];
  const optional = (name: string): Source => ({ name, items: named('ca.crl'), optional: true });
  if (tls.mayRevoke) return [optional(own[of])];
  return tls.trust?.other.mayRevoke ? [optional(tls.trust.other.secrets[of])] : [];
}

const named = (...keys: string[]) => keys.map((key) => ({ key, path: key }));

// With items, the kubelet starts no container before all keys exist, and it keeps the files if a key is deleted.
function volume(name: string, sources: readonly Source[]): object {
  // 0440: the files belong to root and the pod's fsGroup.
  const defaultMode = 0o440;
  const [first] = sources as [Source];
  const isOne = sources.every((source) => source.name === first.name && !source.optional);
  if (isOne)
    return { name, secret: { secretName: first.name, items: sources.flatMap(({ items }) => items), defaultMode } };
  return { name, projected: { sources: sources.map((secret) => ({ secret })), defaultMode } };
}
