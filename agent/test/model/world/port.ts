import type { Effect } from '../../../src/controllers/port/effect.ts';
import type { Port } from '../../../src/controllers/port/port.ts';
import type { Known } from '../../../src/protocol/known.ts';
import { apply, askedCluster } from './apply.ts';
import { peerAddress, see } from './see.ts';
import type { World } from './world.ts';

/** The reconciler's port on an abstract world in memory. Every effect replaces `world`. */
export class MemoryPort implements Port {
  world: World;

  constructor(world: World) {
    this.world = world;
  }

  readonly records: Port['records'] = {
    read: async () => this.#known(see(this.world).record),
    write: (doc, basedOn) => this.#apply({ kind: 'WriteRecord', doc, basedOn }),
    remove: (basedOn) => this.#apply({ kind: 'DeleteRecord', basedOn }),
  };

  readonly clusters: Port['clusters'] = {
    cluster: async () => this.#known(see(this.world).cluster),
    restores: async () => this.#known(see(this.world).restores),
    setFinalizer: (basedOn) => this.#apply({ kind: 'SetFinalizer', basedOn }),
    releaseFinalizer: (basedOn) => this.#apply({ kind: 'ReleaseFinalizer', basedOn }),
    reportStatus: async () => {},
    reportRestore: (report) => this.#apply({ kind: 'ReportRestore', ...report, phase: report.phase as 'Failed' }),
  };

  readonly workload: Port['workload'] = {
    statefulSet: async () => this.#known(see(this.world).statefulSet),
    pods: async () => this.#known(see(this.world).pods),
    claims: async () => this.#known(see(this.world).claims),
    agent: async ({ ordinal }) => this.#known(see(this.world).agents[ordinal]!),
    scale: (replicas, basedOn) => this.#apply({ kind: 'ScaleTo', replicas, basedOn }),
    annotateEpoch: (epoch, basedOn) => this.#apply({ kind: 'AnnotateEpoch', epoch, basedOn }),
    annotateRoots: (roots, basedOn) => this.#apply({ kind: 'AnnotateRoots', roots, basedOn }),
    annotateClaim: (claim) => this.#apply({ kind: 'AnnotateClaim', ...claim }),
    deletePod: (ordinal, uid) => this.#apply({ kind: 'DeletePod', ordinal, uid }),
    evictPod: (ordinal, uid) => this.#apply({ kind: 'DeletePod', ordinal, uid, evict: true }),
    deleteClaim: (claim) => this.#apply({ kind: 'DeleteClaim', ...claim }),
  };

  readonly jobs: Port['jobs'] = {
    jobs: async () => this.#known(see(this.world).jobs),
    create: (job) => this.#apply({ kind: 'CreateJob', job }),
    remove: (job, uid) => this.#apply({ kind: 'DeleteJob', job, uid }),
  };

  readonly membership: Port['membership'] = {
    members: async () => {
      const members = this.#known(see(this.world).members);
      return { clusterId: askedCluster(this.world)!.id, members };
    },
    addLearner: (peerUrls) => {
      const ordinal = this.world.pods.findIndex((_, i) => peerUrls[0]?.endsWith(`//${peerAddress(i)}`));
      return this.#apply({ kind: 'MemberAdd', ordinal, peerUrls });
    },
    updatePeerUrls: (memberId, peerUrls) => this.#apply({ kind: 'MemberUpdate', memberId, peerUrls }),
    remove: (memberId) => this.#apply({ kind: 'MemberRemove', memberId }),
    promote: (memberId) => this.#apply({ kind: 'MemberPromote', memberId }),
    moveLeader: (leader, to) => this.#apply({ kind: 'MoveLeader', leader, to }),
  };

  readonly maintenance: Port['maintenance'] = {
    status: async (memberId) => {
      const { status } = see(this.world);
      return this.#known(status[memberId]!);
    },
    alarms: async () => this.#known(see(this.world).alarms),
    compact: (revision) => this.#apply({ kind: 'Compact', revision, done: '' }),
    defrag: (memberId) => this.#apply({ kind: 'Defrag', memberId, done: '' }),
    disarm: (memberId, alarm) => this.#apply({ kind: 'Disarm', memberId, alarm }),
    hashKV: async () => ({ equal: true, minority: [] }),
    leaseChurn: (pairs) => this.#apply({ kind: 'LeaseChurn', pairs }),
  };

  async #apply(effect: Effect): Promise<void> {
    const { world, error } = apply({ ...this.world, seq: this.world.seq + 1 }, effect);
    this.world = world;
    if (error) throw new Error(error);
  }

  #known<T>(known: Known<T>): T {
    if (!known.known) throw new Error(known.why);
    return known.v;
  }
}
