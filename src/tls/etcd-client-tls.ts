import { trustKeys } from '../etcd/trust-keys';
import type { BackupPodTls } from '../lib/backup-pod';
import { CaBundle as caBundle } from '../validation/class-types';
import { type INamed, nameOf } from '../validation/named';
import { keyProblem } from '../validation/names';
import { problemsOf } from '../validation/problems';
import * as types from '../validation/property-types';
import { buildIfValid, required } from '../validation/type-checks';
import { CaBundle } from './ca-bundle';
import type { TlsTrust } from './tls-binding';

/** Names the keys of a Secret that holds a client certificate. */
export interface EtcdClientTlsKeys {
  /**
   * Names the key that holds the certificate of the authority that signed etcd's server certificates.
   * @default ca.crt
   */
  readonly caKey?: string;
  /**
   * Names the key that holds the client certificate.
   * @default tls.crt
   */
  readonly certKey?: string;
  /**
   * Names the key that holds the client certificate's private key.
   * @default tls.key
   */
  readonly keyKey?: string;
}

/** Describes how an etcd client uses TLS: which servers it trusts, and which certificate it presents. */
export class EtcdClientTls {
  /**
   * Uses mutual TLS, with a Secret in the backup's namespace. The default keys are those of cert-manager and of
   * `kubectl create secret generic NAME --from-file=ca.crt --from-file=tls.crt --from-file=tls.key`.
   *
   * @param secret The Secret, or its name.
   * @param keys The keys of the Secret, if they have other names.
   */
  static fromSecret(secret: string | INamed, keys: EtcdClientTlsKeys = {}): EtcdClientTls {
    return buildIfValid(EtcdClientTls.prototype, keys, types.EtcdClientTlsKeys, () =>
      EtcdClientTls.ofSecret(nameOf(secret), keys),
    );
  }

  private static ofSecret(secretName: string, keys: EtcdClientTlsKeys): EtcdClientTls {
    const certKey = keys.certKey ?? 'tls.crt';
    const keyKey = keys.keyKey ?? 'tls.key';
    const ca = CaBundle.fromSecret(secretName, keys.caKey);
    const files = {
      secretName,
      items: [...(ca._files().items ?? []), { key: certKey, path: 'tls.crt' }, { key: keyKey, path: 'tls.key' }],
    };
    return new EtcdClientTls({ files, clientCertificate: true }, [
      ...ca._problems('tls'),
      ...problemsOf(keyProblem('tls: certKey', certKey), keyProblem('tls: keyKey', keyKey)),
    ]);
  }

  /**
   * Uses TLS without a client certificate: the client verifies the server, but does not identify itself.
   *
   * @param ca The CA that signed the certificates of the servers.
   */
  static fromCa(ca: CaBundle): EtcdClientTls {
    return buildIfValid(
      EtcdClientTls.prototype,
      { ca },
      { ca: required(caBundle) },
      () => new EtcdClientTls({ files: ca._files(), clientCertificate: false }, ca._problems('tls')),
    );
  }

  /**
   * Uses files of the node that the pod runs on. The arguments are paths on that node.
   * @internal
   */
  static _fromHost(ca: string, cert: string, key: string): EtcdClientTls {
    const hostFiles = Object.entries({ 'ca.crt': ca, 'tls.crt': cert, 'tls.key': key });
    const files = { hostFiles: hostFiles.map(([path, hostPath]) => ({ hostPath, path })) };
    return new EtcdClientTls({ files, clientCertificate: true }, []);
  }

  /**
   * Takes the authorities from a Secret of their own.
   * @internal
   */
  _trusting(trust: TlsTrust | undefined): EtcdClientTls {
    if (!trust) return this;
    return new EtcdClientTls(
      { ...this.pod, trust: { secretName: trust.secret, key: trustKeys.client } },
      this.problems,
    );
  }

  private constructor(
    private readonly pod: BackupPodTls,
    private readonly problems: readonly string[],
  ) {}

  /** @internal */
  _pod(): BackupPodTls {
    return this.pod;
  }

  /** @internal */
  _problems(): readonly string[] {
    return this.problems;
  }
}
