import { type Problem, reasons } from '../../../protocol/reasons.ts';
import { sizeProblem } from '../../port/names.ts';
import type { View } from '../engine/view.ts';
import { isSeeded, isTombstoned, memberAt, quorumLostLong } from '../facts/facts.ts';
import { lasts, statefulSet } from '../facts/observations.ts';
import { sourceRefusal } from '../facts/sources.ts';
import { survivor } from '../facts/survivors.ts';
import { transportRefusal } from '../facts/transport.ts';
import { changedSince } from '../facts/up-to-date.ts';
import { imageDiffers, tlsMismatch, upgradeRefusal, versionProblem } from '../facts/upgrade-path.ts';
import { named } from './stalled.ts';

/** Requests of the spec that are not possible. Each is reported and changes nothing. */
export function specProblems(v: View): Problem[] {
  return [
    size(v),
    version(v),
    template(v),
    manifests(v),
    jobs(v),
    transport(v),
    source(v),
    auth(v),
    ...replacements(v),
    ...recovery(v),
    ...finalBackup(v),
  ].filter((found) => found !== undefined);
}

/** The same for a cluster that has no record yet. */
export const problemsBeforeBirth = (v: View): Problem[] =>
  [size(v), versionProblem(v.spec.version), manifests(v), jobs(v), auth(v)].filter((found) => found !== undefined);

const size = (v: View): Problem | undefined => {
  const message = sizeProblem(v.spec);
  return message === undefined ? undefined : { reason: 'SizeRefused', message };
};

const jobs = ({ cluster: { jobProblem: message } }: View): Problem | undefined =>
  message === undefined ? undefined : { reason: 'JobRefused', message };

/** Nobody could switch it on or off, or read the cluster then. */
const auth = ({ spec }: View): Problem | undefined =>
  spec.auth !== undefined && !spec.rootTls
    ? {
        reason: 'AuthRefused',
        message: `spec.auth is ${spec.auth}, but spec.tls.rootSecret names no certificate of root; use EtcdTls.managed() or EtcdTls.certManager(), give root and backup to EtcdTls.fromSecrets(), or remove spec.auth`,
      }
    : undefined;

const version = (v: View): Problem | undefined => (isSeeded(v) ? upgradeRefusal(v) : undefined);

/** Template and image get their version from one property, so one of them was edited by hand. */
function template(v: View): Problem | undefined {
  const sts = statefulSet(v);
  if (!sts?.observed) return undefined;
  if (imageDiffers(v)) {
    const message = `the StatefulSet's template names version ${sts.version}, but its image has ${sts.imageVersion}: no member is added, restarted or restored on it, but a pod that is deleted comes back with it; apply the manifests again, with --force-conflicts`;
    return { reason: 'TemplateMismatch', message };
  }
  const tls = tlsMismatch(v);
  if (tls !== undefined) {
    const message = `the StatefulSet's template ${tls}: no member is added, restarted or restored on it, but a pod that is deleted comes back with it; apply the manifests again, with --force-conflicts`;
    return { reason: 'TemplateMismatch', message };
  }
  if (sts.version === v.spec.version) return undefined;
  const message = `version ${v.spec.version}, but the StatefulSet's template names ${sts.version}: apply both`;
  return { reason: 'TemplateMismatch', message };
}

/** Why the objects of the cluster are not as the spec says. */
export function outdatedManifests(v: View): string | undefined {
  const fields = changedSince(v);
  if (fields.length === 0) return undefined;
  return named(v, `${fields.map((field) => `spec.${field}`).join(', ')}: ${reasons.ManifestsOutdated}`);
}

/** An apply of both is not finished at once. */
function manifests(v: View): Problem | undefined {
  const message = outdatedManifests(v);
  const isReported = v.cluster.status.conditions?.some(({ reason }) => reason === 'ManifestsOutdated');
  const counts = message !== undefined && (isReported || lasts(v, v.o.since.outdated, v.s.stable));
  return counts ? { reason: 'ManifestsOutdated', message } : undefined;
}

/** Only after the question about the template: this one may have been applied without the EtcdCluster. */
const transport = (v: View): Problem | undefined => {
  const message = transportRefusal(v);
  return message === undefined ? undefined : { reason: 'TlsRefused', message };
};

/** Only after the question about the template, which may belong to another EtcdCluster. */
const source = (v: View): Problem | undefined => {
  const message = statefulSet(v)?.observed ? sourceRefusal(v) : undefined;
  return message === undefined ? undefined : { reason: 'TlsRefused', message };
};

/** A request that was carried out stays in the spec; its member is tombstoned by then. */
function replacements(v: View): Problem[] {
  if (!v.o.members.known) return [];
  return v.spec.replace.force
    .filter(({ ordinal, memberId }) => memberAt(v, ordinal)?.id !== memberId && !isTombstoned(v, memberId))
    .map(({ ordinal, memberId }) => ({
      reason: 'ReplaceTargetNotFound' as const,
      message: `replace.force: ordinal ${ordinal} is member ${memberAt(v, ordinal)?.id ?? 'none'}, not ${memberId}`,
    }));
}

function recovery(v: View): Problem[] {
  const asked = v.spec.recovery;
  if (asked === undefined || asked.id === v.record.lastRecoveryId) return [];
  if (!asked.acceptDataLoss) {
    const message = `recovery ${asked.id}: writes that the survivor does not have are lost; set acceptDataLoss: true`;
    return [{ reason: 'RecoveryNotAcknowledged', message }];
  }
  if (v.record.op?.kind === 'Recover' || !isSeeded(v) || !quorumLostLong(v) || survivor(v)) return [];
  const message = `recovery ${asked.id}: no survivor can be chosen with certainty; name one in recovery.survivor`;
  return [{ reason: 'SurvivorUnreachable', message }];
}

const finalBackup = (v: View): Problem[] =>
  v.spec.finalBackupRequired && v.spec.schedule === undefined
    ? [
        {
          reason: 'FinalBackupNeedsSchedule',
          message: 'finalBackup.required needs a backup schedule; add one or set finalBackup.required: false',
        },
      ]
    : [];
