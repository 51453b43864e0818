import { problemsOf } from '../validation/problems';
import type { TlsBinding } from './tls-binding';
import { managedSecrets, trustSecretName } from './tls-names';

// The source of certificates is changed in three steps: trust both, use the other, trust it alone. The pods take `ca.crt` from a
// Secret with the authorities of both, because a volume cannot join two files.

/** Adds `alsoTrust` to the binding of a cluster. */
export function withTrust(binding: TlsBinding, other: TlsBinding | undefined, cluster: string): TlsBinding {
  if (!binding.secrets || !other) return binding;
  const { secrets } = other;
  if (!secrets)
    return withProblem(
      binding,
      'EtcdTls.none has no authorities; to switch TLS off, give EtcdTls.none({ previous: … })',
    );
  if (other.disabling || other.trust)
    return withProblem(binding, 'takes a source alone; give it without previous and without an alsoTrust of its own');
  const trusted = trustSecretName(cluster);
  const names = [trusted, ...namesOf(binding)];
  const both =
    namesOf({ ...other, secrets }).find((name) => names.includes(name)) ??
    namesOf(binding).find((name) => name === trusted);
  if (both !== undefined)
    return withProblem(
      binding,
      `the Secret ${both} has more than one purpose, so not all of its contents could be kept; change by way of a source with other Secrets`,
    );
  const problems = problemsOf(...binding.problems, ...other.problems);
  return { ...binding, problems, trust: { secret: trusted, other: { ...other, secrets } } };
}

/** Names of all Secrets of a source. */
const namesOf = ({ secrets, managed }: TlsBinding): string[] =>
  secrets
    ? managed
      ? managedSecrets(secrets, managed)
      : Object.values(secrets).filter((name) => name !== undefined)
    : [];

const withProblem = (binding: TlsBinding, problem: string): TlsBinding => ({
  ...binding,
  problems: [...binding.problems, `tls: alsoTrust: ${problem}`],
});

/** The source whose Secrets the reconciler writes: that of the members, or the one that they trust too. */
export function issuedSource(tls: TlsBinding): Required<Pick<TlsBinding, 'secrets' | 'managed'>> | undefined {
  const [found] = [tls, tls.trust?.other].flatMap((source) =>
    source?.secrets && source.managed ? [{ secrets: source.secrets, managed: source.managed }] : [],
  );
  return found;
}
