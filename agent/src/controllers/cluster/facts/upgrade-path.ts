import { oldestPatches } from '../../../../../src/lib/defaults.ts';
import type { Problem, Reason } from '../../../protocol/reasons.ts';
import { atLeast, compareVersions, minorOf, minorsUp } from '../../../protocol/versions.ts';
import type { View } from '../engine/view.ts';
import { allVotersHealthy, isBorn, nameOf, voters } from './facts.ts';
import type { MemberView } from './member-view.ts';
import { agentAt, statefulSet } from './observations.ts';
import { isPodUnknown, sourceRefusal, trustMismatch, whyNoTrust } from './sources.ts';
import { needsCertificates, whyNoCertificates } from './transport.ts';

/** A cluster of 3.4 is only upgraded. */
const floors: Readonly<Record<string, string>> = { '3.4': '3.4.23', ...oldestPatches };
/** First version that repairs, at its start, the member lists that older 3.5 versions left wrong. */
const repairsMembers = '3.5.26';
/**
 * An epoch that began on this version has no such list. Tried with members joined, promoted, removed and replaced, and with
 * restored snapshots, also of a salvaged survivor: 3.6, started without a restart before, lists the same members.
 */
const leavesNoneWrong = '3.5.35';

const problem = (reason: Reason, message: string): Problem => ({ reason, message });

/** Why this version is not supported; undefined: it is. */
export function versionProblem(version: string): Problem | undefined {
  const floor = floors[minorOf(version)];
  if (floor === undefined)
    return problem('VersionUnsupported', `version ${version} is not supported; use 3.5, 3.6 or 3.7`);
  if (!atLeast(version, floor))
    return problem('VersionTooOld', `version ${version} is below ${floor}; set a newer patch`);
  return undefined;
}

/** The image has another version than the template names, so a gate would decide by the wrong version. */
export const imageDiffers = (v: View): boolean => {
  const sts = statefulSet(v);
  return sts?.imageVersion !== undefined && sts.imageVersion !== sts.version;
};

/** How the pods' certificates differ from `spec.tls`; undefined if they do not. */
export function tlsMismatch(v: View): string | undefined {
  return certificatesMismatch(v) ?? trustMismatch(v);
}

function certificatesMismatch(v: View): string | undefined {
  const mounted = statefulSet(v)?.tlsSecrets;
  if (!mounted) return undefined;
  const { tls, tlsSecrets } = v.spec;
  const missing = (['peer', 'server'] as const).filter((of) => mounted[of] === undefined);
  if (!tls) return missing.length < 2 ? 'has TLS, but spec.tls is missing' : undefined;
  if (missing.length === 2) return 'has no TLS, but spec.tls is set';
  if (missing.length === 1) return `mounts no ${missing[0]} certificate, but spec.tls is set`;
  if (!tlsSecrets || (mounted.peer === tlsSecrets.peer && mounted.server === tlsSecrets.server)) return undefined;
  const { peer, server } = tlsSecrets;
  return `mounts the Secrets ${mounted.peer} and ${mounted.server}, but spec.tls names ${peer} and ${server}`;
}

/** The pods would have no certificates, and could reach no member. */
export const lacksCertificates = (v: View): boolean => !v.spec.tls && needsCertificates(v);

/** No pod may be made from the template. */
export const templateDiffers = (v: View): boolean =>
  imageDiffers(v) || tlsMismatch(v) !== undefined || sourceRefusal(v) !== undefined || lacksCertificates(v);

/** Certain: false if the template was not read, because it may have changed. */
export const imageFits = (v: View): boolean =>
  statefulSet(v) !== undefined &&
  !templateDiffers(v) &&
  whyNoCertificates(v) === undefined &&
  whyNoTrust(v) === undefined &&
  !isPodUnknown(v);

/** The gate of a pod from the present template would let etcd start. */
export const templateMayRun = (v: View): boolean => {
  const version = statefulSet(v)?.version;
  if (version === undefined || versionProblem(version) || !imageFits(v)) return false;
  return v.record.versions.allowedMinors.includes(minorOf(version));
};

/** Why members are not restarted for another scheme now; undefined: nothing keeps them from it. */
export function restlessness(v: View): string | undefined {
  if (!allVotersHealthy(v)) return 'not every member is healthy';
  if (v.record.versions.allowedMinors.length > 1) return 'an upgrade is half done';
  return templateMayRun(v) ? undefined : `version ${statefulSet(v)?.version} of the template may not run yet`;
}

/** etcd's own cluster version: the lowest that any member has run since all were present. */
export const clusterVersionIs = (v: View, minor: string): boolean =>
  voters(v).some((m) => minorOf(clusterVersionAt(m) ?? '') === minor);

/** The cluster version is not beyond this minor, so its etcd still starts on the data. */
export const clusterVersionIsWithin = (v: View, minor: string): boolean =>
  voters(v).every((m) => minorsUp(minor, minorOf(clusterVersionAt(m) ?? '')) <= 0);

const clusterVersionAt = (m: MemberView): string | undefined =>
  m.status?.clusterVersion ?? m.agent?.etcd?.clusterVersion;

/** etcd would refuse it although its gate does not: a member with less than the cluster version cannot join. */
const isTooOldToJoin = (v: View, ordinal: number): boolean => {
  const minor = minorOf(agentAt(v, ordinal)?.etcdBinary ?? '');
  const { allowedMinors } = v.record.versions;
  return allowedMinors.includes(minor) && minor !== allowedMinors.at(-1) && !clusterVersionIs(v, minor);
};

export const mayJoin = (v: View, ordinal: number): boolean =>
  v.record.versions.allowedMinors.includes(minorOf(agentAt(v, ordinal)?.etcdBinary ?? '')) &&
  !isTooOldToJoin(v, ordinal);

/** Why the version of the spec cannot be reached from here; undefined: it can. */
export function upgradeProblem(v: View): Problem | undefined {
  const { version } = v.spec;
  const { current, allowedMinors } = v.record.versions;
  const to = minorOf(version);
  const unsupported = versionProblem(version);
  if (unsupported) return unsupported;
  if (allowedMinors.includes(to)) return undefined;
  const up = minorsUp(current, to);
  if (up < 0) return problem('DowngradeRefused', backwards(v, version));
  if (up > 1) return problem('MinorSkipped', `version ${version}: go from ${current} one minor at a time`);
  if (allowedMinors.length > 1) return problem('UpgradeHalfDone', halfDone(current, allowedMinors, version));
  return pathProblem(v, to) ?? diskProblem(v) ?? backupProblem(v);
}

/** The same, without problems that go away without action. */
export function upgradeRefusal(v: View): Problem | undefined {
  const found = upgradeProblem(v);
  return found && ['FlushingRaftLog', 'StateUnknown'].includes(found.reason) ? undefined : found;
}

const backwards = (v: View, version: string): string =>
  `version ${version} is below the cluster's ${v.record.versions.current}, whose data it cannot start on; set version to a release of ${v.record.versions.current} again; ${isBorn(v) ? 'to go back for good, restore a backup into a new cluster' : 'or delete this new cluster with its volumes and its record'}`;

const halfDone = (current: string, minors: string[], version: string): string =>
  `version ${version}: an upgrade from ${current} is half done (${minors.join(', ')}); finish it or go back first`;

function pathProblem(v: View, to: string): Problem | undefined {
  if (to === '3.5') return tooOld(v, '3.4.23');
  if (to === '3.6') return restartFirst(v);
  if (to === '3.7') return notSettled(v);
  return undefined;
}

/** The version that the member runs, or ran before its gate refused the version that is to be allowed. */
const versionOf = (m: MemberView): string => m.status?.version ?? m.agent?.volume.identity?.lastVersion ?? '0';

/** Its pod was recreated on the version of the spec before that was allowed. */
export const waitsForVersion = (v: View, m: MemberView): boolean => {
  const agent = m.agent;
  return agent?.state === 'Refused' && agent.reason === 'VersionRefused' && agent.etcdBinary === v.spec.version;
};

function tooOld(v: View, floor: string): Problem | undefined {
  const old = voters(v).find((m) => !atLeast(versionOf(m), floor));
  return (
    old && problem('VersionTooOld', `${nameOf(v, old)} runs a version below ${floor}; upgrade to a newer patch first`)
  );
}

/** 3.6 trusts a member list that 3.5 ignored and that older 3.5 versions left wrong. */
function restartFirst(v: View): Problem | undefined {
  const { bornOn } = v.record.versions;
  if (bornOn && atLeast(bornOn, leavesNoneWrong)) return undefined;
  const bad = voters(v).find((m) => {
    const version = versionOf(m);
    const restarted = m.recorded?.restartedOn;
    return !atLeast(version, repairsMembers) || restarted === undefined || compareVersions(restarted, version) !== 0;
  });
  return bad && problem('RestartRequired', restartMessage(nameOf(v, bad)));
}

const restartMessage = (member: string): string =>
  `${member} was not restarted on ${repairsMembers} or newer; set that version, run kubectl rollout restart, then set 3.6`;

/** 3.7 cannot read entries of 3.5: every member needs a raft snapshot of 3.6 beyond them. */
export const isSettled = (v: View): boolean => {
  const { finalizedIndex } = v.record.versions;
  if (finalizedIndex === undefined) return false;
  if (finalizedIndex === 0) return true;
  return voters(v).every((m) => {
    const index = m.agent?.volume.snapIndex;
    return index !== undefined && index - v.s.catchUpEntries > finalizedIndex;
  });
};

const notSettled = (v: View): Problem | undefined =>
  isSettled(v)
    ? undefined
    : problem(
        'FlushingRaftLog',
        'entries of etcd 3.5 are still in the raft log; the reconciler flushes them, which takes minutes',
      );

const diskFactor = 1.5;

function diskProblem(v: View): Problem | undefined {
  const volumeOf = (m: MemberView) => m.agent?.volume;
  const isFull = (m: MemberView) => volumeOf(m)!.freeBytes < diskFactor * (m.status?.dbSize ?? 0);
  // A gate that has just started has not read its volume yet.
  const isSeen = (m: MemberView) => Boolean(volumeOf(m)?.totalBytes);
  const full = voters(v).find((m) => isSeen(m) && isFull(m));
  if (full) return problem('DiskPressure', `${nameOf(v, full)} needs free space of ${diskFactor} times its database`);
  const unseen = voters(v).find((m) => !isSeen(m));
  return unseen && problem('StateUnknown', `the free space of ${nameOf(v, unseen)} is not known yet`);
}

const backupProblem = (v: View): Problem | undefined =>
  v.spec.requiredForUpgrade && v.spec.schedule === undefined
    ? problem('NoSchedule', 'backup.requiredForUpgrade needs a backup schedule; add one')
    : undefined;
