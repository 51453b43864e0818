import type { RecordDoc } from '../../protocol/record.ts';
import { parseRecord } from '../../protocol/record-schema.ts';
import type { Effect } from '../port/effect.ts';
import type { HashResult } from '../port/observed.ts';
import type { Port } from '../port/port.ts';

/** Carries out one effect and decides nothing. The result of a HashKV goes into the memory of observe(). */
export async function act(effect: Effect, port: Port): Promise<Omit<HashResult, 'at'> | undefined> {
  const { records, clusters, workload, jobs, membership, maintenance } = port;
  switch (effect.kind) {
    case 'WriteRecord':
      readable(effect.doc);
      return nothing(records.write(effect.doc, effect.basedOn));
    case 'DeleteRecord':
      return nothing(records.remove(effect.basedOn));
    case 'ScaleTo':
      return nothing(workload.scale(effect.replicas, effect.basedOn, effect.setBackFrom));
    case 'AnnotateEpoch':
      return nothing(workload.annotateEpoch(effect.epoch, effect.basedOn));
    case 'AnnotateRoots':
      return nothing(workload.annotateRoots(effect.roots, effect.basedOn));
    case 'AnnotateClaim':
      return nothing(workload.annotateClaim(effect));
    case 'DeletePod':
      return nothing(
        effect.evict ? workload.evictPod(effect.ordinal, effect.uid) : workload.deletePod(effect.ordinal, effect.uid),
      );
    case 'DeleteClaim':
      return nothing(workload.deleteClaim(effect));
    case 'MemberAdd':
      return nothing(membership.addLearner(effect.peerUrls));
    case 'MemberUpdate':
      return nothing(membership.updatePeerUrls(effect.memberId, effect.peerUrls));
    case 'MemberRemove':
      return nothing(membership.remove(effect.memberId));
    case 'MemberPromote':
      return nothing(membership.promote(effect.memberId));
    case 'MoveLeader':
      return nothing(membership.moveLeader(effect.leader, effect.to));
    case 'CreateJob':
      return nothing(jobs.create(effect.job));
    case 'DeleteJob':
      return nothing(jobs.remove(effect.job, effect.uid));
    case 'Compact':
      return nothing(maintenance.compact(effect.revision));
    case 'Defrag':
      return nothing(maintenance.defrag(effect.memberId));
    case 'Disarm':
      return nothing(maintenance.disarm(effect.memberId, effect.alarm));
    case 'HashKV':
      return { ...(await maintenance.hashKV(effect.members)), of: effect.of };
    case 'LeaseChurn':
      return nothing(maintenance.leaseChurn(effect.pairs));
    case 'SetFinalizer':
      return nothing(clusters.setFinalizer(effect.basedOn));
    case 'ReleaseFinalizer':
      return nothing(clusters.releaseFinalizer(effect.basedOn));
    case 'ReportRestore':
      return nothing(clusters.reportRestore(effect));
  }
}

/** An invalid record would stop the reconciler and every agent until a person edits it. */
function readable(doc: RecordDoc): void {
  const answer = parseRecord(JSON.stringify(doc));
  if (answer.kind === 'refused') throw new Error(`this record is not written: ${answer.reason}`);
}

const nothing = (done: Promise<void>): Promise<undefined> => done.then(() => undefined);
