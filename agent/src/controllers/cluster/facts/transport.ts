import type { AgentStatus } from '../../../protocol/agent-status.ts';
import type { Reason } from '../../../protocol/reasons.ts';
import type { RecordDoc, Scheme, Schemes, Transport } from '../../../protocol/record.ts';
import { isOrigin } from '../../../protocol/restore-id.ts';
import { peerUrl } from '../../port/names.ts';
import type { Pod } from '../../port/observed.ts';
import type { View } from '../engine/view.ts';
import { learners, voters } from './facts.ts';
import { listed, type MemberView, type PlacedMember } from './member-view.ts';
import { agentAt, agentOf, podsOf } from './observations.ts';

// How the members speak, and how they are to: docs/contributing/protocol.md, "TLS on and off".

type Report = NonNullable<AgentStatus['transport']>;

/** The scheme that the spec asks for. */
export const askedScheme = ({ spec }: View): Scheme => (spec.tls && !spec.disablingTls ? 'https' : 'http');

/** Of a cluster without members, which begins as the spec says. */
export function transportAtBirth(v: View): Transport {
  const asked = askedScheme(v);
  return { peers: asked, clients: asked, target: asked };
}

/** How the next start of a member speaks. */
export const transportOf = (v: View): Transport =>
  v.record.transport ?? transportSeen(v, v.record.versions.allowedMinors);

/** Read off the members, where no record says it: that of an older release, or a lost one. */
export function transportSeen(v: View, minors: readonly string[]): Transport {
  const peers = peersSeen(v) ?? askedScheme(v);
  if (peers === 'https') return { peers, clients: peers, target: peers };
  const clients = v.spec.tls && !is34(minors) ? 'both' : peers;
  return { peers, clients, target: peers, hadTls: listed(v).some(hasHttps) ? true : undefined };
}

/** How members were seen to speak with each other; undefined: nothing is known of it. */
export function peersSeen(v: View): Scheme | undefined {
  if (!v.o.members.known) return peersReported(v);
  const members = listed(v);
  if (members.some(({ peerUrls }) => !has('https', peerUrls))) return 'http';
  if (members.some(({ peerUrls }) => !has('http', peerUrls))) return 'https';
  const asked = askedScheme(v);
  const speaks = members.flatMap(({ ordinal = -1 }) => agentOf(v, ordinal)?.transport?.peers ?? []);
  // With both URLs each member can reach each, whichever is chosen.
  return speaks.includes(asked) ? asked : speaks[0];
}

/** Without a list of members: all etcds that run were started so. */
function peersReported(v: View): Scheme | undefined {
  const agents = podsOf(v).map(({ ordinal }) => agentOf(v, ordinal));
  const speak = new Set(agents.flatMap((agent) => (agent?.transport && !agent.gate ? agent.transport.peers : [])));
  return speak.size === 1 ? [...speak][0] : undefined;
}

const has = (scheme: Scheme, peerUrls: readonly string[]): boolean =>
  peerUrls.some((url) => url.startsWith(`${scheme}:`));

const hasHttps = ({ peerUrls }: MemberView): boolean => has('https', peerUrls);
export const hasBoth = ({ peerUrls }: MemberView): boolean => has('http', peerUrls) && has('https', peerUrls);

/** Every peer URL of the member has this scheme. */
export const hasOnly = (scheme: Scheme, { peerUrls }: MemberView): boolean =>
  peerUrls.every((url) => url.startsWith(`${scheme}:`));

/** `initial-cluster` of a seed, which is alone. */
export const seedUrl = (v: View, { peers }: Schemes = transportOf(v)): string => peerUrl(v.cluster, 0, peers);

const bothSchemes: readonly Scheme[] = ['http', 'https'];

/** This etcd does not serve both schemes on one port. */
const is34 = (minors: readonly string[]): boolean => minors.includes('3.4');

/** In the order in which etcd keeps them. */
const peerUrlsOf = (v: View, ordinal: number, schemes: readonly Scheme[]): string[] =>
  schemes.map((scheme) => peerUrl(v.cluster, ordinal, scheme));

/** The peer URLs of a member that joins: both if another has both. */
export const joiningUrls = (v: View, ordinal: number): string[] =>
  peerUrlsOf(v, ordinal, listed(v).some(hasBoth) ? bothSchemes : [transportOf(v).peers]);

/** What the agent of each voter reports of its etcd; `undefined` where none is known. */
export const reports = (v: View): (Report | undefined)[] => voters(v).map(({ agent }) => agent?.transport);

/** Every voter's agent reports so. */
export const allSpeak = (v: View, is: (report: Report) => boolean): boolean =>
  voters(v).length > 0 && reports(v).every((report) => report !== undefined && is(report));

/** It has certificates, so it can call by https, and its clients may use either scheme. */
export const acceptsBoth = ({ peers, clients, hasCertificates }: Report): boolean =>
  peers === 'http' && clients === 'both' && hasCertificates;

/** No member has served yet: the next seed begins as the spec says. */
export const isUnborn = ({ record: { seeded, phase, op } }: View): boolean =>
  !seeded && (phase === 'Seeding' || (op?.kind === 'Restore' && isOrigin(op.args.id)));

/** Its snapshot has no token, because certificates guard it. */
export const isGuardedByTls = ({ op }: RecordDoc): boolean =>
  (op?.kind === 'Restore' || op?.kind === 'Recover') && op.args.sourceToken === '';

/** The members use TLS among themselves, or are to: without certificates a member reaches none of them. */
export const needsCertificates = (v: View): boolean =>
  isGuardedByTls(v.record) || (!isUnborn(v) && (transportOf(v).peers === 'https' || mayUseTls(v) || isHeldByUsers(v)));

/** A member uses TLS, or may: its agent does not answer, and it may not have been restarted since the record said so. */
function mayUseTls(v: View): boolean {
  const speaks = (ordinal: number) => agentAt(v, ordinal)?.transport?.peers;
  const { clients, hadTls = false } = transportOf(v);
  // Without a quorum: only while clients may use either scheme, members may have either.
  if (!v.o.members.known)
    return hadTls && clients === 'both' && Object.keys(v.record.members).some((at) => speaks(Number(at)) !== 'http');
  return listed(v).some(({ agent, peerUrls }) => {
    const peers = agent?.transport?.peers;
    return peers === 'https' || (peers === undefined && hadTls && has('https', peerUrls));
  });
}

/** The record with other schemes. */
export function changed(v: View, next: Partial<Transport>): Transport {
  const { since: _, hadTls, ...was } = transportOf(v);
  const mayUse = next.peers === undefined ? hadTls && listed(v).some(hasHttps) : next.peers === 'http';
  return { ...was, ...next, ...(mayUse && { hadTls: true }) };
}

/** How long clients may use http beside https while TLS is switched on, ms. */
export const timeForClients = ({ spec, s }: View): number =>
  Math.min(spec.acceptPlaintextFor ?? s.acceptPlaintext, s.acceptPlaintextMost);

/** Since when clients may use either scheme. A time that no clock could be so wrong to write is none. */
export function openSince(v: View): number | undefined {
  const since = Date.parse(v.record.transport?.since ?? '');
  return since <= v.date + v.s.acceptPlaintextMost ? since : undefined;
}

/** When clients may no longer use http, while TLS is switched on, ms. */
export const endOfPlaintext = (v: View): number => (openSince(v) ?? v.date) + timeForClients(v);

export const isPlaintextOver = (v: View): boolean => v.date >= endOfPlaintext(v);

/** Certificates that members could not use, or could not renew. */
const unusable: readonly Reason[] = [
  'Expired',
  'NotYetValid',
  'AuthorityLost',
  'AuthorityInvalid',
  'ForeignCertificate',
];

/**
 * Why no member may be restarted to begin with TLS: it would not start, or not for long. Undefined: nothing, or another
 * program writes the certificates. A cluster that uses TLS already is not held by it.
 */
export function whyNoCertificates(v: View): string | undefined {
  const { certificates } = v.cluster;
  if (askedScheme(v) !== 'https' || transportOf(v).peers !== 'http' || !certificates) return undefined;
  const { peer, server } = v.spec.tlsSecrets ?? {};
  const found = certificates.certificates.map(({ secret }) => secret);
  const missing = [peer, server].find((secret) => secret !== undefined && !found.includes(secret));
  if (missing !== undefined) return `the Secret ${missing} has no certificate, or was not read yet`;
  return certificates.problems.find(({ reason }) => unusable.includes(reason))?.message;
}

/** The schemes that each member's peer URLs should have; undefined: this is not known, or it is too early for a change. */
function schemesWanted(v: View): readonly Scheme[] | undefined {
  const { peers, target } = transportOf(v);
  const isOnWay = learners(v).some(({ ordinal }) => ordinal !== undefined && speaksOtherwise(v, { ordinal }));
  if (peers === target && !isOnWay && allSpeak(v, (report) => report.peers === target)) return [target];
  const isReady =
    target === 'https' && peers === 'http' ? acceptsBoth : ({ hasCertificates }: Report) => hasCertificates;
  return allSpeak(v, isReady) ? bothSchemes : undefined;
}

/** The peer URLs that the member should have, if they differ from those that it has. */
export function urlsToSet(v: View, member: PlacedMember): string[] | undefined {
  const { ordinal, peerUrls } = member;
  // Whatever other agents report: until it has the URL at which it listens, it cannot serve.
  const schemes = schemesWanted(v) ?? (isOutOfReach(member) ? bothSchemes : undefined);
  if (!schemes) return undefined;
  const both = peerUrlsOf(v, ordinal, bothSchemes);
  // A URL that a person gave it stays, unless it is of the scheme that goes.
  const others = peerUrls.filter((url) => !both.includes(url) && schemes.some((scheme) => has(scheme, [url])));
  const wanted = [...peerUrlsOf(v, ordinal, schemes), ...others];
  return wanted.toSorted().join() === peerUrls.toSorted().join() ? undefined : wanted;
}

/** Its etcd listens at a scheme that none of its peer URLs has, so no other member can call it. */
export const isOutOfReach = ({ agent, peerUrls }: MemberView): boolean =>
  agent?.transport !== undefined && !has(agent.transport.peers, peerUrls);

/** How its next start would speak: without certificates, clients can only use http. */
const nextOf = ({ peers, clients }: Schemes, { hasCertificates }: Report): Schemes =>
  peers === 'http' && !hasCertificates ? { peers, clients: 'http' } : { peers, clients };

/** Its etcd runs, and its next start would speak otherwise. */
export function speaksOtherwise(v: View, { ordinal }: Pick<Pod, 'ordinal'>): boolean {
  const agent = agentAt(v, ordinal);
  // A gate obeys the record that it reads just before etcd starts.
  if (!agent?.transport || agent.gate) return false;
  const next = nextOf(transportOf(v), agent.transport);
  return agent.transport.peers !== next.peers || agent.transport.clients !== next.clients;
}

/** Whether TLS may be switched off, as far as etcd's users are concerned; undefined: not known yet. */
function mayGoWithoutUsers({ cluster, spec, s }: View): boolean | undefined {
  const { isWanted, seen } = cluster.authentication ?? {};
  if (spec.auth || isWanted || seen?.isEnabled) return false;
  const isKnown = !cluster.authentication || (seen !== undefined && seen.age <= s.authOld);
  return isKnown || undefined;
}

/** TLS is to go, and clients can still use it. */
const givesUpTls = (v: View): boolean => {
  const { peers, clients, target } = transportOf(v);
  return askedScheme(v) === 'http' && (peers === 'https' || (target === 'http' && clients === 'both'));
};

/** Without certificates nobody could log in. */
const isHeldByUsers = (v: View): boolean => givesUpTls(v) && mayGoWithoutUsers(v) === false;

const isFollowed = (v: View): boolean => {
  const { peers, target } = transportOf(v);
  return target === askedScheme(v) && peers === target && !givesUpTls(v);
};

/** A switch that has begun can be taken back although a member that it restarted does not serve. */
export const hasBegun = (v: View): boolean => transportOf(v).clients === 'both' || listed(v).some(hasBoth);

const heldByUsers =
  'TLS cannot be switched off while authentication is on or asked for: without TLS nobody can prove who they are; with EtcdTls.none({ previous: … }) or the tls that the cluster had, delete the EtcdUsers, set spec.auth to false, and wait until AuthReady says AuthenticationOff';

/** Why `spec.tls` is not followed until it is changed; undefined: it is. */
export function transportRefusal(v: View): string | undefined {
  if (!isUnborn(v) && isHeldByUsers(v)) return heldByUsers;
  if (!v.spec.tls && needsCertificates(v))
    return 'spec.tls is missing, but the members need their certificates, for TLS among themselves or for a restore; apply EtcdTls.none({ previous: … }) first, with the tls that the cluster had (in YAML: tls.disabling: true)';
  if (isUnborn(v) || isFollowed(v)) return undefined;
  if (is34(v.record.versions.allowedMinors))
    return 'TLS cannot be switched on or off with etcd 3.4, which does not serve http and https on one port; upgrade to 3.5 first';
  return undefined;
}

/** Nothing keeps the members from the next step. */
export const mayBeSwitched = (v: View): boolean =>
  transportRefusal(v) === undefined && !(givesUpTls(v) && mayGoWithoutUsers(v) === undefined);
