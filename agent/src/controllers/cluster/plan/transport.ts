import type { AgentStatus } from '../../../protocol/agent-status.ts';
import type { RecordDoc, Scheme, Schemes, Transport } from '../../../protocol/record.ts';
import { peerUrl } from '../names.ts';
import type { Pod } from '../observed.ts';
import { voters } from './facts.ts';
import { listed, type MemberView, type PlacedMember } from './member-view.ts';
import { agentAt, agentOf, podsOf } from './observations.ts';
import type { View } from './view.ts';
import { timestamp } from './write.ts';

// How the members speak, and how they are to: docs/contributing/protocol.md, "TLS on and off".

type Report = NonNullable<AgentStatus['transport']>;

/** The scheme that the spec asks for. */
export const askedScheme = ({ spec }: View): Scheme => (spec.tls && !spec.disablingTls ? 'https' : 'http');

/** Of a cluster without members, which begins as the spec says. */
export function transportAtBirth(v: View): Transport {
  const asked = askedScheme(v);
  return { peers: asked, clients: asked, target: asked, since: timestamp(v) };
}

/** How the next start of a member speaks. */
export const transportOf = (v: View): Transport => v.record.transport ?? transportSeen(v);

/** Read off the members, where no record says it: that of an older release, or a lost one. */
export function transportSeen(v: View): Transport {
  const peers = peersSeen(v) ?? askedScheme(v);
  const clients = peers === 'http' && v.spec.tls ? 'both' : peers;
  return { peers, clients, target: peers, since: timestamp(v) };
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

export const hasBoth = ({ peerUrls }: MemberView): boolean => has('http', peerUrls) && has('https', peerUrls);

/** Every peer URL of the member has this scheme. */
export const hasOnly = (scheme: Scheme, { peerUrls }: MemberView): boolean =>
  peerUrls.every((url) => url.startsWith(`${scheme}:`));

/** `initial-cluster` of a seed, which is alone. */
export const seedUrl = (v: View, { peers }: Schemes = transportOf(v)): string => peerUrl(v.cluster, 0, peers);

const bothSchemes: readonly Scheme[] = ['http', 'https'];

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
  !seeded && (phase === 'Seeding' || (op?.kind === 'Restore' && op.args.id.startsWith('origin:')));

/** Its snapshot has no token, because certificates guard it. */
const isGuardedByTls = ({ op }: RecordDoc): boolean =>
  (op?.kind === 'Restore' || op?.kind === 'Recover') && op.args.sourceToken === '';

/** The members use TLS among themselves, or are to: without certificates a member reaches none of them. */
export const needsCertificates = (v: View): boolean =>
  isGuardedByTls(v.record) || (!isUnborn(v) && (transportOf(v).peers === 'https' || mayUseTls(v)));

/** A member uses TLS, or may: its agent does not answer, and it may not have been restarted since the record said so. */
function mayUseTls(v: View): boolean {
  const speaks = (ordinal: number) => agentAt(v, ordinal)?.transport?.peers;
  // Without a quorum: only while clients may use either scheme, members may have either.
  if (!v.o.members.known)
    return (
      transportOf(v).clients === 'both' && Object.keys(v.record.members).some((at) => speaks(Number(at)) !== 'http')
    );
  return voters(v).some(({ agent, peerUrls }) => {
    const peers = agent?.transport?.peers;
    return peers === 'https' || (peers === undefined && has('https', peerUrls));
  });
}

/** The record says when the present target was set, and that is not in the future. */
export const isDated = (v: View): boolean => Date.parse(v.record.transport?.since ?? '') <= v.now;

/** When clients may no longer use http, while TLS is switched on, ms. Without a usable beginning, the time begins now. */
export const endOfPlaintext = (v: View): number => {
  const begin = isDated(v) ? Date.parse(transportOf(v).since) : v.now;
  return begin + Math.min(v.spec.acceptPlaintextFor ?? v.s.acceptPlaintext, v.s.acceptPlaintextMost);
};

/** The schemes that each member's peer URLs should have; undefined: this is not known, or it is too early for a change. */
function schemesWanted(v: View): readonly Scheme[] | undefined {
  const { peers, target } = transportOf(v);
  if (peers === target && allSpeak(v, (report) => report.peers === target)) return [target];
  const isReady =
    target === 'https' && peers === 'http' ? acceptsBoth : ({ hasCertificates }: Report) => hasCertificates;
  return allSpeak(v, isReady) ? bothSchemes : undefined;
}

/** The peer URLs that the member should have, if they differ from those that it has. */
export function urlsToSet(v: View, member: PlacedMember): string[] | undefined {
  const { ordinal, peerUrls } = member;
  // Whatever other agents report: until it has the URL at which it listens, it cannot serve.
  const schemes = schemesWanted(v) ?? (isOutOfReach(member) ? bothSchemes : undefined);
  const wanted = schemes && peerUrlsOf(v, ordinal, schemes);
  return wanted && wanted.join() !== peerUrls.toSorted().join() ? wanted : undefined;
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

const isFollowed = (v: View): boolean => {
  const { peers, target } = transportOf(v);
  return target === askedScheme(v) && peers === target && !givesUpTls(v);
};

/** Why `spec.tls` is not followed until it is changed; undefined: it is. */
export function transportRefusal(v: View): string | undefined {
  if (!v.spec.tls && needsCertificates(v))
    return 'spec.tls is missing, but the members need their certificates, for TLS among themselves or for a restore; apply EtcdTls.none({ from: … }) first, with the tls that the cluster had (in YAML: tls.disabling: true)';
  if (isUnborn(v) || isFollowed(v)) return undefined;
  if (v.record.versions.allowedMinors.includes('3.4'))
    return 'TLS cannot be switched on or off with etcd 3.4, which does not serve http and https on one port; upgrade to 3.5 first';
  if (givesUpTls(v) && mayGoWithoutUsers(v) === false)
    return 'TLS cannot be switched off while authentication is on or asked for: without TLS nobody can prove who they are; with EtcdTls.none({ from: … }) or the tls that the cluster had, delete the EtcdUsers, set spec.auth to false, and wait until AuthReady says AuthenticationOff';
  return undefined;
}

/** Nothing keeps the members from the next step. */
export const mayBeSwitched = (v: View): boolean =>
  transportRefusal(v) === undefined && !(givesUpTls(v) && mayGoWithoutUsers(v) === undefined);
