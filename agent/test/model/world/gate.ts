import type { Permit, RecordDoc, RecordedMember, Schemes } from '../../../src/protocol/record.ts';
import { fresh, minorOf, violated, withPod, withVolume } from './change.ts';
import { type Cluster, type EtcdMember, INDEX_UNIT, raftIndex, schemesOf } from './etcd.ts';
import { calls, clusterById, isUp, plaintext, settled, startEtcd, withCluster } from './processes.ts';
import type { Identity, Pod, Volume, World } from './world.ts';

/** The gate: what the init container of a pod decides, and the start of etcd after it. */

/** One pass of the gate. `api`: it can read the record. Returns the same world if nothing changes. */
export function look(world: World, i: number, api: boolean): World {
  const pod = world.pods[i];
  const volume = world.volumes[i];
  if (!pod || !volume || pod.cut || pod.state === 'run' || pod.state === 'stopped') return world;
  if (pod.state === 'down') return api ? joinAgain(world, i, pod, volume) : world;
  const doc = api ? world.record?.doc : undefined;
  return volume.wal ? withWal(world, i, pod, volume, doc) : withoutWal(world, i, pod, volume, doc);
}

function withWal(world: World, i: number, pod: Pod, volume: Volume, doc: RecordDoc | undefined): World {
  const { identity } = volume;
  if (!identity) return refuse(world, i, pod, 'ForeignData');
  if (doc && doc.clusterUid !== identity.clusterUid) return refuse(world, i, pod, 'ForeignData');
  if (identity.epoch < pod.minEpoch || (doc && isStale(doc, identity))) return quarantine(world, i, doc);
  const salvage = doc && permitFor(doc, i, volume);
  if (salvage?.mode === 'salvage') return refuse(world, i, pod, 'Salvage');
  if (doc && isSetBack(world, volume, doc.members[i])) return refuse(world, i, pod, 'VolumeSetBack');
  // The sidecar has noted the cluster version. An etcd below it would exit with "invalid downgrade".
  if (minorOf(pod.version) < clusterById(world, volume.wal!.cluster)!.minor)
    return refuse(world, i, pod, 'VersionRefused');
  const refusal = versionRefusal(pod, identity, volume, doc);
  if (refusal) return refuse(world, i, pod, refusal);
  const speaks = speaksNext(pod, volume, doc);
  if (!speaks) return refuse(world, i, pod, 'ConfigRefused');
  const told = { ...volume, transport: stored(doc?.transport ?? volume.transport) };
  const next = withVolume(world, i, { ...told, identity: { ...identity, version: pod.version } });
  return startEtcd(withPod(next, i, { ...pod, speaks: stored(speaks) }), i);
}

/** How etcd is started; undefined: it is to use TLS, for which the pod lacks certificates. */
function speaksNext({ tls }: Pod, { transport }: Volume, doc: RecordDoc | undefined): Schemes | undefined {
  const { peers, clients } = doc?.transport ?? transport ?? plaintext;
  if (tls) return { peers, clients };
  return peers === 'https' ? undefined : plaintext;
}

/** Plain http is the default, so that a world without TLS does not mention it. */
const stored = ({ peers, clients }: Schemes = plaintext): Schemes | undefined =>
  clients === 'http' ? undefined : { peers, clients };

function isSetBack(world: World, { wal, identity }: Volume, member: RecordedMember | undefined): boolean {
  const isOf = member?.memberId === wal!.member && member.epoch === identity!.epoch;
  const { index = 0 } = (isOf && member.reached) || {};
  return raftIndex(clusterById(world, wal!.cluster)!, wal!.at) < index;
}

function isStale(doc: RecordDoc, identity: Identity): boolean {
  return identity.epoch < doc.epoch || doc.tombstones.some((t) => t.memberId === identity.memberId);
}

/** Quarantines the data and gives the volume a new volumeId. */
function quarantine(world: World, i: number, doc: RecordDoc | undefined): World {
  const [next, volumeId] = fresh(world, 'n');
  const emptied = withVolume(next, i, { volumeId });
  return withoutWal(emptied, i, emptied.pods[i]!, { volumeId }, doc);
}

function withoutWal(world: World, i: number, pod: Pod, volume: Volume, doc: RecordDoc | undefined): World {
  // An identity without its WAL: the data directory was emptied, so this counts as another volume.
  if (!volume.volumeId || volume.identity) {
    const [next, volumeId] = fresh(world, 'n');
    return withPod(withVolume(next, i, { volumeId }), i, { ...pod, state: 'wait', reason: undefined });
  }
  const permit = doc && permitFor(doc, i, volume);
  if (permit && !doc.versions.allowedMinors.includes(shortMinor(pod.version)))
    return refuse(world, i, pod, 'VersionRefused');
  if (permit && permit.epoch >= pod.minEpoch) {
    const joined = use(world, i, pod, volume, doc, permit);
    if (joined) return joined;
  }
  return pod.state === 'wait' ? world : withPod(world, i, { ...pod, state: 'wait', reason: undefined });
}

const shortMinor = (version: string): string => version.split('.').slice(0, 2).join('.');

function permitFor(doc: RecordDoc, i: number, volume: Volume): Permit | undefined {
  const permit = doc.permits[i];
  return permit && permit.ordinal === i && permit.volumeId === volume.volumeId && permit.epoch === doc.epoch
    ? permit
    : undefined;
}

function use(world: World, i: number, pod: Pod, volume: Volume, doc: RecordDoc, permit: Permit): World | undefined {
  if (permit.mode === 'new') return begin(world, i, volume, doc, permit, 1);
  if (permit.mode === 'existing') return join(world, i, pod, volume, doc, permit);
  if (permit.mode === 'restore') {
    const job = world.jobs.find((j) => j.kind === 'restore' && j.serving && j.uid === permit.restore?.source.url);
    const isOpen = permit.restore!.source.token === '' && !pod.tls && speaksNext(pod, volume, doc) !== undefined;
    const next = isOpen ? violated(world, 'a snapshot has neither a token nor certificates to guard it') : world;
    return job && begin(next, i, volume, doc, permit, 1 + job.snapshot!.writes);
  }
  return undefined;
}

/** Begins a cluster. Its ids depend only on URL and token. */
function begin(world: World, i: number, volume: Volume, doc: RecordDoc, permit: Permit, log: number): World {
  const speaks = speaksNext(world.pods[i]!, volume, doc);
  if (!speaks) return refuse(world, i, world.pods[i]!, 'ConfigRefused');
  const isHttps = permit.initialCluster.includes('=https:');
  const id = `c${permit.token.slice(1)}`;
  const member = `s${permit.token.slice(1)}`;
  const pod = world.pods[i]!;
  const minor = minorOf(pod.version);
  let next = world;
  if (clusterById(world, id))
    next = violated(next, 'FreshTokenPerEpoch: a token is used twice: same ids over different data');
  if (isHttps !== (speaks.peers === 'https')) next = violated(next, 'a seed has the peer URL of another scheme');
  if (i !== 0) next = violated(next, 'OneSeedPerEpoch: another ordinal than 0 is the seed');
  const epoch = `${doc.clusterUid} ${permit.epoch}`;
  if (world.truth.began.includes(epoch)) next = violated(next, 'OneSeedPerEpoch: two clusters begin in one epoch');
  const cluster: Cluster = {
    id,
    epoch: permit.epoch,
    members: [{ id: member, ordinal: i, learner: false, started: true, ...(isHttps && { urls: 'https' as const }) }],
    log,
    minor,
    index: 100,
    lastV2: minor <= 5 ? 100 : 0,
  };
  const began = [...next.truth.began, epoch];
  const restoreId = permit.restore?.id;
  const restored = restoreId === undefined ? next.truth.restored : [...new Set([...next.truth.restored, restoreId])];
  next = { ...next, clusters: [...next.clusters, cluster], truth: { ...next.truth, began, restored } };
  return started(next, i, volume, doc, permit, id, member, log);
}

function join(world: World, i: number, pod: Pod, volume: Volume, doc: RecordDoc, permit: Permit): World | undefined {
  const cluster = clusterById(world, doc.clusterId);
  const speaks = speaksNext(pod, volume, doc);
  if (!speaks) return refuse(world, i, pod, 'ConfigRefused');
  const peer = cluster?.members.some((m) => m.ordinal !== i && isCalled(world, pod, m));
  if (!cluster || !peer) return undefined;
  const self = cluster.members.find((m) => m.ordinal === i);
  const named = [...permit.initialCluster.matchAll(/-(\d+)=(https?):/g)].map((m) => `${m[1]} ${m[2]}`);
  const listed = cluster.members.flatMap((m) => schemesOf(m).map((scheme) => `${m.ordinal} ${scheme}`));
  const exact = named.toSorted().join() === listed.toSorted().join();
  if (!self || !exact) {
    const reason = `initial-cluster ${named.toSorted().join()}`;
    return pod.state === 'down' && pod.reason === reason
      ? undefined
      : withPod(world, i, { ...pod, state: 'down', reason, speaks: stored(speaks) });
  }
  const next = self.started ? violated(world, 'OneVolumePerMember: a member id starts on a second volume') : world;
  return started(next, i, volume, doc, permit, cluster.id, self.id, 0);
}

/** etcd could not join, so the agent applies the present permit. */
function joinAgain(world: World, i: number, pod: Pod, volume: Volume): World {
  const doc = world.record?.doc;
  if (volume.wal || !doc) return world;
  const permit = permitFor(doc, i, volume);
  return permit?.mode === 'existing' ? (join(world, i, pod, volume, doc, permit) ?? world) : world;
}

/** The member runs, and this pod can call it. */
const isCalled = ({ pods, volumes }: World, from: Pod, member: EtcdMember): boolean =>
  volumes.some((v, i) => v?.wal?.member === member.id && isUp(pods[i]) && calls(from, pods[i], member));

function started(
  world: World,
  i: number,
  volume: Volume,
  doc: RecordDoc,
  permit: Permit,
  clusterId: string,
  memberId: string,
  at: number,
): World {
  const pod = world.pods[i]!;
  const identity: Identity = {
    clusterUid: doc.clusterUid,
    epoch: permit.epoch,
    volumeId: permit.volumeId,
    permitId: permit.id,
    token: permit.token,
    mode: permit.mode === 'salvage' ? 'existing' : permit.mode,
    memberId,
    clusterId,
    restoreId: permit.restore?.id,
    version: pod.version,
  };
  const cluster = clusterById(world, clusterId)!;
  const snapIndex = permit.mode === 'restore' ? cluster.index : snapshotSent(world, cluster);
  const wal = { cluster: clusterId, member: memberId, at, snapIndex };
  const told = { ...volume, identity, wal, transport: stored(doc.transport) };
  const next = withVolume(withCluster(world, cluster), i, told);
  return settled(startEtcd(withPod(next, i, { ...pod, speaks: stored(speaksNext(pod, volume, doc)) }), i));
}

/** A leader that no longer has the old log sends its snapshot. */
function snapshotSent(world: World, { leader }: Cluster): number {
  return world.volumes.find((v) => leader !== undefined && v?.wal?.member === leader)?.wal?.snapIndex ?? 0;
}

/** The version rule of a gate whose volume has data. */
function versionRefusal(pod: Pod, identity: Identity, volume: Volume, doc: RecordDoc | undefined): string | undefined {
  const [from, to] = [minorOf(identity.version), minorOf(pod.version)];
  if (from === to) return undefined;
  if (!doc?.versions.allowedMinors.includes(shortMinor(pod.version)) || Math.abs(to - from) !== 1)
    return 'VersionRefused';
  const final = doc.versions.finalizedIndex;
  if (to >= 7 && to > from && (final === undefined || (final > 0 && INDEX_UNIT * volume.wal!.snapIndex <= final)))
    return 'NeedsSnapshot';
  return undefined;
}

function refuse(world: World, i: number, pod: Pod, reason: string): World {
  return pod.state === 'refused' && pod.reason === reason
    ? world
    : withPod(world, i, { ...pod, state: 'refused', reason });
}
