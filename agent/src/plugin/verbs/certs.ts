import { withDefaultNames } from '../../../../src/tls/default-names.ts';
import type { KubeObject } from '../../kube/objects.ts';
import { table } from '../../lib/terminal/table.ts';
import { needsAttention } from '../../protocol/condition.ts';
import { Exit } from '../exit.ts';
import type { ClusterObject, UserObject } from '../objects.ts';
import type { Session } from '../session.ts';
import { isCurrent, oldness } from '../status/currency.ts';
import { readLease } from '../status/read.ts';
import { plain, wrap } from '../text.ts';
import { outputOption, type Verb } from '../verb.ts';

export const certs: Verb = {
  name: 'certs',
  args: '[name]',
  about: 'show the certificates of a cluster and of its users: until when each is valid, and when it is renewed',
  options: [outputOption],
  async run({ args, flags, terminal, connect }) {
    const session = await connect();
    const cluster = await session.cluster(args[0]);
    const rows = await certificates(session, cluster);
    const condition = cluster.status?.conditions?.find(({ type }) => type === 'CertificatesReady');
    const isWrong = condition !== undefined && needsAttention(condition);
    const current = isCurrent(cluster.status ?? {}, session.now, await readLease(session, cluster));
    const isExpired = rows.some(({ notAfter }) => Date.parse(notAfter ?? '') < session.now);
    const exit = isWrong || isExpired || !current ? Exit.bad : Exit.done;
    if (flags.output === 'json') {
      terminal.print(
        JSON.stringify({ cluster: cluster.metadata.name, current, condition, certificates: rows }, undefined, 2),
      );
      return exit;
    }
    const header = ['SECRET', 'VALID UNTIL', 'LEFT', 'RENEWED', 'SECRET EXISTS'];
    terminal.print(
      [
        ...(current ? [] : [wrap(oldness(cluster.status ?? {}, session.now), terminal.width)]),
        rows.length > 0
          ? table(
              header,
              rows.map((row) => cells(row, session.now)),
            )
          : `${cluster.metadata.name}: it has no TLS`,
        ...(condition
          ? [
              wrap(
                `CertificatesReady is ${condition.status}: ${condition.reason}: ${condition.message}`,
                terminal.width,
              ),
            ]
          : []),
        ...notes(rows, isManaged(cluster), condition?.reason === 'AuthorityLost').map((note) =>
          wrap(note, terminal.width),
        ),
      ].join('\n\n'),
    );
    return exit;
  },
};

const isManaged = ({ spec }: ClusterObject): boolean => spec.tls?.managed !== undefined;

function notes(rows: readonly Certificate[], managed: boolean, isLost: boolean): string[] {
  const missing = rows.filter(({ exists }) => exists === false).map(({ secret }) => secret);
  const isDateless = rows.some(({ notAfter, exists }) => !notAfter && exists !== false);
  const dateless = managed
    ? '?: the reconciler has not reported a date yet.'
    : '?: the reconciler does not issue it, and reports no date. Its issuer knows it, such as kubectl get certificates of cert-manager.';
  const apply = isLost
    ? 'do first what CertificatesReady says'
    : 'apply the manifests of the cluster and of its users again';
  const how = managed ? apply : 'its issuer has to write it';
  return [...(missing.length > 0 ? [`Missing: ${missing.join(', ')}: ${how}`] : []), ...(isDateless ? [dateless] : [])];
}

interface Certificate {
  readonly secret: string;
  readonly notAfter?: string | undefined;
  readonly renewAt?: string | undefined;
  /** Undefined: the user may not list Secrets. */
  readonly exists?: boolean | undefined;
}

async function certificates(session: Session, { metadata, spec, status = {} }: ClusterObject): Promise<Certificate[]> {
  const { client, paths } = session;
  const [secrets, users] = await Promise.all([
    // Metadata alone: whoever looks at dates needs no key.
    session.optional('secrets', client.list<KubeObject>(paths.of('secrets'), undefined, { metadataOnly: true })),
    session.optional('etcdusers', client.list<UserObject>(paths.of('etcdusers'))),
  ]);
  const issued = status.certificates ?? [];
  const tls = spec.tls && withDefaultNames(metadata.name, spec.tls);
  const named = secretsOf(tls ?? {}).filter((secret) => !issued.some((each) => each.secret === secret));
  const authority = issued.find((each) => each.secret === tls?.managed?.clientAuthority);
  // An authority that is lost renews nothing, whatever was planned before.
  const isLost = authority !== undefined && authority.renewAt === undefined;
  const ofUsers = (users?.items ?? []).flatMap((user) =>
    user.spec.clusterName === metadata.name && user.spec.certificateSecret
      ? [
          {
            secret: user.spec.certificateSecret,
            ...user.status?.certificate,
            ...(isLost ? { renewAt: undefined } : {}),
          },
        ]
      : [],
  );
  const exists = (secret: string) => secrets?.items.some((each) => each.metadata.name === secret);
  return [...issued, ...named.map((secret) => ({ secret })), ...ofUsers].map(({ secret, ...dates }: Certificate) => ({
    secret,
    notAfter: dates.notAfter,
    renewAt: dates.renewAt,
    exists: exists(secret),
  }));
}

/** Names of Secrets with certificates in `spec.tls`: every field whose name ends in Secret or Authority. */
export const secretsOf = (tls: object): string[] => [
  ...new Set(
    Object.entries(tls).flatMap(([field, value]) => {
      // It has authorities alone, of both sources.
      if (field === 'trustSecret') return [];
      if (typeof value === 'object' && value !== null) return secretsOf(value);
      return typeof value === 'string' && /(Secret|Authority)$/.test(field) ? [value] : [];
    }),
  ),
];

function cells({ secret, notAfter, renewAt, exists }: Certificate, now: number): string[] {
  const left = Math.floor((Date.parse(notAfter ?? '') - now) / 86_400_000);
  const days = left < 0 ? 'EXPIRED' : `${left} days`;
  return [
    secret,
    notAfter?.slice(0, 10) ?? '?',
    notAfter ? days : '?',
    renewAt?.slice(0, 10) ?? (notAfter ? 'never' : '?'),
    exists === undefined ? '?' : exists ? 'yes' : 'NO',
  ].map(plain);
}
