import type { AlsoTrustSpec, TlsSpec } from '../resource/types';
import { isObject } from '../validation/plain-object';
import { authorityNames, otherSecretNames, secretFields, tlsSecretNames, trustSecretName } from './tls-names';

/** `spec.tls` as somebody writes it who leaves out the names of Secrets. */
export type ShortTls = Partial<TlsSpec>;

/** Adds the names of Secrets that are missing: those that the constructs give them. What is of another type is reported elsewhere. */
export function withDefaultNames(cluster: string, tls: ShortTls): TlsSpec {
  const { alsoTrust } = tls;
  return {
    ...sourceWithNames(cluster, tls),
    alsoTrust: isObject(alsoTrust)
      ? {
          ...sourceWithNames(cluster, alsoTrust),
          trustSecret: alsoTrust.trustSecret ?? trustSecretName(cluster),
        }
      : alsoTrust,
  };
}

function sourceWithNames<Source extends ShortTls | AlsoTrustSpec>(cluster: string, source: Source) {
  const { managed, certManager } = source;
  const { rootSecret, backupSecret, ...names } = secretFields(
    managed ? tlsSecretNames(cluster) : otherSecretNames(cluster),
  );
  return {
    ...names,
    // A source that names its Secrets has these two or not.
    ...((managed ?? certManager) && source.clientSecret === undefined && { rootSecret, backupSecret }),
    ...source,
    managed: isObject(managed) ? { ...authorityNames(cluster), ...managed } : managed,
  };
}
