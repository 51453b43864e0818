import { podName } from '../../port/names.ts';
import type { PeerTrust, Pod } from '../../port/observed.ts';
import type { View } from '../engine/view.ts';
import { agentAt, podsOf, statefulSet } from './observations.ts';

// Members accept each other by the authorities that each read when it started. Here an authority goes by the Secret of the
// certificates: the models of this folder have none, so the suite `operations/source` shows it with real ones.

/** Why the members are not restarted for another source of certificates; undefined: nothing keeps them from it. */
export function sourceRefusal(v: View): string | undefined {
  const next = statefulSet(v)?.peers;
  if (!next) return undefined;
  const refused = podsOf(v).flatMap((pod) => {
    const why = holdsNothing(v, pod) ? undefined : whyRefused(v, pod, next);
    return why === undefined ? [] : [{ pod, why }];
  });
  // One that came back too early must not hold up its own restart; but if most do not serve, the template is not to be blamed on them.
  const isMost = refused.length * 2 > podsOf(v).length;
  const found = refused.find(({ pod }) => serves(v, pod)) ?? (isMost ? refused[0] : undefined);
  return found?.why ?? (changes(v) ? withUsers(v) : undefined);
}

/** A pod that never began has loaded no authority, and while no data are there, no member serves with one. */
const holdsNothing = (v: View, { deleting, began }: Pod): boolean => deleting || !began || !v.record.seeded;

/** A member may be briefly not ready. One that the others refuse sees no leader. */
const serves = (v: View, { ready, ordinal }: Pod): boolean => ready || agentAt(v, ordinal)?.etcd?.hasLeader === true;

/** Also of a single member: the reconciler and clients would be refused, or refuse it. */
function whyRefused(v: View, { ordinal, peers }: Pod, next: PeerTrust): string | undefined {
  if (!peers || (peers.own === next.own && next.trusted.includes(peers.own))) return undefined;
  const member = podName(v.cluster, ordinal);
  if (!peers.trusted.includes(next.own))
    return `the members are to take their certificates from Secret ${next.own}, but ${member} does not trust its authority, so no member is restarted: apply the tls that they had, with the new one as alsoTrust, and wait until every member has restarted`;
  if (!next.trusted.includes(peers.own))
    return `${member} has its certificate from Secret ${peers.own}, whose authority the members are no longer to trust, so no member is restarted: apply the new tls with the former one as alsoTrust, and wait until every member has restarted`;
  const behind = Object.values(agentAt(v, ordinal)?.roots ?? {}).find(
    ({ loaded, onDisk }) => loaded !== undefined && onDisk !== undefined && loaded !== onDisk,
  );
  if (!behind) return undefined;
  return `${member} trusts the roots ${behind.loaded}, but its ca.crt has ${behind.onDisk} since it started, so no member is restarted for the certificates in Secret ${next.own}: apply the tls of the step before again, and restart ${member}`;
}

/** The template trusts another source of certificates too. */
const changes = (v: View): boolean => (statefulSet(v)?.peers?.trusted.length ?? 0) > 1;

const withUsers = ({ spec, cluster: { authentication } }: View): string | undefined =>
  spec.auth || authentication?.isWanted || authentication?.seen?.isEnabled
    ? 'the certificates cannot come from another source (alsoTrust) while authentication is on or asked for, because users would lose theirs; remove the users, set auth: false, and wait until AuthReady has the reason AuthenticationOff'
    : undefined;

/** Whom the pods trust is not known, so nothing says that they would accept those of the template. */
export const isPodUnknown = (v: View): boolean => !v.o.pods.known && statefulSet(v)?.peers !== undefined;

/** Why the pods of the template could not start, or not trust both sources; undefined: nothing. */
export const whyNoTrust = ({ cluster: { trust } }: View): string | undefined =>
  trust?.isComplete === false ? (trust.why ?? 'the authorities of both sources were not read yet') : undefined;

/** How the template's trust differs from the spec, of which one may have been applied without the other; undefined: it does not. */
export function trustMismatch(v: View): string | undefined {
  const { peers } = statefulSet(v) ?? {};
  if (!peers) return undefined;
  const [has, named] = [peers.trusted, v.spec.alsoTrusts ?? []].map((secrets) => secrets.toSorted().join(' and '));
  if (peers.trusted.length > 1 ? has === named : named === '') return undefined;
  return named === ''
    ? `trusts the certificates in the Secrets ${has}, but spec.tls.alsoTrust is missing`
    : `trusts the certificates in the Secrets ${has}, but spec.tls names ${named}`;
}
