import { X509Certificate } from 'node:crypto';
import { adviceOn, advisoriesAsOf, advisoriesFor } from '../../../../src/etcd/advisories.ts';
import type { EtcdAccess, EtcdMemberEntry } from '../../etcd/etcd-member.ts';
import { ExitCode } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { formatBytes } from '../../lib/terminal/progress.ts';
import { fallenBehind, statusesOf } from '../take/source/compare-members.ts';
import { type ObservedCluster, observeCluster, type ReachedMember } from '../take/source/observe-cluster.ts';
import { rankSources } from '../take/source/rank-sources.ts';
import { type CheckResult, failed, finding, ok, warning } from './finding.ts';

const DAY = 86_400_000;
const SOON = 14 * DAY;
/** Share of the quota that causes a warning. At the full quota, etcd raises NOSPACE and refuses writes. */
const NEARLY_FULL = 0.8;

export async function checkEtcd(access: EtcdAccess, log: Log, signal: AbortSignal): Promise<CheckResult[]> {
  const tls = checkTls(access);
  const rest = await finding('etcd', signal, async () => {
    using observed = await observeCluster(access, log, signal);
    const listed = await listMembers(observed);
    return [
      ok('etcd', `members that answer: ${observed.members.map((each) => each.endpoint).join(', ')}`),
      ...observed.members.flatMap(checkMember),
      ...checkMissing(observed, listed),
      ...checkVersions(observed),
      ...checkAdvisories(observed),
      ...(await checkRevisions(observed, signal)),
      ...checkAlarms(observed),
      ...(await checkQuorum(observed, signal)),
    ];
  });
  return [...tls, ...rest];
}

function checkTls({ tls, endpoints }: EtcdAccess, now = new Date()): CheckResult[] {
  if (endpoints.every((endpoint) => endpoint.startsWith('http:'))) {
    return [warning('tls', 'plain HTTP: anyone on the network can read all data of etcd')];
  }
  if (!tls?.cert) return [ok('tls', 'TLS without a client certificate')];
  const until = new X509Certificate(tls.cert).validToDate;
  const line = `the client certificate is valid until ${until.toISOString()}`;
  return [until.getTime() - now.getTime() < SOON ? warning('tls', `${line}: renew it soon`) : ok('tls', line)];
}

async function listMembers({ members }: ObservedCluster): Promise<readonly EtcdMemberEntry[]> {
  const voter = members.find(({ status }) => !status.isLearner);
  return voter ? voter.member.members().catch(() => []) : [];
}

export function checkMember({ endpoint, status }: ReachedMember): CheckResult[] {
  const role = status.isLearner ? 'learner' : status.leader === status.memberId ? 'leader' : 'follower';
  const { dbSize, dbSizeInUse, dbSizeQuota, version, errors } = status;
  const size = `${formatBytes(dbSize)}, ${formatBytes(dbSizeInUse)} in use`;
  const line = `${endpoint}: etcd ${version}, ${role}, ${size}${dbSizeQuota ? ` of at most ${formatBytes(dbSizeQuota)}` : ''}`;
  if (dbSizeQuota && dbSize > dbSizeQuota * NEARLY_FULL) {
    return [warning('member', `${line}: nearly full`, { kind: 'nearlyFull' })];
  }
  if (status.leader === '0') return [failed('member', ExitCode.etcdUnavailable, `${line}: it does not know a leader`)];
  // Alarms are reported once for all members.
  const own = errors.filter((error) => !/NOSPACE|CORRUPT/i.test(error));
  return [own.length > 0 ? warning('member', `${line}: ${own.join(', ')}`) : ok('member', line)];
}

function checkMissing({ members }: ObservedCluster, listed: readonly EtcdMemberEntry[]): CheckResult[] {
  const reached = new Set(members.map(({ status }) => status.memberId));
  return listed
    .filter(({ id }) => !reached.has(id))
    .map(({ name, id, clientUrls }) =>
      warning('member', `${name || id} does not answer (${clientUrls.join(', ') || 'it was never started'})`),
    );
}

function checkVersions({ members }: ObservedCluster): CheckResult[] {
  const versions = [...new Set(members.map(({ status }) => status.version))].sort();
  if (versions.length < 2) return [];
  return [warning('member', `the members run different versions: ${versions.join(', ')}`)];
}

/** What matters for an etcd of others too: whether it has users is not asked, because only root may ask. */
export function checkAdvisories({ members }: ObservedCluster): CheckResult[] {
  const versions = [...new Set(members.map(({ status }) => status.version))].sort();
  return versions.flatMap((version) => {
    const found = advisoriesFor(version);
    return found.length === 0 ? [] : [warning('version', `${adviceOn(found, version)} (known on ${advisoriesAsOf})`)];
  });
}

async function checkRevisions({ members }: ObservedCluster, signal: AbortSignal): Promise<CheckResult[]> {
  const voters = members.filter(({ status }) => !status.isLearner);
  const apart = fallenBehind(voters, await statusesOf(voters, signal));
  return apart === undefined
    ? []
    : [failed('member', ExitCode.sourceSuspect, `${apart}; a backup would count as suspect`)];
}

export function checkAlarms({ alarms }: ObservedCluster): CheckResult[] {
  if (alarms.length === 0) return [ok('alarms', 'none')];
  return alarms.map(({ memberId, type }) => {
    const line = `${type} of member ${memberId}`;
    if (type === 'CORRUPT') {
      return failed('alarms', ExitCode.sourceSuspect, `${line}: its data differ; a backup would count as suspect`);
    }
    return warning('alarms', type === 'NOSPACE' ? `${line}: etcd refuses writes; backups still work` : line);
  });
}

async function checkQuorum({ members, alarms, voters }: ObservedCluster, signal: AbortSignal): Promise<CheckResult[]> {
  return finding('quorum', signal, async () => {
    const corrupt = alarms.filter(({ type }) => type === 'CORRUPT').map(({ memberId }) => memberId);
    const [source] = rankSources(members, new Set(corrupt));
    await source?.member.confirmQuorum();
    return ok('quorum', `voters: ${voters ?? '?'}; a backup would be taken from ${source?.endpoint}`);
  });
}
