import type { AgentStatus } from '../../protocol/agent-status.ts';
import { known, unknown } from '../../protocol/known.ts';
import type { Op, RecordDoc, RecordedMember, Transport } from '../../protocol/record.ts';
import { parseRecord } from '../../protocol/record-schema.ts';
import { rules, rulesWithoutRecord } from '../cluster/operations/rules.ts';
import { type Plan, plan } from '../cluster/plan.ts';
import type { Effect } from './effect.ts';
import { peerUrl } from './names.ts';
import type { Claim, Cluster, ClusterSpec, Member, MemberStatus, Observed, Pod } from './observed.ts';
import { defaultSettings } from './settings.ts';

// Observations for tests: a cluster that is just as asked for, to be changed in one place.

export const now = Date.parse('2026-01-01T00:00:00Z');
/** Long enough for every setting. */
export const longAgo = 0;

const range = (size: number): number[] => [...Array(size).keys()];
const gibibyte = 2 ** 30;

export const idOf = (ordinal: number): string => `id-${ordinal}`;
export const volumeIdOf = (ordinal: number): string => `volumeId-${ordinal}`;

export const spec = (change: Partial<ClusterSpec> = {}): ClusterSpec => ({
  size: 3,
  allowEvenSize: false,
  version: '3.6.16',
  paused: false,
  tls: false,
  ephemeral: false,
  replace: { policy: 'OnVolumeLoss', force: [] },
  onShrink: 'Retain',
  onDelete: 'Retain',
  schedule: 'nightly',
  requiredForUpgrade: false,
  finalBackupRequired: false,
  onNoSpace: 'CompactDefragDisarm',
  ...change,
});

export const cluster = (change: Partial<ClusterSpec> = {}): Cluster => ({
  name: 'c',
  namespace: 'n',
  uid: 'cr-1',
  rv: 'cr-rv',
  domain: 'cluster.local',
  deleting: false,
  finalizer: false,
  skipFinalBackup: false,
  reconcilerGoing: false,
  spec: spec(change),
  status: { epoch: 1, clusterUid: 'uid-1' },
});

const member = (ordinal: number, change: Partial<Member> = {}): Member => ({
  id: idOf(ordinal),
  name: `c-${ordinal}`,
  peerUrls: [peerUrl(cluster(), ordinal, 'http')],
  isLearner: false,
  ...change,
});

export const recordedMember = (ordinal: number): RecordedMember => ({
  memberId: idOf(ordinal),
  volumeId: volumeIdOf(ordinal),
  epoch: 1,
  everVoter: true,
});

export const plaintext: Transport = { peers: 'http', clients: 'http', target: 'http' };
export const encrypted: Transport = { ...plaintext, peers: 'https', clients: 'https', target: 'https' };

export const record = (size = 3, change: Partial<RecordDoc> = {}): RecordDoc => ({
  v: 1,
  rev: 10,
  clusterUid: 'uid-1',
  epoch: 1,
  minEpoch: 0,
  token: 'token-1',
  phase: 'Running',
  seeded: true,
  clusterId: 'cluster-1',
  permits: {},
  members: Object.fromEntries(range(size).map((i) => [i, recordedMember(i)])),
  tombstones: [],
  versions: { current: '3.6', allowedMinors: ['3.6'], bornOn: '3.6.16', finalizedIndex: 0 },
  restores: [],
  transport: plaintext,
  ...change,
});

export const status = (change: Partial<MemberStatus> = {}): MemberStatus => ({
  clusterId: 'cluster-1',
  version: '3.6.16',
  leader: idOf(0),
  raftTerm: 2,
  raftIndex: 1000,
  appliedIndex: 1000,
  revision: 5000,
  dbSize: gibibyte / 4,
  dbInUse: gibibyte / 8,
  clusterVersion: '3.6.0',
  ...change,
});

export const pod = (ordinal: number, change: Partial<Pod> = {}): Pod => ({
  ordinal,
  uid: `pod-${ordinal}`,
  revision: 'r1',
  running: true,
  began: true,
  ready: true,
  deleting: false,
  resolves: known(true),
  ...change,
});

const claimOf = (ordinal: number): Claim => ({
  ordinal,
  uid: `claim-${ordinal}`,
  rv: `claim-rv-${ordinal}`,
  deleting: false,
  clusterUid: 'uid-1',
  epoch: 1,
});

const volume = { walPresent: true, freeBytes: 6 * gibibyte, totalBytes: 8 * gibibyte, quarantineCount: 0 };

/** Of a member that runs. */
export const agent = (ordinal: number, change: Partial<AgentStatus> = {}): AgentStatus => ({
  v: 1,
  pod: `c-${ordinal}`,
  podUid: `pod-${ordinal}`,
  ordinal,
  agentVersion: '0.1.0',
  etcdBinary: '3.6.16',
  state: 'Running',
  volume: {
    ...volume,
    volumeId: volumeIdOf(ordinal),
    identity: {
      v: 1,
      clusterUid: 'uid-1',
      epoch: 1,
      token: 'token-1',
      ordinal,
      volumeId: volumeIdOf(ordinal),
      permitId: `permit-${ordinal}`,
      mode: 'existing',
      memberId: idOf(ordinal),
      clusterId: 'cluster-1',
      state: 'sealed',
      lastVersion: '3.6.16',
      runs: 1,
    },
  },
  recordRev: 10,
  minEpoch: 0,
  etcd: {
    up: true,
    memberId: idOf(ordinal),
    clusterId: 'cluster-1',
    hasLeader: true,
    isLeader: ordinal === 0,
    isLearner: false,
    term: 2,
    committedIndex: 1000,
    appliedIndex: 1000,
    version: '3.6.16',
    clusterVersion: '3.6.0',
    dbSize: gibibyte / 4,
    dbInUse: gibibyte / 8,
    upSince: '2025-12-31T00:00:00Z',
  },
  ...change,
});

/** Of an empty volume that asks for a permit. */
export const asking = (
  ordinal: number,
  volumeId = `new-${ordinal}`,
  change: Partial<AgentStatus> = {},
): AgentStatus => {
  const { etcd: _, recordRev: __, ...waiting } = agent(ordinal);
  return {
    ...waiting,
    state: 'WaitPermit',
    volume: { ...volume, walPresent: false, volumeId },
    request: { volumeId },
    ...change,
  };
};

/** Of a gate that found its volume behind its mark. */
export const setBackAgent = (ordinal: number, change: Partial<AgentStatus> = {}): AgentStatus => {
  const { etcd: _, ...waiting } = agent(ordinal);
  return { ...waiting, gate: true, state: 'Refused', reason: 'VolumeSetBack', ...change };
};

/** A cluster of this size that serves, and needs nothing. */
export class World {
  cluster: Cluster;
  record: RecordDoc;
  o: Observed;

  constructor(size = 3, change: Partial<ClusterSpec> = {}) {
    this.cluster = cluster({ size, ...change });
    this.record = record(size, { transport: change.tls ? encrypted : plaintext });
    const all = range(size);
    const ids = all.map(idOf);
    this.o = {
      cluster: known(this.cluster),
      record: known({ doc: this.record, rv: 'rv-10' }),
      statefulSet: known({
        replicas: size,
        rv: 'sts-rv',
        updateRevision: 'r1',
        observed: true,
        minEpoch: 0,
        version: '3.6.16',
      }),
      pods: known(all.map((i) => pod(i))),
      claims: known(all.map(claimOf)),
      agents: Object.fromEntries(all.map((i) => [i, known(agent(i))])),
      members: known(
        all.map((i) => member(i, { peerUrls: [peerUrl(this.cluster, i, change.tls ? 'https' : 'http')] })),
      ),
      status: Object.fromEntries(ids.map((id) => [id, known(status())])),
      alarms: known([]),
      jobs: known([]),
      restores: known([]),
      since: {
        healthy: Object.fromEntries(ids.map((id) => [id, longAgo])),
        down: {},
        evidence: {},
        inSync: {},
        jobFailed: {},
        holder: longAgo,
      },
      done: [],
      failed: {},
      self: 'process-1',
      failures: 0,
      holder: 'reconciler-1',
      fresh: { id: 'fresh-id', clusterUid: 'fresh-uid', token: 'fresh-token', secret: 'fresh-secret' },
    };
    this.compared();
  }

  /** HashKV of the members as they are was equal. */
  compared(equal = true): this {
    this.o.hash = { of: '', at: now, equal, minority: [] };
    const { effect } = this.plan();
    if (effect?.kind === 'HashKV') this.o.hash.of = effect.of;
    return this;
  }

  plan(): Plan {
    const planned = plan(this.o, now, defaultSettings);
    const does = [...rules, ...rulesWithoutRecord].find(({ name }) => name === planned.rule)?.does;
    if (planned.effect?.kind !== does) throw new Error(`${planned.rule} says ${does}, does ${planned.effect?.kind}`);
    return planned;
  }

  get effect(): Effect | undefined {
    return this.plan().effect;
  }

  /** Name of the rule that decides. */
  get rule(): string | undefined {
    return this.plan().rule;
  }

  /** The record that is written, if that is what happens. */
  get written(): RecordDoc | undefined {
    const { effect } = this.plan();
    if (effect?.kind !== 'WriteRecord') return undefined;
    const answer = parseRecord(JSON.stringify(effect.doc));
    if (answer.kind === 'refused') throw new Error(answer.reason);
    return effect.doc;
  }

  reason(type: string): string | undefined {
    return this.plan().conditions.find((condition) => condition.type === type)?.reason;
  }

  message(type: string): string | undefined {
    return this.plan().conditions.find((condition) => condition.type === type)?.message;
  }

  spec(change: Partial<ClusterSpec>): this {
    this.cluster.spec = { ...this.cluster.spec, ...change };
    return this;
  }

  resource(change: Partial<Cluster>): this {
    return this.set({ cluster: known({ ...this.cluster, ...change }) });
  }

  set(change: Partial<Observed>): this {
    this.o = { ...this.o, ...change };
    return this;
  }

  doc(change: Partial<RecordDoc>): this {
    this.record = { ...this.record, ...change };
    this.o.record = known({ doc: this.record, rv: 'rv-10' });
    return this;
  }

  op(op: Op | undefined): this {
    return this.doc({ op });
  }

  /** The record that was written becomes the record. */
  commit(): this {
    const doc = this.written;
    if (!doc) throw new Error(`no record is written: ${this.plan().why}`);
    this.record = doc;
    this.o.record = known({ doc, rv: `rv-${doc.rev}` });
    return this;
  }

  agent(ordinal: number, status: AgentStatus | undefined): this {
    this.o.agents[ordinal] = status ? known(status) : unknown('no answer');
    return this;
  }

  pods(change: (pods: Pod[]) => Pod[]): this {
    this.o.pods = known(change(this.o.pods.known ? this.o.pods.v : []));
    return this;
  }

  pod(ordinal: number, change: Partial<Pod>): this {
    return this.pods((pods) => pods.map((one) => (one.ordinal === ordinal ? { ...one, ...change } : one)));
  }

  claim(ordinal: number, change: Partial<Claim>): this {
    const { claims } = this.o;
    const found = claims.known ? claims.v : [];
    return this.set({ claims: known(found.map((one) => (one.ordinal === ordinal ? { ...one, ...change } : one))) });
  }

  sts(change: object): this {
    const { statefulSet } = this.o;
    if (statefulSet.known && statefulSet.v) this.o.statefulSet = known({ ...statefulSet.v, ...change });
    return this;
  }

  /** Its volume is empty, and it was seen for long enough. */
  volumeLost(ordinal: number): this {
    this.agent(ordinal, asking(ordinal));
    this.down(ordinal);
    this.o.since.evidence[ordinal] = longAgo;
    return this;
  }

  /** etcd does not answer. */
  down(ordinal: number): this {
    this.o.status[idOf(ordinal)] = unknown('no answer');
    delete this.o.since.healthy[idOf(ordinal)];
    return this;
  }

  /** No pod is ready without one. */
  noQuorum(): this {
    this.o.since.quorumLost = longAgo;
    this.pods((pods) => pods.map((pod) => ({ ...pod, ready: false })));
    for (const [ordinal, status] of Object.entries(this.o.agents)) {
      if (!status.known || !status.v.etcd) continue;
      this.o.agents[Number(ordinal)] = known({ ...status.v, etcd: { ...status.v.etcd, hasLeader: false } });
    }
    return this.set({ members: unknown('no leader'), alarms: unknown('no leader') });
  }

  members(change: (members: Member[]) => Member[]): this {
    this.o.members = known(change(this.o.members.known ? this.o.members.v : []));
    return this;
  }

  /** The member list and its pod without this one. */
  removed(ordinal: number): this {
    return this.members((members) => members.filter(({ id }) => id !== idOf(ordinal)));
  }

  learner(ordinal: number, change: Partial<Member> = {}): this {
    return this.members((members) => [...members, member(ordinal, { isLearner: true, name: '', ...change })]);
  }

  /** A pod that asks with an empty volume, at an ordinal that has no member. */
  joiner(ordinal: number): this {
    this.pods((pods) => [...pods.filter((one) => one.ordinal !== ordinal), pod(ordinal, { ready: false })]);
    return this.agent(ordinal, asking(ordinal));
  }
}

/** Never seeded: no member is known, no etcd answers. */
export function unborn(): World {
  const world = new World(3).doc({ epoch: 0, seeded: false, phase: 'Seeding', clusterId: undefined, members: {} });
  for (const i of [0, 1, 2]) world.joiner(i);
  world.o.since.healthy = {};
  return world.set({ members: unknown('no endpoint answers'), alarms: unknown('no endpoint answers'), status: {} });
}

/** The seed serves; the others have still to join. */
export function seeded(): World {
  const world = new World(3).doc({ phase: 'Seeding' }).removed(1).removed(2);
  return world
    .doc({ members: { 0: world.record.members[0]! } })
    .joiner(1)
    .joiner(2);
}
