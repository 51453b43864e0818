import type { TrustedRoot } from '../../../protocol/agent-status.ts';
import type { ReportedCertificate } from '../../../protocol/cluster-status.ts';
import { type Condition, is, unknown } from '../../../protocol/condition.ts';
import type { Reason } from '../../../protocol/reasons.ts';
import { podName } from '../../port/names.ts';
import type { CertificateReport, Cluster } from '../../port/observed.ts';
import type { View } from '../engine/view.ts';

/** If another program writes the certificates, there is no condition unless members lack something of them. */
export function certificates(v: View): Condition[] {
  const report = v.cluster.certificates;
  if (report) return [ready(v, report)];
  const lacks = [...unloaded(v), ...untrusted(v)];
  return lacks.length > 0 ? [because(lacks)] : [];
}

/** Until members can trust both sources of certificates, none is restarted for it. */
function untrusted({ cluster: { trust } }: View): Problem[] {
  if (trust?.why === undefined) return [];
  const effect = trust.isComplete ? 'members keep the authorities of both sources' : 'no member is restarted yet';
  return [{ reason: 'WaitingForSecrets', message: `${effect}: ${trust.why}` }];
}

/**
 * The certificates to show. Those that were not read again keep their last state. The root of a lost authority is
 * remembered, so that no reconciler creates another one without a request.
 */
export function certificatesOf({ certificates: report, status }: Cluster): ReportedCertificate[] | undefined {
  if (!report) return undefined;
  const all = [...shown(report, status), ...report.authorities];
  return report.secrets.flatMap((name) => all.find(({ secret }) => secret === name) ?? []);
}

/** Of the Secrets that hold certificates, as far as is known. */
function shown({ certificates: seen, unread }: CertificateReport, status: Cluster['status']): ReportedCertificate[] {
  const names = new Set(unread.map(({ secret }) => secret));
  const kept = (status.certificates ?? []).filter(({ secret }) => names.has(secret));
  return [...seen.map(({ span: _, ...each }) => each), ...kept];
}

function ready(v: View, report: CertificateReport): Condition {
  const { looked, goodAge, unread } = report;
  // While a root is replaced, its step decides when to restart.
  const isRotating = report.problems.some(({ reason }) => reason === 'RotatingRoot');
  const over = [...outside(v, report), ...(isRotating ? [] : unloaded(v)), ...untrusted(v)];
  const isFresh = looked !== undefined && looked.age <= v.s.certificatesOld;
  if (over.length > 0) return because([...over, ...(isFresh ? report.problems : [])]);
  if (!looked) return unknown('CertificatesReady', 'StateUnknown', 'the Secrets of the certificates were not read yet');
  if (looked.age > v.s.certificatesOld) {
    const at = new Date(looked.at).toISOString().slice(0, 19);
    return unknown('CertificatesReady', 'StateUnknown', `the Secrets of the certificates were last read at ${at}Z`);
  }
  if (report.problems.length > 0) return because(report.problems);
  if (goodAge === undefined || goodAge > v.s.certificatesOld) {
    const why = unread.map(({ secret, why }) => `Secret ${secret} cannot be read: ${why}`).join('; ');
    return unknown('CertificatesReady', 'StateUnknown', why);
  }
  return is('CertificatesReady', true, 'CertificatesValid');
}

type Problem = CertificateReport['problems'][number];

/** Known by the clock alone, whatever was read since. */
function outside({ cluster }: View, report: CertificateReport): Problem[] {
  const { certificates: seen, now } = report;
  const expired = shown(report, cluster.status).filter(({ notAfter }) => Date.parse(notAfter) <= now);
  const early = seen.filter(({ span }) => span.notBefore > now);
  return [
    ...expired.map(({ secret, notAfter }) => ({
      reason: 'Expired' as const,
      message: `the certificate in Secret ${secret} expired at ${notAfter}`,
    })),
    ...early.map(({ secret, span }) => ({
      reason: 'NotYetValid' as const,
      message: `the certificate in Secret ${secret} is valid from ${new Date(span.notBefore).toISOString()} on: a clock differs`,
    })),
  ];
}

/**
 * Members that must be restarted: etcd reads its roots only when it starts. Unknown content
 * proves nothing: it neither begins a problem nor ends one.
 */
function unloaded(v: View): Problem[] {
  const { o, cluster } = v;
  const found = Object.entries(o.agents).flatMap(([ordinal, agent]) => {
    const { peer, client } = (agent.known && agent.v.roots) || {};
    return [...untrustedRoot(v, ordinal, peer, 'peer'), ...untrustedRoot(v, ordinal, client, 'server')];
  });
  const { conditions = [] } = cluster.status;
  const wasFound =
    cluster.spec.tls &&
    conditions.some(({ type, reason }) => type === 'CertificatesReady' && reason === 'RootNotLoaded');
  return found.length > 0 || wasFound ? [...found, ...silent(v)] : [];
}

type End = keyof typeof endNames;
const endNames = { peer: 'for other members', server: 'for clients' };

function untrustedRoot({ cluster }: View, ordinal: string, root: TrustedRoot | undefined, end: End): Problem[] {
  const { loaded, onDisk } = root ?? {};
  if (loaded === undefined || onDisk === undefined) return [];
  const issued = issuedRoot(cluster, end);
  const lacks = issued !== undefined && !loaded.split('+').includes(issued.root);
  if (loaded === onDisk && !lacks) return [];
  const holds = loaded === onDisk ? `Secret ${issued?.secret} holds ${issued?.root}` : `its ca.crt holds ${onDisk}`;
  const member = podName(cluster, Number(ordinal));
  return [notLoaded(`member ${member} still trusts the root ${loaded} ${endNames[end]}, but ${holds}; restart it`)];
}

/** The root in the Secret that members mount. It reaches their files a minute or two later. */
function issuedRoot({ certificates: report, spec, trust }: Cluster, end: End) {
  const secret = spec.tlsSecrets?.[end];
  // While anything else is wrong with the Secrets, or their source changes, a restart could load what is wrong.
  if (!report || !secret || trust || report.problems.length > 0) return undefined;
  const root = report.certificates.find((each) => each.secret === secret)?.root;
  return root === undefined ? undefined : { secret, root };
}

function silent({ o, cluster }: View): Problem[] {
  return [...Array(cluster.spec.size).keys()].flatMap((ordinal) => {
    const agent = o.agents[ordinal];
    const { peer, client } = (agent?.known && agent.v.roots) || {};
    const ends = [...(peer?.loaded ? [] : [endNames.peer]), ...(client?.loaded ? [] : [endNames.server])];
    if (ends.length === 0) return [];
    const member = podName(cluster, ordinal);
    return [
      notLoaded(
        `it is not known which root member ${member} trusts ${ends.join(' and ')}: its agent does not report it`,
      ),
    ];
  });
}

const notLoaded = (message: string): Problem => ({ reason: 'RootNotLoaded', message });

/** The most urgent problem first; the message has all. */
function because(problems: readonly Problem[]): Condition {
  const sorted = problems.toSorted(
    (a, b) => certificateReasons.indexOf(a.reason) - certificateReasons.indexOf(b.reason),
  );
  const messages = [...new Set(sorted.map(({ message }) => message))];
  return is('CertificatesReady', false, sorted[0]!.reason, messages.join('; '));
}

/** Why certificates are not ready, the most urgent first. */
export const certificateReasons: readonly Reason[] = [
  'ClockDiffers',
  'Expired',
  'NotYetValid',
  'AuthorityLost',
  'AuthorityInvalid',
  'ForeignCertificate',
  'WaitingForSecrets',
  'RootNotLoaded',
  'CannotWrite',
  'PassFailed',
  'TlsRefused',
  'Paused',
  'RootExpiring',
  'RotatingRoot',
  'RevokingIntermediates',
  'Issuing',
];

/** Secrets that keep a member from its certificates, for a cluster that has not formed. */
export function withoutCertificates(v: View): string | undefined {
  const [found] = certificates(v);
  return found?.status === 'False' ? found.message : undefined;
}
