import type { RecordDoc, Scheme, Transport } from '../../../src/protocol/record.ts';
import { type EtcdMember, schemesOf, votersOf } from '../world/etcd.ts';
import { isUp, speaksOf } from '../world/processes.ts';
import type { Pod, World } from '../world/world.ts';
import { allUp, current } from './truth.ts';

/** Checks how TLS is switched on and off. */

export const askedScheme = ({ spec }: World): Scheme => (spec?.tls === 'on' ? 'https' : 'http');

const podOf = (world: World, { id }: EtcdMember): Pod | undefined => {
  const at = world.volumes.findIndex((volume, i) => volume?.wal?.member === id && isUp(world.pods[i]));
  return world.pods[at] ?? undefined;
};

const schemesIn = (peerUrls: readonly string[]): string[] => peerUrls.map((url) => url.slice(0, url.indexOf(':')));

export function hasUrls(world: World, memberId: string, peerUrls: readonly string[] | undefined): boolean {
  if (!peerUrls) return true;
  const member = current(world)?.members.find(({ id }) => id === memberId);
  return member !== undefined && schemesOf(member).join() === schemesIn(peerUrls).join();
}

/** The record would start its etcd otherwise. Without certificates, clients can only use http. */
export function speaksOtherwise({ record }: World, pod: Pod): boolean {
  if (!record?.doc.transport) return false;
  const { peers, clients } = record.doc.transport;
  const is = speaksOf(pod);
  return is.peers !== peers || is.clients !== (pod.tls || peers === 'https' ? clients : 'http');
}

/** A member of the cluster uses TLS among the members, or is to; or only certificates guard the snapshot of a restore. */
export function needsCertificates(world: World): boolean {
  const op = world.record?.doc.op;
  if (op && 'args' in op && op.args.sourceToken === '') return true;
  const cluster = current(world);
  const voters = cluster ? votersOf(cluster) : [];
  return world.record?.doc.transport?.peers === 'https' || voters.some((m) => speaks(world, m) === 'https');
}

/** No pod may be made: the template and the spec differ, or pods would lack the certificates that they need. */
export const hasWrongTemplate = (world: World): boolean => {
  const { sts, spec } = world;
  const isTls = spec?.tls !== undefined;
  return (sts?.tls === true) !== isTls || (!isTls && needsCertificates(world));
};

const speaks = (world: World, member: EtcdMember): Scheme | undefined => {
  const pod = podOf(world, member);
  return pod && speaksOf(pod).peers;
};

export function checkPeerUrls(
  world: World,
  memberId: string,
  peerUrls: readonly string[],
  young: boolean,
): string | undefined {
  const { doc } = world.record!;
  if (doc.op) return 'OneOperation: peer URLs change beside an op';
  const cluster = current(world);
  const member = cluster?.members.find(({ id }) => id === memberId);
  if (!cluster || !member || member.ordinal < 0) return 'the peer URLs of no member of ours change';
  if (member.learner) return 'the peer URLs of a learner change, which older etcds then list as a voter';
  const own = speaks(world, member);
  const schemes = schemesIn(peerUrls);
  if (own && !schemes.includes(own)) return 'QuorumKept: a member loses the peer URL at which it listens';
  const { peers, target } = doc.transport!;
  if (schemes.length === 1 && (schemes[0] !== peers || peers !== target))
    return 'QuorumKept: a member loses the peer URL of the scheme at which it starts next';
  const voters = votersOf(cluster);
  if (schemes.includes('https') && voters.some((m) => podOf(world, m)?.tls !== true))
    return 'a member gets a peer URL that others cannot call';
  const isOutOfReach = own !== undefined && !schemesOf(member).includes(own);
  return (allUp(world) && !young) || isOutOfReach ? undefined : 'peer URLs change while a voter is down';
}

export function checkTransport(world: World, before: RecordDoc, doc: RecordDoc, young: boolean): string | undefined {
  const [was, is] = [before.transport, doc.transport];
  if (!is) return 'the record forgets how members speak';
  if (!was) return checkFirst(world, before, is);
  if (JSON.stringify(was) === JSON.stringify(is)) return undefined;
  // A new epoch has no members yet.
  if (!before.seeded) return is.peers === is.target ? undefined : 'a seed begins half-way';
  if (before.op) return 'OneOperation: the schemes change beside an op';
  const opens = was.since !== is.since && is.since !== undefined;
  if (opens) return was.since === undefined ? checkOpen(world, is) : 'the time for clients begins anew';
  if (is.target !== askedScheme(world)) return 'a scheme is the target that nobody asks for';
  if (was.peers !== is.peers && is.target !== is.peers) return 'members are to use a scheme that nobody asks for';
  const { sts, spec } = world;
  if (spec?.tls && !sts?.tls) return 'the schemes change before the template has the certificates';
  if (!spec?.tls && sts?.tls) return 'the schemes change before the template has lost the certificates';
  if (!spec?.tls && needsCertificates(world)) return 'the certificates are given up while members need them';
  const isGivenUp = was.peers === 'https' && is.target === 'http';
  if (isGivenUp && world.users) return 'TLS is given up while there are users';
  return (
    checkCalm(world, was, is, young) ?? (was.peers === is.peers ? checkClients(world, was, is) : checkPeers(world, is))
  );
}

/** Checks what is noted of the members of an older release. */
function checkFirst(world: World, { seeded }: RecordDoc, { peers }: Transport): string | undefined {
  const { members } = current(world) ?? { members: [] };
  const isTrue = !seeded || members.every((m) => schemesOf(m).includes(peers));
  return isTrue ? undefined : 'the record says of members what was not seen';
}

/** docs/clusters/tls.md: only a switch that is taken back goes on while a member does not serve. */
function checkCalm(world: World, was: Transport, is: Transport, young: boolean): string | undefined {
  if (world.sts?.image) return 'the schemes change on an image of another version';
  const isStep = was.peers !== is.peers || was.target !== is.target;
  const isCalm = allUp(world) && !young && world.record!.doc.versions.allowedMinors.length === 1;
  if (!isStep || isCalm) return undefined;
  const { members } = current(world)!;
  const hasBegun = was.clients === 'both' || members.some((m) => schemesOf(m).length === 2);
  const isTakenBack = was.peers === is.peers ? hasBegun : is.peers === 'http' && isHalfRolled(world);
  return isTakenBack ? undefined : 'a switch begins or goes on while a member is down, or between two versions';
}

const isHalfRolled = (world: World): boolean =>
  votersOf(current(world)!).some((m) => {
    const pod = podOf(world, m);
    return pod !== undefined && speaksOtherwise(world, pod);
  });

function checkPeers(world: World, { peers, clients }: Transport): string | undefined {
  const cluster = current(world)!;
  if (!cluster.members.every((m) => schemesOf(m).length === 2)) return 'members change the scheme without both URLs';
  if (peers === 'http') return clients === 'both' ? undefined : 'clients lose https with the members';
  if (world.spec?.acceptPlaintext) return 'clients lose http before their time is over';
  return allAccept(world) ? undefined : 'clients lose http before every member accepts https';
}

const allAccept = (world: World): boolean =>
  votersOf(current(world)!).every((m) => podOf(world, m)?.speaks?.clients === 'both');

function checkOpen(world: World, { peers, clients, target }: Transport): string | undefined {
  if (peers !== 'http' || clients !== 'both' || target !== 'https')
    return 'the time for clients begins without a switch';
  const isReady = allAccept(world) && current(world)!.members.every((m) => schemesOf(m).length === 2);
  return isReady ? undefined : 'the time for clients begins before they can use https everywhere';
}

function checkClients({ spec, users }: World, was: Transport, is: Transport): string | undefined {
  if (is.clients === 'http' && was.clients !== 'http' && users) return 'TLS is given up while there are users';
  if (is.clients === was.clients || is.clients === 'both') return undefined;
  return is.clients === 'http' && !spec?.tls ? undefined : 'clients lose a scheme without a change of the members';
}
