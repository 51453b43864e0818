import type { BackupPodTls } from '../lib/backup-pod';
import { built } from '../validation/kinds';
import { keyProblem, problemsOf } from '../validation/names';
import { clientCaKinds, clientTlsKinds } from '../validation/property-kinds';
import { CaBundle } from './ca-bundle';

/** The keys of a Secret that holds a client certificate. */
export interface EtcdClientTlsKeys {
  /**
   * The authority that signed etcd's server certificates.
   * @default ca.crt
   */
  readonly caKey?: string;
  /**
   * The client certificate.
   * @default tls.crt
   */
  readonly certKey?: string;
  /**
   * The client certificate's private key.
   * @default tls.key
   */
  readonly keyKey?: string;
}

/** How to trust an etcd, and be trusted by it. */
export class EtcdClientTls {
  /**
   * Mutual TLS, with a Secret of the backup's namespace. The default keys are those of cert-manager and of
   * `kubectl create secret generic NAME --from-file=ca.crt --from-file=tls.crt --from-file=tls.key`.
   */
  static fromSecret(secretName: string, keys: EtcdClientTlsKeys = {}): EtcdClientTls {
    return built(EtcdClientTls.prototype, keys, clientTlsKinds, () => EtcdClientTls.ofSecret(secretName, keys));
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

  /** TLS without a client certificate: only the server is checked. */
  static fromCa(ca: CaBundle): EtcdClientTls {
    return built(
      EtcdClientTls.prototype,
      { ca },
      clientCaKinds,
      () => new EtcdClientTls({ files: ca._files(), clientCertificate: false }, ca._problems('tls')),
    );
  }

  /**
   * Files of the machine that the pod runs on, by their paths there.
   * @internal
   */
  static _fromHost(ca: string, cert: string, key: string): EtcdClientTls {
    const hostFiles = Object.entries({ 'ca.crt': ca, 'tls.crt': cert, 'tls.key': key });
    const files = { hostFiles: hostFiles.map(([path, hostPath]) => ({ hostPath, path })) };
    return new EtcdClientTls({ files, clientCertificate: true }, []);
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
