import type { Membership } from '../port.ts';
import type { ClusterContext } from './cluster-context.ts';

/** Membership whose changes are told as Events. */
export class ReportedMembership implements Membership {
  readonly #etcd: Membership;
  readonly #context: Pick<ClusterContext, 'tell'>;

  constructor(etcd: Membership, context: Pick<ClusterContext, 'tell'>) {
    this.#etcd = etcd;
    this.#context = context;
  }

  members(): ReturnType<Membership['members']> {
    return this.#etcd.members();
  }

  async addLearner(peerUrl: string): Promise<void> {
    await this.#etcd.addLearner(peerUrl);
    this.#context.tell('Normal', 'LearnerAdded', `added ${new URL(peerUrl).hostname.split('.')[0]} as a learner`);
  }

  async remove(memberId: string): Promise<void> {
    await this.#etcd.remove(memberId);
    this.#context.tell('Normal', 'MemberRemoved', `removed member ${memberId}`);
  }

  async promote(memberId: string): Promise<void> {
    await this.#etcd.promote(memberId);
    this.#context.tell('Normal', 'MemberPromoted', `member ${memberId} votes from now on`);
  }

  async moveLeader(leader: string, to: string): Promise<void> {
    await this.#etcd.moveLeader(leader, to);
    this.#context.tell('Normal', 'LeaderMoved', `member ${to} leads instead of ${leader}`);
  }
}
