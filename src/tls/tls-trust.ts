import type { TlsSpec } from '../resource/types';
import { problemsOf } from '../validation/problems';
import { trustSecretName } from './default-names';
import type { TlsBinding } from './tls-binding';

// The source of certificates is changed in three steps: trust both, use the other, trust it alone. The pods take `ca.crt` from a
// Secret with the authorities of both, because a volume cannot join two files.

/** `spec.tls` of a cluster, and the problems with the properties from which it was written. */
export interface WrittenTls {
  /** Undefined without TLS. */
  readonly spec?: TlsSpec;
  readonly problems: readonly string[];
}

export type WrittenSource = Required<WrittenTls>;

/** Adds `alsoTrust` to the source of a cluster. */
export function withTrust(own: WrittenSource, other: WrittenTls | undefined, cluster: string): WrittenSource {
  if (!other) return own;
  const { spec } = other;
  if (!spec)
    return withProblem(own, 'EtcdTls.none has no authorities; to switch TLS off, give EtcdTls.none({ previous: … })');
  if (spec.disabling || spec.alsoTrust)
    return withProblem(own, 'takes a source alone; give it without previous and without an alsoTrust of its own');
  const trusted = trustSecretName(cluster);
  const { acceptPlaintextFor: _, ...source } = spec;
  return {
    spec: { ...own.spec, alsoTrust: { trustSecret: trusted, ...source } },
    problems: problemsOf(...own.problems, ...other.problems),
  };
}

const withProblem = ({ spec, problems }: WrittenSource, problem: string): WrittenSource => ({
  spec,
  problems: [...problems, `tls: alsoTrust: ${problem}`],
});

/** The source whose Secrets the reconciler writes: that of the members, or the one that they trust too. */
export function issuedSource(tls: TlsBinding): Required<Pick<TlsBinding, 'secrets' | 'managed'>> | undefined {
  const [found] = [tls, tls.trust?.other].flatMap((source) =>
    source?.secrets && source.managed ? [{ secrets: source.secrets, managed: source.managed }] : [],
  );
  return found;
}
